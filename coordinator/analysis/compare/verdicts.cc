#include "coordinator/analysis/compare/verdicts.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace iobench {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

const char* VerdictOn(const v1::RatioEstimate& estimate, Better better, double level) {
  if (std::isnan(estimate.p())) return kCannotTell;
  if (estimate.adjusted_p() > 1 - level || estimate.ratio() == 1) return kNoDifference;
  return (estimate.ratio() > 1) == (better == Better::kAbove) ? kBetter : kWorse;
}

}  // namespace

v1::RatioEstimate EstimateFrom(const RatioInterval& interval) {
  v1::RatioEstimate estimate;
  estimate.set_ratio(interval.ratio);
  estimate.set_low(interval.low);
  estimate.set_high(interval.high);
  estimate.set_p(interval.p);
  estimate.set_adjusted_p(kUnknown);
  return estimate;
}

v1::RatioEstimate UnknownEstimate(double ratio, std::string why) {
  v1::RatioEstimate estimate;
  estimate.set_ratio(ratio);
  estimate.set_low(kUnknown);
  estimate.set_high(kUnknown);
  estimate.set_p(kUnknown);
  estimate.set_adjusted_p(kUnknown);
  estimate.set_why(std::move(why));
  return estimate;
}

void SetFamilyVerdicts(std::span<v1::RatioEstimate* const> family, Better better, double level) {
  std::vector<double> p_values;
  for (const v1::RatioEstimate* const estimate : family) p_values.push_back(estimate->p());
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  for (size_t i = 0; i < family.size(); ++i) {
    family[i]->set_adjusted_p(adjusted[i]);
    family[i]->set_verdict(VerdictOn(*family[i], better, level));
  }
}

const char* LimitVerdict(double adjusted_p, double level) {
  if (std::isnan(adjusted_p)) return kCannotTell;
  return adjusted_p <= 1 - level ? kBelowLimit : kNotBelowLimit;
}

void CountLimitVerdict(const std::string& verdict, v1::Gate& gate) {
  if (verdict == kBelowLimit) gate.set_below(gate.below() + 1);
  if (verdict == kNotBelowLimit) gate.set_not_below(gate.not_below() + 1);
  if (verdict == kCannotTell) gate.set_cannot_tell(gate.cannot_tell() + 1);
}

}  // namespace iobench
