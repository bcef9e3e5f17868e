#include "coordinator/conduct/result_check.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "common/histogram.h"
#include "common/latency_slices.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/analysis/phase/align.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 62;
constexpr int64_t kMaxNs = int64_t{1} << 61;  // so that no difference of two times overflows
// No processor moves more from memory for one thread. The null engine moves nothing, so it has no such limit.
constexpr uint64_t kMaxBytesPerSecond = 1024_GiB;
constexpr int64_t kSlackNs = 10'000'000;     // beside the clock's own error
constexpr int64_t kTickSlackNs = 1'000'000;  // between two times of one lane, which are converted separately
constexpr double kMaxSeconds = 1e9;
constexpr double kRounding = 1e-6;
constexpr int kMaxPoints = 100'000;
constexpr int kMaxSteps = 64;
constexpr int kMaxNics = 4096;
constexpr int kMaxMismatches = 10;
constexpr int kMaxErrorCounts = 64;
constexpr int kMaxGaps = 64;
constexpr int kMaxIoLimits = 1024;
constexpr uint64_t kMaxErrors = 1'000'000'000'000;  // no lane meets more in a day, and sums cannot wrap
constexpr size_t kMaxNameBytes = 256;
constexpr int kMaxConnections = 256;  // nconnect is at most 16; trunking adds addresses of the server
constexpr size_t kMaxPathBytes = 8192;
constexpr size_t kMaxTextBytes = 64 << 10;

absl::Status Impossible(const std::string& what) {
  return absl::DataLossError(what);
}

bool IsDuration(double seconds) {
  return seconds >= 0 && seconds <= kMaxSeconds;  // false for NaN
}

absl::Status CheckText(const std::string& what, const std::string& text, size_t most) {
  if (text.size() <= most) return absl::OkStatus();
  return Impossible(absl::StrCat(what, " has ", text.size(), " bytes"));
}

absl::Status CheckDurations(std::initializer_list<std::pair<const char*, double>> durations) {
  for (const auto& [name, seconds] : durations) {
    if (IsDuration(seconds)) continue;
    return Impossible(absl::StrCat(name, " took ", std::isfinite(seconds) ? FormatSeconds(seconds) : "nan"));
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------------------------- one lane

absl::Status CheckHistogram(const v1::Histogram& histogram, uint64_t ops) {
  if (histogram.index_gaps_size() != histogram.counts_size())
    return Impossible("a histogram has a bucket without a count");
  absl::uint128 index = 0, count = histogram.overflow_count();
  for (int i = 0; i < histogram.counts_size(); ++i) {
    index += histogram.index_gaps(i);
    count += histogram.counts(i);
  }
  if (index >= Histogram::kBucketCount) return Impossible("a histogram has more buckets than there are");
  if (count != histogram.count() || histogram.count() != ops) {
    return Impossible(absl::StrCat("a histogram counts ", histogram.count(), " of ", ops, " ops"));
  }
  if (ops == 0) return absl::OkStatus();
  const double n = static_cast<double>(ops), low = static_cast<double>(histogram.min_ns()) * n,
               high = static_cast<double>(histogram.max_ns()) * n;
  const bool sum_fits =
      histogram.sum_ns() >= low * (1 - kRounding) && histogram.sum_ns() <= high * (1 + kRounding);
  const bool squares_fit = histogram.sum_squares_ns2() >= 0 && std::isfinite(histogram.sum_squares_ns2());
  if (histogram.min_ns() <= histogram.max_ns() && sum_fits && squares_fit) return absl::OkStatus();
  return Impossible("the sums of a histogram do not agree with its smallest and largest latency");
}

absl::Status CheckKinds(const v1::LaneResult& lane) {
  std::set<int> seen;
  absl::uint128 bytes = 0, ops = 0;
  for (const v1::KindResult& kind : lane.kinds()) {
    if (!v1::OpKind_IsValid(kind.kind()) || !seen.insert(kind.kind()).second) {
      return Impossible("it lists a kind of op twice, or one that there is not");
    }
    IOBENCH_RETURN_IF_ERROR(CheckHistogram(kind.latency(), kind.ops()));
    bytes += kind.bytes();
    ops += kind.ops();
  }
  if (bytes > lane.region_bytes() || ops > lane.region_ops()) {
    return Impossible("its kinds of ops are more than all its ops");
  }
  return absl::OkStatus();
}

// `ops`: how many ops, or flush calls, were made.
absl::Status CheckSlices(const v1::LatencySlices& slices, uint64_t ops) {
  if (slices.cell_gaps_size() != slices.counts_size())
    return Impossible("its latencies over time are malformed");
  absl::uint128 cell = 0, in_slices = 0;
  for (int i = 0; i < slices.counts_size(); ++i) {
    cell += slices.cell_gaps(i);
    in_slices += slices.counts(i);
  }
  constexpr uint64_t kCells = uint64_t{LatencySlices::kSliceCount} * LatencySlices::kBinCount;
  if (slices.counts_size() > 0 && (cell >= kCells || slices.slice_ns() <= 0)) {
    return Impossible("its latencies over time are malformed");
  }
  if (in_slices > ops) return Impossible("its latencies over time are of more ops than it did");
  return absl::OkStatus();
}

absl::Status CheckCalls(const v1::LaneResult& lane) {
  OpKinds seen;
  for (const v1::KindResult& call : lane.calls()) {
    const auto kind = static_cast<OpKind>(call.kind());
    if (!kFlushCalls.Has(kind) || seen.Has(kind) || call.bytes() != 0)
      return Impossible("it lists a flush call twice, or one that there is not");
    IOBENCH_RETURN_IF_ERROR(CheckHistogram(call.latency(), call.ops()));
    IOBENCH_RETURN_IF_ERROR(CheckSlices(call.slices(), call.ops()));
    seen = seen | kind;
  }
  return absl::OkStatus();
}

absl::Status CheckOpenLoop(const v1::LaneResult& lane, const v1::Operation& operation) {
  if (!lane.has_service() && !lane.has_response() && !lane.has_lag()) return absl::OkStatus();
  if (!operation.has_arrivals())
    return Impossible("its ops were due at no time, and it says how late they were");
  uint64_t ops = 0;  // they do not wrap: CheckKinds
  for (const v1::KindResult& kind : lane.kinds()) ops += kind.ops();
  if (!lane.has_service() || lane.has_response()) IOBENCH_RETURN_IF_ERROR(CheckHistogram(lane.response(), ops));
  if (lane.has_service()) IOBENCH_RETURN_IF_ERROR(CheckHistogram(lane.service(), ops));
  return CheckHistogram(lane.lag(), ops);
}

absl::Status CheckTimeline(const v1::LaneResult& lane) {
  const v1::Timeline& timeline = lane.timeline();
  const int points = timeline.at_worker_ns_size();
  if (points != timeline.bytes_size() || points != timeline.ops_size() || points > kMaxPoints) {
    return Impossible("its timeline is malformed");
  }
  absl::int128 at = 0;
  absl::uint128 bytes = 0, ops = 0;
  for (int i = 0; i < points; ++i) {
    if (i > 0 && timeline.at_worker_ns(i) < 0) return Impossible("its timeline goes back in time");
    at += timeline.at_worker_ns(i);
    bytes += timeline.bytes(i);
    ops += timeline.ops(i);
    // CheckLaneTimes has bounded the lane's own times.
    if (at < lane.first_op_worker_ns() - kTickSlackNs || at > lane.region_end_worker_ns() + kTickSlackNs) {
      return Impossible("its timeline is not within its timed region");
    }
  }
  if (bytes > lane.region_bytes() || ops > lane.region_ops()) {
    return Impossible("its timeline ends above its totals");
  }
  return absl::OkStatus();
}

absl::Status CheckVerification(const v1::LaneResult& lane) {
  const v1::VerifyResult& verify = lane.verify();
  if (verify.mismatched() > verify.sectors() || verify.undetermined() > verify.sectors() ||
      verify.sectors() > kMaxBytes || verify.missing_bytes() > kMaxBytes || verify.first_size() > kMaxMismatches) {
    return Impossible("it found more mismatches than it checked sectors");
  }
  for (const auto& [name, count] : verify.counts()) {
    IOBENCH_RETURN_IF_ERROR(CheckText("a kind of mismatch", name, kMaxNameBytes));
    if (count > verify.mismatched()) return Impossible("it found more mismatches of a kind than in all");
  }
  for (const v1::Mismatch& mismatch : verify.first()) {
    IOBENCH_RETURN_IF_ERROR(CheckText("the file of a mismatch", mismatch.file(), kMaxPathBytes));
    IOBENCH_RETURN_IF_ERROR(CheckText("a mismatch", mismatch.expected(), kMaxPathBytes));
    IOBENCH_RETURN_IF_ERROR(CheckText("a mismatch", mismatch.found(), kMaxPathBytes));
  }
  return absl::OkStatus();
}

// `what`: "errors" or "retries".
absl::Status CheckErrorCounts(const google::protobuf::RepeatedPtrField<v1::ErrorCount>& counts,
                              const char* what) {
  if (counts.size() > kMaxErrorCounts) return Impossible(absl::StrCat("it lists too many kinds of ", what));
  for (const v1::ErrorCount& error : counts) {
    if (!v1::OpKind_IsValid(error.kind())) {
      return Impossible(absl::StrCat("it lists ", what, " of a kind of op that there is not"));
    }
    if (error.count() > kMaxErrors) return Impossible(absl::StrCat("it counts ", error.count(), " ", what));
    IOBENCH_RETURN_IF_ERROR(CheckText("the file of an error", error.file(), kMaxPathBytes));
  }
  return absl::OkStatus();
}

absl::Status CheckErrors(const v1::LaneResult& lane) {
  IOBENCH_RETURN_IF_ERROR(CheckErrorCounts(lane.errors(), "errors"));
  uint64_t errors = 0;  // at most kMaxErrorCounts * kMaxErrors
  for (const v1::ErrorCount& error : lane.errors()) errors += error.count();
  if (lane.warmup_errors() > errors) {
    return Impossible(
        absl::StrCat("it counts ", lane.warmup_errors(), " errors in its warm-up, and ", errors, " in all"));
  }
  return CheckErrorCounts(lane.retries(), "retries");
}

absl::Status CheckLaneTimes(const v1::LaneResult& lane) {
  for (const int64_t ns : {lane.first_op_worker_ns(), lane.ops_end_worker_ns(), lane.region_end_worker_ns(),
                           lane.deadline_worker_ns(), lane.last_op_worker_ns(), lane.stall_begin_worker_ns(),
                           lane.stall_end_worker_ns(), lane.first_pass_end_worker_ns()}) {
    if (ns < 0 || ns > kMaxNs) return Impossible(absl::StrCat("it names a time of ", FormatSeconds(SecondsFrom(ns))));
  }
  if (lane.ops_end_worker_ns() < lane.first_op_worker_ns() ||
      lane.region_end_worker_ns() < lane.ops_end_worker_ns()) {
    return Impossible("it ended before it began");
  }
  if (lane.stall_end_worker_ns() < lane.stall_begin_worker_ns())
    return Impossible("it stalled for less than no time");
  if (lane.gaps_size() > kMaxGaps) return Impossible(absl::StrCat("it names ", lane.gaps_size(), " gaps"));
  for (const v1::Gap& gap : lane.gaps()) {
    if (gap.begin_worker_ns() < 0 || gap.end_worker_ns() > kMaxNs || gap.end_worker_ns() < gap.begin_worker_ns())
      return Impossible("it names a gap that is no time");
  }
  if (lane.first_pass_end_worker_ns() > lane.region_end_worker_ns() + kTickSlackNs)
    return Impossible("its first pass ended after its timed region");
  return CheckDurations({{"its open", lane.open_s()},
                         {"its fsync", lane.fsync_s()},
                         {"its close", lane.close_s()},
                         {"its settling", lane.settle_s()},
                         {"its user time", lane.cpu_user_s()},
                         {"its system time", lane.cpu_system_s()},
                         {"its wait for a processor", lane.run_delay_s()},
                         {"the tool", lane.tool_s()},
                         {"its time between ops", lane.between_s()},
                         {"its pauses", lane.pause_s()},
                         {"making its data", lane.data_s()}});
}

// `available_ns`: the time that the lane can have had for all its ops.
absl::Status CheckAmounts(const v1::LaneResult& lane, const ResultFrame& frame, int64_t available_ns) {
  if (lane.region_bytes() > lane.bytes() || lane.region_ops() > lane.ops()) {
    return Impossible("it did more in its timed region than in all");
  }
  if (absl::uint128(lane.passes()) + lane.pass_ops() > lane.ops() || lane.bytes_per_pass() > kMaxBytes) {
    return Impossible(absl::StrCat("it did ", lane.passes(), " passes over its records with ", lane.ops(), " ops"));
  }
  if (lane.found_items() > lane.ops()) return Impossible("it found more items than it looked at");
  const auto time_ns = static_cast<uint64_t>(std::max<int64_t>(0, available_ns));
  // Even an op that does nothing takes longer than a nanosecond.
  if (lane.ops() > time_ns) {
    return Impossible(
        absl::StrCat("it did ", lane.ops(), " ops in ", FormatSeconds(SecondsFrom(available_ns))));
  }
  const absl::uint128 most_of_ops =
      absl::uint128(lane.ops()) * LargestOpBytes(frame.operation, frame.bytes_per_lane);
  const auto engine = FindEngine(frame.operation.engine());
  const bool moves = engine.ok() && (*engine)->uses_files;
  const absl::uint128 most_of_time = absl::uint128(time_ns) * kMaxBytesPerSecond / 1'000'000'000;
  if (lane.bytes() > kMaxBytes || lane.bytes() > most_of_ops || (moves && lane.bytes() > most_of_time)) {
    return Impossible(absl::StrCat("it moved ", FormatBytes(static_cast<double>(lane.bytes())), " with ",
                                   lane.ops(), " ops in ", FormatSeconds(SecondsFrom(available_ns))));
  }
  return absl::OkStatus();
}

absl::Status CheckLane(const v1::LaneResult& lane, const ResultFrame& frame) {
  IOBENCH_RETURN_IF_ERROR(CheckText("its operation", lane.operation(), kMaxNameBytes));
  IOBENCH_RETURN_IF_ERROR(CheckText("its file", lane.file(), kMaxPathBytes));
  IOBENCH_RETURN_IF_ERROR(CheckText("its problem", lane.problem().message(), kMaxTextBytes));
  IOBENCH_RETURN_IF_ERROR(CheckText("the file of its problem", lane.problem().file(), kMaxPathBytes));
  IOBENCH_RETURN_IF_ERROR(
      CheckText("the operation of its problem", lane.problem().operation(), kMaxNameBytes));
  IOBENCH_RETURN_IF_ERROR(CheckLaneTimes(lane));
  IOBENCH_RETURN_IF_ERROR(CheckAmounts(lane, frame, frame.collected - frame.start));
  IOBENCH_RETURN_IF_ERROR(CheckKinds(lane));
  IOBENCH_RETURN_IF_ERROR(CheckCalls(lane));
  IOBENCH_RETURN_IF_ERROR(CheckErrors(lane));
  IOBENCH_RETURN_IF_ERROR(CheckOpenLoop(lane, frame.operation));
  IOBENCH_RETURN_IF_ERROR(CheckTimeline(lane));
  IOBENCH_RETURN_IF_ERROR(CheckSlices(lane.latency_slices(), lane.region_ops()));
  return CheckVerification(lane);
}

// ------------------------------------------------------------------------------------------- the worker

absl::Status CheckWhichLanes(const v1::WorkerPhaseResult& result, const ResultFrame& frame) {
  std::map<uint32_t, const v1::LanePlan*> expected;
  for (const v1::LanePlan& lane : frame.lanes) expected.emplace(lane.lane(), &lane);
  for (const v1::LaneResult& lane : result.lanes()) {
    const auto found = expected.find(lane.lane());
    if (found == expected.end()) {
      return Impossible(absl::StrCat("it reports lane ", lane.lane(), " twice, or it is another worker's"));
    }
    if (lane.file_owner() != found->second->file_owner()) {
      return Impossible(absl::StrCat("its lane ", lane.lane(), " used the files of lane ", lane.file_owner(),
                                     " instead of lane ", found->second->file_owner()));
    }
    if (found->second->sits_out() && !lane.sat_out()) {
      return Impossible(absl::StrCat("its lane ", lane.lane(), " was to sit out"));
    }
    expected.erase(found);
  }
  if (expected.empty()) return absl::OkStatus();
  return Impossible(absl::StrCat("it does not report its lane ", expected.begin()->first));
}

// The lanes' times are between the start and the arrival of the result, on the coordinator's clock.
absl::Status CheckWithinPhase(const v1::WorkerPhaseResult& result, const ResultFrame& frame) {
  const absl::StatusOr<FittedClock> clock = FitClock(result);
  if (!clock.ok() || clock->stepped) return absl::OkStatus();
  for (const v1::LaneResult& lane : result.lanes()) {
    if (lane.first_op_worker_ns() == 0) continue;  // it never began
    const CoordTime begin = clock->map.ToCoordinator({lane.first_op_worker_ns()}),
                    end = clock->map.ToCoordinator({lane.region_end_worker_ns()});
    if (begin < frame.start + -(kSlackNs + clock->map.error_ns(frame.start))) {
      return Impossible(absl::StrCat("its lane ", lane.lane(), " began ",
                                     FormatSeconds(SecondsFrom(frame.start - begin)), " before the start"));
    }
    if (end > frame.collected + (kSlackNs + clock->map.error_ns(frame.collected))) {
      return Impossible(absl::StrCat("its lane ", lane.lane(), " ended ",
                                     FormatSeconds(SecondsFrom(end - frame.collected)),
                                     " after its result arrived"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckHost(const v1::HostDelta& host) {
  IOBENCH_RETURN_IF_ERROR(CheckDurations({{"its host's user time", host.cpu_user_s()},
                                          {"its host's system time", host.cpu_system_s()},
                                          {"its host's idle time", host.cpu_idle_s()},
                                          {"its host's stolen time", host.cpu_steal_s()},
                                          {"its host's counters", host.seconds()}}));
  if (host.nics_size() > kMaxNics) return Impossible("its host has too many network interfaces");
  for (const v1::NicDelta& nic : host.nics()) {
    IOBENCH_RETURN_IF_ERROR(CheckText("a network interface", nic.name(), kMaxNameBytes));
    if (nic.rx_bytes() > kMaxBytes || nic.tx_bytes() > kMaxBytes) {
      return Impossible("a network interface of its host moved more than there is time for");
    }
  }
  for (const uint64_t bytes : {host.nic_rx_bytes(), host.nic_tx_bytes(), host.disk_read_bytes(),
                               host.all_disks_read_bytes(), host.disk_write_bytes(), host.dirty_bytes_after()}) {
    if (bytes > kMaxBytes) return Impossible("its host's counters moved more than there is time for");
  }
  for (const auto& [target, nfs] : host.nfs()) {
    for (const uint64_t bytes :
         {nfs.app_read_bytes(), nfs.app_write_bytes(), nfs.server_read_bytes(), nfs.server_write_bytes()}) {
      if (bytes > kMaxBytes) return Impossible("its NFS counters moved more than there is time for");
    }
    if (nfs.connections_size() > kMaxConnections) return Impossible("a mount has too many connections");
    for (const auto& [name, op] : nfs.ops()) {
      IOBENCH_RETURN_IF_ERROR(CheckText("the name of an NFS call", name, kMaxNameBytes));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCgroup(const v1::CgroupDelta& cgroup) {
  if (cgroup.io_limits_size() > kMaxIoLimits) return Impossible("its control groups have too many limits");
  for (const v1::IoLimitDelta& limit : cgroup.io_limits()) {
    IOBENCH_RETURN_IF_ERROR(CheckText("a device with a limit", limit.device(), kMaxNameBytes));
    if (!(limit.limit_per_s() > 0) || limit.amount() > kMaxBytes)
      return Impossible("a limit of its control groups is none");
  }
  if (cgroup.has_cpu_processors() && !(cgroup.cpu_processors() > 0))
    return Impossible("the CPU quota of its control groups is none");
  return CheckDurations({{"its throttled time", cgroup.throttled_s()},
                         {"the reading of its control groups", cgroup.seconds()}});
}

absl::Status CheckSteps(const v1::WorkerPhaseResult& result) {
  if (result.steps_size() > kMaxSteps) return Impossible("it reports too many steps");
  for (const v1::StepResult& step : result.steps()) {
    IOBENCH_RETURN_IF_ERROR(CheckText("the name of a step", step.name(), kMaxNameBytes));
    IOBENCH_RETURN_IF_ERROR(CheckText("the outcome of a step", step.outcome(), kMaxTextBytes));
    IOBENCH_RETURN_IF_ERROR(CheckDurations({{"a step", step.seconds()}}));
    if (step.bytes() > kMaxBytes) return Impossible("a step wrote more than there is time for");
  }
  return absl::OkStatus();
}

absl::Status CheckMpiIoFacts(const v1::MpiIoFacts& facts) {
  constexpr int kMaxHints = 1000;
  IOBENCH_RETURN_IF_ERROR(CheckText("the name of its MPI library", facts.library(), kMaxNameBytes));
  if (facts.hints_size() > kMaxHints) return Impossible("it reports too many hints of MPI");
  // 10 GB/s for five days; the sum over 4,096 workers fits into 64 bits.
  constexpr uint64_t kMaxCalledBytes = uint64_t{1} << 52;
  if (facts.called_bytes() > kMaxCalledBytes) return Impossible("its lane's calls moved more than there is time for");
  for (const std::string& hint : facts.hints()) IOBENCH_RETURN_IF_ERROR(CheckText("a hint of MPI", hint, kMaxTextBytes));
  return absl::OkStatus();
}

}  // namespace

uint64_t LargestOpBytes(const v1::Operation& operation, uint64_t bytes_per_lane) {
  const auto spec = FindOperation(operation.name());
  if (!spec.ok()) return 0;
  if ((*spec)->is_metadata())
    return std::max<uint64_t>(operation.tree().file_bytes(), operation.tree().xattr_bytes());
  if (!operation.trace().read_file().empty()) return std::min(1_GiB, bytes_per_lane);
  const uint64_t record_bytes = std::min<uint64_t>(operation.record_bytes(), 1_GiB);
  const uint64_t records = (*spec)->call == Call::kVector ? uint64_t{kMaxRecordsPerVector} : 1;
  // An update reads a record and writes it back.
  return 2 * records * record_bytes;
}

absl::Status CheckResult(const v1::WorkerPhaseResult& result, const ResultFrame& frame) {
  IOBENCH_RETURN_IF_ERROR(CheckWhichLanes(result, frame));
  absl::uint128 bytes = 0;
  for (const v1::LaneResult& lane : result.lanes()) {
    IOBENCH_RETURN_IF_ERROR(Annotate(CheckLane(lane, frame), absl::StrCat("lane ", lane.lane())));
    bytes += lane.bytes();
  }
  // No rate is above 10^9 ops/s, and no phase lasts longer than 10^7 s.
  constexpr uint64_t kMaxArrivals = 10'000'000'000'000'000;
  if (result.missed_arrivals() > (frame.operation.has_arrivals() ? kMaxArrivals : 0)) {
    return Impossible(absl::StrCat("it missed ", result.missed_arrivals(), " ops"));
  }
  const v1::BufferPages& buffers = result.buffers();
  if (std::max(buffers.huge_page_bytes(), buffers.local_bytes()) > buffers.bytes() || buffers.bytes() > kMaxBytes) {
    return Impossible("more of its buffers is in huge pages, or on their lanes' nodes, than they have");
  }
  if (bytes > kMaxBytes) return Impossible("its lanes moved more bytes than 62 bits can count");
  IOBENCH_RETURN_IF_ERROR(CheckWithinPhase(result, frame));
  IOBENCH_RETURN_IF_ERROR(CheckHost(result.host()));
  IOBENCH_RETURN_IF_ERROR(CheckCgroup(result.host().cgroup()));
  IOBENCH_RETURN_IF_ERROR(CheckSteps(result));
  IOBENCH_RETURN_IF_ERROR(CheckMpiIoFacts(result.mpi_io()));
  return CheckDurations({{"its process's user time", result.process_cpu_user_s()},
                         {"its process's system time", result.process_cpu_system_s()}});
}

}  // namespace iobench
