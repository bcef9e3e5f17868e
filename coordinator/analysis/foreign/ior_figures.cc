#include "coordinator/analysis/foreign/ior_figures.h"

#include <algorithm>
#include <cmath>

#include "common/model/plan_traits.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/across/repeat.h"

namespace iobench {
namespace {

template <typename Figure>
OverRepetitions Over(const std::vector<const v1::PhaseReport*>& phases, Figure figure) {
  std::vector<double> values;
  for (const v1::PhaseReport* phase : phases) {
    const double value = figure(*phase);
    if (phase->not_whole().empty() && std::isfinite(value)) values.push_back(value);
  }
  OverRepetitions over;
  if (values.empty()) return over;
  const v1::RepetitionReport found = RepetitionsOf(values);
  over = {.count = found.count(), .max = found.max(), .min = found.min(), .mean = found.mean()};
  if (std::isfinite(found.stddev())) over.stddev = found.stddev();
  return over;
}

}  // namespace

std::vector<RepeatedPhase> RepeatedPhasesOf(const v1::RunReport& report) {
  std::vector<RepeatedPhase> phases;
  for (const v1::PhaseReport& phase : report.phases()) {
    const v1::Phase* const planned = PlannedPhase(report.run().plan(), phase);
    if (planned != nullptr && DividesClients(*planned)) continue;
    auto known = std::find_if(phases.begin(), phases.end(), [&](const RepeatedPhase& other) {
      return other.first().name() == phase.name() && other.first().operation() == phase.operation() &&
             other.repetitions.back()->repetition() < phase.repetition();
    });
    if (known == phases.end()) known = phases.insert(known, RepeatedPhase());
    known->repetitions.push_back(&phase);
  }
  for (RepeatedPhase& each : phases) {
    each.bytes_per_s = Over(each.repetitions, [](const auto& phase) { return phase.headline().bytes_per_s(); });
    each.ops_per_s = Over(each.repetitions, [](const auto& phase) { return phase.headline().ops_per_s(); });
    each.seconds = Over(each.repetitions, [](const auto& phase) { return phase.duration_s(); });
    each.tasks = each.first().lane_count();
    each.tasks_per_client = each.tasks / static_cast<uint32_t>(std::max(1, each.first().clients_size()));
    each.all_bytes = FileBytesPerLane(each.first()) * each.tasks;
  }
  return phases;
}

}  // namespace iobench
