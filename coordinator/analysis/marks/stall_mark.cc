// stalled: no op of a lane ended for a long time.
#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/histogram.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr double kShortestStallSeconds = 1.0;
constexpr double kStallShare = 0.1;  // of the phase's duration
constexpr double kMedianOps = 4.0;   // a long op is not a stall if all ops take that long

double StallSeconds(const v1::LaneResult& lane) {
  return SecondsFrom(lane.stall_end_worker_ns() - lane.stall_begin_worker_ns());
}

double MedianOpSeconds(const v1::LaneResult& lane) {
  const auto latency = std::make_unique<Histogram>();  // 37 KB, too large for the stack
  AddServiceTimes(lane, *latency).IgnoreError();
  return latency->count() > 0 ? latency->PercentileNs(0.5) / 1e9 : 0;
}

}  // namespace

std::optional<v1::Mark> StallMark(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  std::span<const AlignedLane* const> lanes) {
  const double threshold_s = std::max(kShortestStallSeconds, kStallShare * view.figures.duration_s);
  const AlignedLane* longest = nullptr;
  size_t count = 0;
  for (const AlignedLane* lane : lanes) {
    const double stall_s = StallSeconds(*lane->result);
    if (!lane->started || stall_s <= threshold_s) continue;
    if (stall_s < kMedianOps * MedianOpSeconds(*lane->result)) continue;
    ++count;
    if (longest == nullptr || stall_s > StallSeconds(*longest->result)) longest = lane;
  }
  if (longest == nullptr) return std::nullopt;
  const v1::LaneResult& lane = *longest->result;
  const double stall_s = StallSeconds(lane);
  const double from_s =
      SecondsFrom(longest->clock->ToCoordinator({lane.stall_begin_worker_ns()}) - view.figures.first_op);
  return MakeMark(
      "stalled", client.host(), stall_s, threshold_s,
      absl::StrCat("worker ", longest->worker, " lane ", lane.lane(),
                   lane.file().empty() ? "" : absl::StrCat(" (", lane.file(), ")"), " completed no op for ",
                   FormatSeconds(stall_s), ", from ", absl::StrFormat("%.2f", from_s), " s to ",
                   absl::StrFormat("%.2f", from_s + stall_s), " s of the phase",
                   lanes.size() == 1 ? "" : absl::StrCat("; ", count, " of ", lanes.size(), " lanes stalled"),
                   ": find out what stopped the client or the server then, and repeat"));
}

}  // namespace iobench
