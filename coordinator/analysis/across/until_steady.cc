#include "coordinator/analysis/across/until_steady.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/statistics/steady_state.h"

namespace iobench {
namespace {

SteadyLimits LimitsOf(const v1::Steady& asked) {
  return {.window = asked.window_rounds(),
          .max_range = asked.range_percent() / 100,
          .max_slope = asked.slope_percent() / 100};
}

double HeadlineOf(const v1::PhaseReport& phase) {
  if (!phase.not_whole().empty()) return kNaN;
  return phase.headline_in_ops() ? phase.headline().ops_per_s() : phase.headline().bytes_per_s();
}

}  // namespace

void UpdateSteady(v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  report.clear_steady();
  if (!plan.has_until_steady() || plan.phases().empty()) return;
  const SteadyLimits limits = LimitsOf(plan.until_steady());
  const auto phase_count = static_cast<uint32_t>(plan.phases_size());
  uint32_t end = 0;  // of the indices
  for (const v1::PhaseReport& phase : report.phases()) {
    if (!phase.interrupted()) end = std::max(end, phase.index() + 1);
  }
  const uint32_t rounds = end / phase_count;
  std::vector<std::vector<double>> figures(phase_count, std::vector<double>(rounds, kNaN));
  for (const v1::PhaseReport& phase : report.phases()) {
    if (phase.index() / phase_count < rounds)
      figures[phase.index() % phase_count][phase.index() / phase_count] = HeadlineOf(phase);
  }
  v1::SteadyReport& steady = *report.mutable_steady();
  steady.set_rounds(rounds);
  steady.set_steady(true);
  for (uint32_t place = 0; place < phase_count; ++place) {
    const v1::Phase& planned = plan.phases(static_cast<int>(place));
    v1::SteadyRow& row = *steady.add_rows();
    row.set_name(planned.name());
    row.set_in_ops(HeadlineInOps(planned));
    row.set_first_round(rounds < limits.window ? 1 : rounds - static_cast<uint32_t>(limits.window) + 1);
    const std::optional<SteadyState> state = SteadyStateOf(figures[place], limits);
    row.set_steady(state.has_value() && state->steady);
    row.set_mean(state.has_value() ? state->mean : kNaN);
    row.set_range_percent(state.has_value() ? 100 * state->range : kNaN);
    row.set_slope_percent(state.has_value() ? 100 * state->slope : kNaN);
    row.mutable_rounds()->Assign(figures[place].begin(), figures[place].end());
    steady.set_steady(steady.steady() && row.steady());
  }
}

bool IsInSteadyWindow(const v1::RunReport& report, uint32_t repetition) {
  if (!report.has_steady() || report.steady().rows().empty()) return true;
  const uint32_t round = repetition + 1;
  return round >= report.steady().rows(0).first_round() && round <= report.steady().rounds();
}

}  // namespace iobench
