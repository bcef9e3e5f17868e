// The codes of all marks. Code that sets a mark, looks for one or treats one in a special way names it by these; what each
// means for figures is in the table of coordinator/analysis/marks/mark_table.h, what it says in docs/marks.md.
#ifndef COMMON_TEXT_MARK_CODES_H_
#define COMMON_TEXT_MARK_CODES_H_

#include <string_view>

namespace iobench::mark_code {

inline constexpr std::string_view kRefusedResult = "refused_result";
inline constexpr std::string_view kStartLate = "start_late";
inline constexpr std::string_view kBegunBefore = "begun_before";
inline constexpr std::string_view kSkewedStart = "skewed_start";
inline constexpr std::string_view kClockStep = "clock_step";
inline constexpr std::string_view kClockUncertain = "clock_uncertain";
inline constexpr std::string_view kTooShort = "too_short";
inline constexpr std::string_view kUnflushed = "unflushed";
inline constexpr std::string_view kCached = "cached";
inline constexpr std::string_view kMaybeCached = "maybe_cached";
inline constexpr std::string_view kServerCached = "server_cached";
inline constexpr std::string_view kHoles = "holes";
inline constexpr std::string_view kNotCold = "not_cold";
inline constexpr std::string_view kAbsorbed = "absorbed";
inline constexpr std::string_view kRepeatedData = "repeated_data";
inline constexpr std::string_view kNotShared = "not_shared";
inline constexpr std::string_view kMemoryFs = "memory_fs";
inline constexpr std::string_view kPartial = "partial";
inline constexpr std::string_view kFailedOps = "failed_ops";
inline constexpr std::string_view kResumed = "resumed";
inline constexpr std::string_view kReconnected = "reconnected";
inline constexpr std::string_view kCoordinatorStopped = "coordinator_stopped";
inline constexpr std::string_view kRetriedOps = "retried_ops";
inline constexpr std::string_view kStalled = "stalled";
inline constexpr std::string_view kRateChanged = "rate_changed";
inline constexpr std::string_view kCpuQuota = "cpu_quota";
inline constexpr std::string_view kIoLimited = "io_limited";
inline constexpr std::string_view kCpuBound = "cpu_bound";
inline constexpr std::string_view kNetworkBound = "network_bound";
inline constexpr std::string_view kRetransmits = "retransmits";
inline constexpr std::string_view kRetransmissions = "retransmissions";
inline constexpr std::string_view kNothingFound = "nothing_found";
inline constexpr std::string_view kNotOffloaded = "not_offloaded";
inline constexpr std::string_view kDataTime = "data_time";
inline constexpr std::string_view kPaceMissed = "pace_missed";
inline constexpr std::string_view kGeneratorBound = "generator_bound";
inline constexpr std::string_view kSharedTransport = "shared_transport";
inline constexpr std::string_view kOptionsDiffer = "options_differ";

}  // namespace iobench::mark_code

#endif  // COMMON_TEXT_MARK_CODES_H_
