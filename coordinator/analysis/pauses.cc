#include "coordinator/analysis/pauses.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/model/plan_traits.h"
#include "common/time.h"
#include "coordinator/analysis/marks/stalls.h"

namespace iobench {
namespace {

struct Pause {
  double begin_s = 0;  // from the phase's start
  double end_s = 0;
  const char* part = "";
  bool is_stall = false;
  double seconds() const { return end_s - begin_s; }
};

std::vector<Pause> PausesOfLane(const v1::PhaseRecord& phase, const v1::LaneResult& lane,
                                const ClockMap& clock, double phase_s) {
  const auto at = [&](int64_t worker_ns) {
    return SecondsFrom(clock.ToCoordinator({worker_ns}).ns - phase.start_coord_ns());
  };
  std::vector<Pause> pauses;
  // A part that a lane does once has nothing to compare it with.
  const auto add = [&](const char* part, double begin_s, double seconds) {
    if (seconds > 0) pauses.push_back({begin_s, begin_s + seconds, part, seconds >= kShortestStallSeconds});
  };
  // Unless its duration belongs to the timed region, files are opened before the phase starts.
  add("open", phase.phase().region().open() ? at(lane.first_op_worker_ns()) : -lane.open_s(), lane.open_s());
  // The longest one counts as a pause even if it is no stall.
  if (lane.stall_end_worker_ns() > lane.stall_begin_worker_ns())
    pauses.push_back({at(lane.stall_begin_worker_ns()), at(lane.stall_end_worker_ns()), "ops", false});
  for (const LaneStall& stall : StallsOf(lane, phase_s)) {
    pauses.push_back({at(stall.begin_worker_ns), at(stall.end_worker_ns), "ops", true});
  }
  const double ops_end_s = at(lane.ops_end_worker_ns());
  add("fsync", ops_end_s, lane.fsync_s());
  add("close", ops_end_s + lane.fsync_s(), lane.close_s());
  add("settle", ops_end_s + lane.fsync_s() + lane.close_s(), lane.settle_s());
  return pauses;
}

// For a worker in a soak: the part of its preparation in which it neither wrote files nor did what the plan asks for.
// When this was within the preparation is unknown.
std::optional<Pause> PauseInPreparation(const v1::PhaseRecord& phase, const v1::WorkerPhaseResult& worker) {
  std::optional<double> seconds;
  double work_s = 0;
  for (const v1::StepResult& step : worker.steps()) {
    static const std::set<std::string> kAskedFor = {"rest", "remount", "eat-memory", "fill"};
    if (step.name() == kPrepareStep) {
      seconds = step.seconds();
    } else if (step.bytes() > 0 || kAskedFor.contains(step.name())) {
      work_s += step.seconds();
    }
  }
  if (!seconds.has_value() || *seconds <= work_s) return std::nullopt;
  const double pause_s = *seconds - work_s;
  return Pause{-phase.prepare_s(), -phase.prepare_s() + pause_s, "prepare", pause_s >= kShortestStallSeconds};
}

// Adds the stalls among the pauses: those that overlap are one.
void AddStalls(std::vector<Pause> pauses, v1::PauseReport& report) {
  std::erase_if(pauses, [](const Pause& pause) { return !pause.is_stall; });
  std::sort(pauses.begin(), pauses.end(),
            [](const Pause& a, const Pause& b) { return a.begin_s < b.begin_s; });
  double counted_until_s = 0;
  for (const Pause& pause : pauses) {
    const bool is_new = report.stalls() == 0 || pause.begin_s > counted_until_s;
    if (is_new) {
      report.set_stalls(report.stalls() + 1);
      counted_until_s = pause.begin_s;
    }
    report.set_stalled_s(report.stalled_s() + std::max(0.0, pause.end_s - counted_until_s));
    counted_until_s = std::max(counted_until_s, pause.end_s);
  }
}

}  // namespace

std::optional<v1::PauseReport> PausesOf(const v1::PhaseRecord& phase,
                                        std::span<const AlignedWorker* const> workers, double phase_s) {
  std::vector<Pause> pauses;
  for (const AlignedWorker* const worker : workers) {
    if (worker->clock == nullptr) continue;
    if (const std::optional<Pause> pause = PauseInPreparation(phase, *worker->result); pause.has_value())
      pauses.push_back(*pause);
    for (const v1::LaneResult& lane : worker->result->lanes()) {
      if (lane.first_op_worker_ns() == 0) continue;
      for (const Pause& pause : PausesOfLane(phase, lane, *worker->clock, phase_s)) pauses.push_back(pause);
    }
  }
  const auto longest = std::max_element(
      pauses.begin(), pauses.end(), [](const Pause& a, const Pause& b) { return a.seconds() < b.seconds(); });
  if (longest == pauses.end()) return std::nullopt;
  v1::PauseReport report;
  report.set_longest_s(longest->seconds());
  report.set_longest_begin_s(longest->begin_s);
  report.set_part(longest->part);
  AddStalls(std::move(pauses), report);
  return report;
}

}  // namespace iobench
