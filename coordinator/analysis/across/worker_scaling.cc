#include "coordinator/analysis/across/worker_scaling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/statistics/median.h"

namespace iobench {
namespace {

bool SelectsWorkersAlone(const v1::Phase& phase) {
  return phase.assignments_size() == 1 && !phase.assignments(0).who().workers().empty();
}

// Everything in a phase except its name and its workers.
std::string WithoutWorkers(const v1::Phase& phase) {
  v1::Phase rest = phase;
  rest.clear_name();
  for (v1::Assignment& assignment : *rest.mutable_assignments()) assignment.clear_who();
  return MeaningOf(rest);
}

struct WorkerPoint {
  uint32_t clients = 0, lanes = 0;
  std::vector<double> rates;
};

struct WorkerSweep {
  v1::WorkerScalingReport scaling;
  std::map<uint32_t, WorkerPoint> points;  // by number of workers
};

// For a phase with all workers, the report may not list them.
void AddPhase(const v1::RunReport& report, const v1::PhaseReport& phase, WorkerSweep& sweep) {
  const bool by_all = phase.clients().empty();
  WorkerPoint& point = sweep.points[by_all ? report.run().worker_count() : WorkerCount(phase)];
  const int clients = by_all ? report.clients_size() : phase.clients_size();
  point.clients = std::max(point.clients, static_cast<uint32_t>(clients));
  point.lanes = std::max(point.lanes, phase.lane_count());
  const double rate = HeadlineRate(phase);
  if (phase.not_whole().empty() && std::isfinite(rate)) point.rates.push_back(rate);
  sweep.scaling.set_metadata(phase.metadata());
  sweep.scaling.set_in_ops(phase.headline_in_ops());
}

void FillPoints(WorkerSweep& sweep) {
  double first_per_worker = kNaN;
  for (const auto& [workers, point] : sweep.points) {
    const double rate = MedianOf(point.rates);
    const double per_worker = rate / workers;
    if (sweep.scaling.points().empty()) first_per_worker = per_worker;
    v1::WorkerScalingPoint& filled = *sweep.scaling.add_points();
    filled.set_worker_count(workers);
    filled.set_client_count(point.clients);
    filled.set_lane_count(point.lanes);
    filled.set_rate(rate);
    filled.set_rate_per_client(point.clients > 0 ? rate / point.clients : kNaN);
    filled.set_scaling(first_per_worker > 0 ? per_worker / first_per_worker : kNaN);
  }
}

}  // namespace

void UpdateWorkerScaling(v1::RunReport& report) {
  report.clear_worker_scaling();
  const v1::Plan& plan = report.run().plan();
  if (std::none_of(plan.phases().begin(), plan.phases().end(), SelectsWorkersAlone)) return;
  std::vector<WorkerSweep> sweeps;
  std::map<std::string, size_t> number_of;
  std::vector<size_t> sweep_of_phase;
  for (const v1::Phase& phase : plan.phases()) {
    const auto [known, is_new] = number_of.try_emplace(WithoutWorkers(phase), sweeps.size());
    sweep_of_phase.push_back(known->second);
    if (!is_new) continue;
    v1::WorkerScalingReport& scaling = sweeps.emplace_back().scaling;
    if (phase.assignments_size() != 1) continue;
    const v1::Operation& operation = phase.assignments(0).operation();
    scaling.set_operation(operation.name());
    scaling.set_target(OnlyTargetPath(plan, phase));
    scaling.set_bytes_per_lane(ShapeOf(plan, phase).files.bytes_per_lane());
    scaling.set_record_bytes(operation.record_bytes());
  }
  for (const v1::PhaseReport& phase : report.phases()) {
    AddPhase(report, phase, sweeps[sweep_of_phase[phase.index() % sweep_of_phase.size()]]);
  }
  for (WorkerSweep& sweep : sweeps) {
    if (sweep.scaling.operation().empty() || sweep.points.size() < 2) continue;
    FillPoints(sweep);
    *report.add_worker_scaling() = std::move(sweep.scaling);
  }
}

}  // namespace iobench
