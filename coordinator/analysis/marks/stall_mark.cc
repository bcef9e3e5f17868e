// stalled: no op of a lane ended for a long time.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/marks/stalls.h"

namespace iobench {
namespace {

constexpr size_t kMostNamed = 3;  // besides the longest stall of the longest lane

struct StallOnAxis {
  const AlignedLane* lane;
  double begin_s, end_s;  // after the first op of the phase
  double threshold_s;
  double seconds() const { return end_s - begin_s; }
};

std::string FromTo(const StallOnAxis& stall) {
  return absl::StrFormat("from %.2f s to %.2f s", stall.begin_s, stall.end_s);
}

// Stalls of a client's lanes at the same time have one cause. Returns one for each such time: the longest, in the order
// of time.
std::vector<StallOnAxis> OneOfEachTime(std::vector<StallOnAxis> stalls) {
  std::ranges::sort(stalls, {}, &StallOnAxis::begin_s);
  std::vector<StallOnAxis> times;
  double until_s = 0;
  for (const StallOnAxis& stall : stalls) {
    if (times.empty() || stall.begin_s >= until_s) {
      times.push_back(stall);
    } else if (stall.seconds() > times.back().seconds()) {
      times.back() = stall;
    }
    until_s = std::max(until_s, stall.end_s);
  }
  return times;
}

std::string OthersText(const std::vector<StallOnAxis>& times, const StallOnAxis& longest) {
  std::string text;
  size_t named = 0;
  for (const StallOnAxis& stall : times) {
    if (stall.lane == longest.lane && stall.begin_s == longest.begin_s) continue;
    if (named++ < kMostNamed) absl::StrAppend(&text, named == 1 ? "; also " : ", ", FromTo(stall));
  }
  if (named > kMostNamed) absl::StrAppend(&text, " and ", named - kMostNamed, " more times");
  return text;
}

// The longest time in which the client's workers made no progress, as the coordinator saw it.
std::optional<v1::Mark> StillMark(const v1::ClientPhaseReport& client,
                                  std::span<const AlignedWorker* const> workers) {
  const v1::StillWork* longest = nullptr;
  uint32_t of_worker = 0;
  const auto seconds = [](const v1::StillWork& still) {
    return SecondsFrom(still.end_coord_ns() - still.begin_coord_ns());
  };
  for (const AlignedWorker* const worker : workers) {
    if (worker->result->lost()) continue;  // lost_reason says it
    for (const v1::StillWork& still : worker->result->still_work()) {
      if (longest != nullptr && seconds(still) <= seconds(*longest)) continue;
      longest = &still;
      of_worker = worker->number;
    }
  }
  if (longest == nullptr) return std::nullopt;
  return MakeMark(mark_code::kStalled, client.host(), seconds(*longest), kShortestStillSeconds,
                  absl::StrCat("worker ", of_worker, " made no progress for about ",
                               FormatSeconds(seconds(*longest)),
                               longest->preparing() ? " in its preparation" : " while its lanes ran",
                               longest->what().empty() ? "" : absl::StrCat(" (", longest->what(), ")")));
}

}  // namespace

std::optional<v1::Mark> StallMark(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  const ClientPart& part) {
  const std::span<const AlignedLane* const> lanes = part.lanes;
  std::vector<StallOnAxis> stalls;
  size_t lane_count = 0;
  for (const AlignedLane* lane : lanes) {
    if (!lane->started) continue;
    const std::vector<LaneStall> of_lane = StallsOf(*lane->result, view.figures.duration_s);
    if (!of_lane.empty()) ++lane_count;
    for (const LaneStall& stall : of_lane) {
      const double begin_s =
          SecondsFrom(lane->clock->ToCoordinator({stall.begin_worker_ns}) - view.figures.first_op);
      stalls.push_back({lane, begin_s, begin_s + stall.seconds(), stall.threshold_s});
    }
  }
  if (stalls.empty()) return StillMark(client, part.workers);
  const StallOnAxis longest = *std::ranges::max_element(stalls, {}, &StallOnAxis::seconds);
  const v1::LaneResult& lane = *longest.lane->result;
  return MakeMark(
      mark_code::kStalled, client.host(), longest.seconds(), longest.threshold_s,
      absl::StrCat("worker ", longest.lane->worker, " lane ", lane.lane(),
                   lane.file().empty() ? "" : absl::StrCat(" (", lane.file(), ")"), " completed no op for ",
                   FormatSeconds(longest.seconds()), ", ", FromTo(longest), " of the phase",
                   OthersText(OneOfEachTime(stalls), longest),
                   lanes.size() == 1 ? "" : absl::StrCat("; ", lane_count, " of ", lanes.size(), " lanes stalled")));
}

}  // namespace iobench
