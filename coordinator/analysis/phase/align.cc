#include "coordinator/analysis/phase/align.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// The coordinator gives workers of one client the same bursts, so equal bytes mean equal clocks.
std::string KeyOf(const v1::WorkerPhaseResult& worker) {
  std::string key;
  for (const v1::PingBurst& burst : worker.bursts()) {
    const std::string bytes = burst.SerializeAsString();
    absl::StrAppend(&key, bytes.size(), ":", bytes);
  }
  return key;
}

int64_t WidthNs(const v1::PingBurst& burst) {
  const absl::StatusOr<OffsetInterval> interval = IntervalOf(burst);
  return interval.ok() ? interval->high_ns - interval->low_ns : INT64_MAX;
}

AlignedLane AlignedFrom(const v1::LaneResult& result, const AlignedWorker& worker) {
  AlignedLane lane;
  lane.result = &result;
  lane.worker = worker.number;
  lane.clock = worker.clock;
  lane.started = result.first_op_worker_ns() != 0 || result.region_ops() > 0;
  if (!lane.started) return lane;
  lane.first_op = worker.clock->ToCoordinator({result.first_op_worker_ns()});
  lane.ops_end = worker.clock->ToCoordinator({result.ops_end_worker_ns()});
  lane.region_end = worker.clock->ToCoordinator({result.region_end_worker_ns()});
  if (result.deadline_worker_ns() != 0) {
    lane.deadline = worker.clock->ToCoordinator({result.deadline_worker_ns()});
  }
  if (result.first_pass_end_worker_ns() != 0) {
    lane.first_pass_end = worker.clock->ToCoordinator({result.first_pass_end_worker_ns()});
  }
  return lane;
}

}  // namespace

bool TookPart(const v1::LaneResult& lane) {
  return !lane.sat_out() && lane.problem().code() == 0;
}

absl::StatusOr<FittedClock> FitClock(const v1::WorkerPhaseResult& worker) {
  if (worker.bursts().empty()) return FittedClock{ClockMap::Same()};
  // A burst that contains a clock step is void (definitions.md, "Clock") and should have been repeated.
  std::vector<v1::PingBurst> sound;
  absl::Status first_problem;
  for (const v1::PingBurst& burst : worker.bursts()) {
    const absl::StatusOr<ClockMap> alone = ClockMap::Fit({&burst, 1});
    if (alone.ok()) {
      sound.push_back(burst);
    } else if (first_problem.ok()) {
      first_problem = alone.status();
    }
  }
  if (sound.empty()) return first_problem;
  absl::StatusOr<ClockMap> all = ClockMap::Fit(sound);
  if (all.ok()) return FittedClock{*std::move(all)};
  const auto best = std::min_element(
      sound.begin(), sound.end(),
      [](const v1::PingBurst& a, const v1::PingBurst& b) { return WidthNs(a) < WidthNs(b); });
  absl::StatusOr<ClockMap> best_alone = ClockMap::Fit({&*best, 1});
  if (!best_alone.ok()) return best_alone.status();
  return FittedClock{*std::move(best_alone), /*stepped=*/true};
}

AlignedPhase Align(const v1::PhaseRecord& phase, uint32_t worker_count) {
  AlignedPhase aligned;
  struct KnownClock {
    const ClockMap* map = nullptr;
    bool stepped = false;
    std::string problem;
  };
  std::unordered_map<std::string, KnownClock> clocks;
  aligned.workers.reserve(static_cast<size_t>(phase.workers_size()));
  for (const v1::WorkerPhaseResult& result : phase.workers()) {
    if (result.worker() >= worker_count) continue;
    AlignedWorker worker;
    worker.result = &result;
    worker.number = result.worker();
    if (result.lost()) {
      worker.missing_reason = result.lost_reason().empty() ? "lost" : result.lost_reason();
    } else if (!result.refused_reason().empty()) {
      worker.missing_reason = absl::StrCat("its result was refused: ", result.refused_reason());
    } else {
      const auto [known, is_new] = clocks.try_emplace(KeyOf(result));
      if (is_new) {
        absl::StatusOr<FittedClock> fitted = FitClock(result);
        if (fitted.ok()) {
          aligned.clocks.push_back(std::move(fitted->map));
          known->second = {&aligned.clocks.back(), fitted->stepped, ""};
        } else {
          known->second.problem = std::string(fitted.status().message());
        }
      }
      worker.clock = known->second.map;
      worker.clock_stepped = known->second.stepped;
      worker.missing_reason = known->second.problem;
    }
    if (worker.missing_reason.empty()) {
      for (const v1::LaneResult& lane : result.lanes()) {
        if (TookPart(lane)) aligned.lanes.push_back(AlignedFrom(lane, worker));
      }
    }
    aligned.workers.push_back(std::move(worker));
  }
  return aligned;
}

void TimelineOf(const AlignedLane& lane, std::vector<AlignedPoint>& points) {
  points.clear();
  if (!lane.started) return;
  const v1::Timeline& timeline = lane.result->timeline();
  const int count = std::min({timeline.at_worker_ns_size(), timeline.bytes_size(), timeline.ops_size()});
  // Decoded here instead of by FromProto, which would create a second copy of every timeline.
  uint64_t at_ns = 0;  // unsigned: damaged deltas wrap around instead of overflowing
  uint64_t bytes = 0;
  uint64_t ops = 0;
  for (int i = 0; i < count; ++i) {
    at_ns += static_cast<uint64_t>(timeline.at_worker_ns(i));
    bytes += timeline.bytes(i);
    ops += timeline.ops(i);
    const CoordTime at = lane.clock->ToCoordinator({static_cast<int64_t>(at_ns)});
    if (points.empty() && (bytes > 0 || ops > 0)) points.push_back({lane.first_op, 0, 0});
    points.push_back({at, bytes, ops});
  }
  if (points.empty()) points.push_back({lane.first_op, 0, 0});
  if (points.back().ops < lane.result->region_ops()) {
    points.push_back({lane.ops_end, lane.result->region_bytes(), lane.result->region_ops()});
  }
}

}  // namespace iobench
