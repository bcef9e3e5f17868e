#include "coordinator/analysis/per_client.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/phase/spread.h"
#include "coordinator/analysis/statistics/median.h"

namespace iobench {
namespace {

// The rates of the workers in the window of the phase's headline, by their numbers.
std::unordered_map<uint32_t, double> RatesOfWorkers(const v1::PhaseReport& phase) {
  std::unordered_map<uint32_t, double> rates;
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    for (const v1::WorkerPhaseReport& worker : client.workers()) {
      rates[worker.worker()] = phase.headline_in_ops() ? worker.ops_per_s() : worker.bytes_per_s();
    }
  }
  return rates;
}

// The workers of a phase that one client does alone.
std::set<uint32_t> WorkersOfClient(const v1::Phase& planned) {
  std::set<uint32_t> workers;
  for (const v1::Assignment& assignment : planned.assignments()) {
    workers.insert(assignment.who().workers().begin(), assignment.who().workers().end());
  }
  return workers;
}

v1::PerClientReport* ReportOn(const std::string& phase, v1::RunReport& report) {
  for (v1::PerClientReport& each : *report.mutable_per_client()) {
    if (each.phase() == phase) return &each;
  }
  return nullptr;
}

v1::PerClientRow* RowOf(const std::string& client, v1::PerClientReport& report) {
  for (v1::PerClientRow& row : *report.mutable_clients()) {
    if (row.client() == client) return &row;
  }
  return nullptr;
}

// The median of the values without one of those that equal `value`; if it is not among them (NaN), of all.
double MedianWithout(double value, const std::vector<double>& sorted) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (found == sorted.end() || *found != value) return MedianOf(sorted);
  const size_t without = static_cast<size_t>(found - sorted.begin()), count = sorted.size() - 1;
  if (count == 0) return kNaN;
  const auto at = [&](size_t i) { return sorted[i < without ? i : i + 1]; };
  return (at((count - 1) / 2) + at(count / 2)) / 2;
}

void UpdateTogether(const v1::Plan& plan, const v1::PhaseReport& phase, v1::PerClientReport& report) {
  std::unordered_map<std::string, v1::PerClientRow*> row_of;
  for (v1::PerClientRow& row : *report.mutable_clients()) row_of.emplace(row.client(), &row);
  const std::unordered_map<uint32_t, double> rates = RatesOfWorkers(phase);
  uint32_t count = 0;
  for (const v1::Phase& planned : plan.phases()) {
    if (planned.alone().phase() != report.phase()) continue;
    const auto found = row_of.find(planned.alone().client());
    if (found == row_of.end()) continue;
    v1::PerClientRow* const row = found->second;
    count = row->together_count();
    double rate = 0;
    for (const uint32_t worker : WorkersOfClient(planned)) {
      if (const auto own = rates.find(worker); own != rates.end()) rate += own->second;
    }
    row->set_together(MeanWith(row->together(), count, rate));
    row->set_together_count(count + 1);
  }
  report.set_together(MeanWith(report.together(), count, HeadlineRate(phase)));
}

}  // namespace

void BeginPerClient(v1::RunReport& report) {
  report.clear_per_client();
  for (const v1::Phase& planned : report.run().plan().phases()) {
    if (!planned.has_alone()) continue;
    v1::PerClientReport* of_phase = ReportOn(planned.alone().phase(), report);
    if (of_phase == nullptr) {
      of_phase = report.add_per_client();
      of_phase->set_phase(planned.alone().phase());
      of_phase->set_together(kNaN);
    }
    v1::PerClientRow& row = *of_phase->add_clients();
    row.set_client(planned.alone().client());
    row.set_alone(kNaN);
    row.set_together(kNaN);
  }
  for (v1::PerClientReport& of_phase : *report.mutable_per_client()) JudgeClients(of_phase);
}

void UpdatePerClient(const v1::PhaseReport& phase, v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  if (report.per_client().empty() || plan.phases().empty()) return;
  const v1::Phase& planned = *PlannedPhase(plan, phase);
  v1::PerClientReport* const mine =
      ReportOn(planned.has_alone() ? planned.alone().phase() : planned.name(), report);
  if (mine == nullptr) return;
  mine->set_in_ops(phase.headline_in_ops());
  if (!phase.not_whole().empty()) return;
  if (!std::isfinite(HeadlineRate(phase))) return;
  if (!planned.has_alone()) {
    UpdateTogether(plan, phase, *mine);
  } else if (v1::PerClientRow* const row = RowOf(planned.alone().client(), *mine); row != nullptr) {
    row->set_alone(MeanWith(row->alone(), row->alone_count(), HeadlineRate(phase)));
    row->set_alone_count(row->alone_count() + 1);
  }
  JudgeClients(*mine);
}

void JudgeClients(v1::PerClientReport& report) {
  std::vector<double> alone;
  double together_sum = 0, together_min = kNaN;
  size_t together_count = 0;
  for (const v1::PerClientRow& row : report.clients()) {
    if (std::isfinite(row.alone())) alone.push_back(row.alone());
    if (!std::isfinite(row.together())) continue;
    together_sum += row.together();
    together_min = std::fmin(together_min, row.together());
    ++together_count;
  }
  double sum_alone = 0;
  for (const double rate : alone) sum_alone += rate;
  const bool all = alone.size() == static_cast<size_t>(report.clients_size());
  report.set_median_alone(MedianOf(alone));
  report.set_sum_alone(all ? sum_alone : kNaN);
  report.set_scaling(all && sum_alone > 0 ? report.together() / sum_alone : kNaN);
  report.set_fairness(together_sum > 0 ? together_min / (together_sum / static_cast<double>(together_count))
                                       : kNaN);
  std::sort(alone.begin(), alone.end());
  for (v1::PerClientRow& row : *report.mutable_clients()) {
    const double median = MedianWithout(row.alone(), alone);
    row.set_of_others(median > 0 ? row.alone() / median : kNaN);
    row.set_outlier(row.of_others() < kOutlierShare);  // false for NaN
  }
}

}  // namespace iobench
