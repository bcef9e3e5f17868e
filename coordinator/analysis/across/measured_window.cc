#include "coordinator/analysis/across/measured_window.h"

#include <algorithm>

#include "common/model/plan_traits.h"

namespace iobench {
namespace {

double WarmupSeconds(const v1::Plan& plan, const v1::PhaseReport& phase) {
  const v1::Phase* const planned = PlannedPhase(plan, phase);
  return planned == nullptr ? 0 : planned->stop().warmup_s();
}

}  // namespace

double HeadlineSeconds(const v1::PhaseReport& phase) {
  return phase.headline_s() > 0 ? phase.headline_s() : phase.duration_s();
}

MeasuredTime TimeOfLatencies(const v1::Plan& plan, const v1::PhaseReport& phase) {
  const double begin_s = WarmupSeconds(plan, phase);
  return {.begin_s = begin_s, .seconds = std::max(0.0, phase.duration_s() - begin_s)};
}

std::vector<double> MeasuredSlices(const v1::Plan& plan, const v1::PhaseReport& phase,
                                   const google::protobuf::RepeatedField<double>& rates) {
  const double slice_s = phase.charts().slice_s();
  if (!(slice_s > 0)) return {};
  const double begin_s = WarmupSeconds(plan, phase);
  double end_s = begin_s + HeadlineSeconds(phase);
  // Flushes follow the ops: up to where there are any depends on what the headline counts.
  if (phase.headline().name() != "full" && phase.stonewall().at_s() > 0)
    end_s = std::min(end_s, phase.stonewall().at_s());
  const double ops_s = phase.regions_max_s().ops();
  if (phase.headline().name() == "full" && ops_s > 0) end_s = std::min(end_s, ops_s);
  constexpr double kRounding = 1e-6;
  std::vector<double> measured;
  for (int i = 0; i < rates.size(); ++i) {
    const double from_s = i * slice_s, to_s = from_s + slice_s;
    if (from_s >= begin_s - kRounding && to_s <= end_s * (1 + kRounding)) measured.push_back(rates[i]);
  }
  return measured;
}

}  // namespace iobench
