#include "coordinator/report/text/worker_scaling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/statistics/median.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

bool SelectsWorkers(const v1::Phase& phase) {
  return phase.assignments_size() == 1 && !phase.assignments(0).who().workers().empty();
}

// Everything in a phase except its name and its workers.
std::string Rest(const v1::Phase& phase) {
  v1::Phase rest = phase;
  rest.clear_name();
  for (v1::Assignment& assignment : *rest.mutable_assignments()) assignment.clear_who();
  return MeaningOf(rest);
}

struct Point {
  uint32_t clients = 0, lanes = 0;
  std::vector<double> rates;
};

struct Sweep {
  WorkerScaling scaling;
  std::map<uint32_t, Point> points;  // by number of workers
};

// For a phase with all workers, the report may not list them.
void Add(const v1::RunReport& report, const v1::PhaseReport& phase, Sweep& sweep) {
  const bool by_all = phase.clients().empty();
  Point& point = sweep.points[by_all ? report.run().worker_count() : WorkerCount(phase)];
  const int clients = by_all ? report.clients_size() : phase.clients_size();
  point.clients = std::max(point.clients, static_cast<uint32_t>(clients));
  point.lanes = std::max(point.lanes, phase.lane_count());
  const double rate = phase.headline_in_ops() ? phase.headline().ops_per_s() : phase.headline().bytes_per_s();
  if (phase.not_whole().empty() && std::isfinite(rate)) point.rates.push_back(rate);
  sweep.scaling.metadata = phase.metadata();
  sweep.scaling.in_ops = phase.headline_in_ops();
}

void FillPoints(Sweep& sweep) {
  double first_per_worker = kNaN;
  for (const auto& [workers, point] : sweep.points) {
    const double rate = MedianOf(point.rates);
    const double per_worker = rate / workers;
    if (sweep.scaling.points.empty()) first_per_worker = per_worker;
    sweep.scaling.points.push_back({.worker_count = workers,
                                    .client_count = point.clients,
                                    .lane_count = point.lanes,
                                    .rate = rate,
                                    .rate_per_client = point.clients > 0 ? rate / point.clients : kNaN,
                                    .scaling = first_per_worker > 0 ? per_worker / first_per_worker : kNaN});
  }
}

}  // namespace

uint32_t WorkerCount(const v1::PhaseReport& phase) {
  int count = 0;
  for (const v1::ClientPhaseReport& client : phase.clients()) count += client.workers_size();
  return static_cast<uint32_t>(count);
}

std::vector<WorkerScaling> ScalingOf(const v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  if (std::none_of(plan.phases().begin(), plan.phases().end(), SelectsWorkers)) return {};
  std::vector<Sweep> sweeps;
  std::map<std::string, size_t> number_of;
  std::vector<size_t> sweep_of_phase;
  for (const v1::Phase& phase : plan.phases()) {
    const auto [known, is_new] = number_of.try_emplace(Rest(phase), sweeps.size());
    sweep_of_phase.push_back(known->second);
    if (!is_new) continue;
    WorkerScaling& scaling = sweeps.emplace_back().scaling;
    if (phase.assignments_size() != 1) continue;
    const v1::Operation& operation = phase.assignments(0).operation();
    scaling.operation = operation.name();
    scaling.only_target = phase.only_target();
    scaling.bytes_per_lane = ShapeOf(plan, phase).files.bytes_per_lane();
    scaling.record_bytes = operation.record_bytes();
  }
  for (const v1::PhaseReport& phase : report.phases()) {
    Add(report, phase, sweeps[sweep_of_phase[phase.index() % sweep_of_phase.size()]]);
  }
  std::vector<WorkerScaling> scalings;
  for (Sweep& sweep : sweeps) {
    if (sweep.scaling.operation.empty() || sweep.points.size() < 2) continue;
    FillPoints(sweep);
    scalings.push_back(std::move(sweep.scaling));
  }
  return scalings;
}

}  // namespace iobench
