#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "common/histogram.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/phase/latency.h"
#include "coordinator/analysis/phase/open_loop_figures.h"

namespace iobench {
namespace {

// What is added up over the lanes of an assignment, or of a path.
struct PartSums {
  double measured_bytes = 0, measured_ops = 0;
  Histogram latency;
  std::set<uint32_t> workers;
};

void AddLane(const AlignedLane& lane, const LaneFigures& figures, PartSums& sums, v1::PartReport& part) {
  sums.workers.insert(lane.worker);
  sums.measured_bytes += figures.measured.bytes.value;
  sums.measured_ops += figures.measured.ops.value;
  AddLatencies(*lane.result, sums.latency).IgnoreError();  // damaged ones are named with the clients' tables
  part.set_lane_count(part.lane_count() + 1);
  part.set_ops(part.ops() + lane.result->ops());
  part.set_bytes(part.bytes() + lane.result->bytes());
}

void SetSums(const PhaseView& view, const PartSums& sums, v1::PartReport& part) {
  part.set_worker_count(static_cast<uint32_t>(sums.workers.size()));
  part.set_bytes_per_s(Rate(sums.measured_bytes, view.figures.headline_seconds));
  part.set_ops_per_s(Rate(sums.measured_ops, view.figures.headline_seconds));
  *part.mutable_latency_us() = LatencyOf(sums.latency);
}

}  // namespace

void FillPaths(const PhaseView& view, v1::PhaseReport& report) {
  if (view.run.plan().targets_size() < 2 || view.phase.phase().only_target() > 0) return;
  std::map<uint32_t, std::vector<size_t>> lanes_of_target;
  for (size_t i = 0; i < view.aligned.lanes.size(); ++i) {
    uint32_t target = 0;
    if (view.TargetOf(view.aligned.lanes[i], &target) == nullptr) return;
    lanes_of_target[target].push_back(i);
  }
  if (lanes_of_target.size() < 2) return;
  for (const auto& [target, lanes] : lanes_of_target) {
    v1::PartReport& path = *report.add_paths();
    path.set_path(view.run.plan().targets(static_cast<int>(target)).path());
    const auto sums = std::make_unique<PartSums>();  // a histogram is too large for the stack
    for (const size_t i : lanes) AddLane(view.aligned.lanes[i], view.figures.lanes[i], *sums, path);
    SetSums(view, *sums, path);
  }
}

void FillParts(const PhaseView& view, v1::PhaseReport& report) {
  const v1::Phase& phase = view.phase.phase();
  if (phase.assignments_size() < 2) return;
  for (const v1::Assignment& assignment : phase.assignments()) {
    const v1::Operation& operation = assignment.operation();
    v1::PartReport& part = *report.add_parts();
    part.set_name(assignment.name().empty() ? operation.name() : assignment.name());
    part.set_operation(operation.name());
    part.set_background(assignment.background());
    part.set_record_bytes(operation.record_bytes());
    PartSums sums;
    for (size_t i = 0; i < view.aligned.lanes.size(); ++i) {
      const AlignedLane& lane = view.aligned.lanes[i];
      if (view.assignments.Of(lane.worker) == &assignment) AddLane(lane, view.figures.lanes[i], sums, part);
    }
    SetSums(view, sums, part);
    if (std::optional<v1::OpenLoopReport> open_loop = OpenLoopOf(view, &assignment)) {
      *part.mutable_open_loop() = *std::move(open_loop);
    }
  }
}

}  // namespace iobench
