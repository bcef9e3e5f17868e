#include "coordinator/analysis/compare/verdicts.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace iobench {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

const char* VerdictOn(const v1::RatioEstimate& estimate, Better better, double level, double margin) {
  if (std::isnan(estimate.p())) return kNotShown;
  if (estimate.adjusted_p() <= 1 - level && estimate.ratio() != 1)
    return (estimate.ratio() > 1) == (better == Better::kAbove) ? kBetter : kWorse;
  return estimate.low() >= 1 - margin && estimate.high() <= 1 + margin ? kEqual : kNotShown;
}

}  // namespace

v1::RatioEstimate EstimateFrom(const RatioInterval& interval) {
  v1::RatioEstimate estimate;
  estimate.set_ratio(interval.ratio);
  estimate.set_low(interval.low);
  estimate.set_high(interval.high);
  estimate.set_p(interval.p);
  estimate.set_adjusted_p(kUnknown);
  estimate.set_degrees(interval.degrees);
  return estimate;
}

v1::RatioEstimate UnknownEstimate(double ratio, std::string why) {
  v1::RatioEstimate estimate;
  estimate.set_ratio(ratio);
  estimate.set_low(kUnknown);
  estimate.set_high(kUnknown);
  estimate.set_p(kUnknown);
  estimate.set_adjusted_p(kUnknown);
  estimate.set_degrees(kUnknown);
  estimate.set_why(std::move(why));
  return estimate;
}

void SetFamilyVerdicts(std::span<v1::RatioEstimate* const> family, Better better, double level, double margin) {
  std::vector<double> p_values;
  for (const v1::RatioEstimate* const estimate : family) p_values.push_back(estimate->p());
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  for (size_t i = 0; i < family.size(); ++i) {
    family[i]->set_adjusted_p(adjusted[i]);
    family[i]->set_verdict(VerdictOn(*family[i], better, level, margin));
  }
}

const char* VerdictOnBoth(const v1::RatioEstimate& rate, const v1::RatioEstimate& latency) {
  const auto either = [&](const char* verdict) { return rate.verdict() == verdict || latency.verdict() == verdict; };
  if (either(kWorse)) return kWorse;
  if (either(kBetter)) return kBetter;
  if (!latency.why().empty()) return rate.verdict() == kEqual ? kEqual : kNotShown;
  return either(kNotShown) ? kNotShown : kEqual;
}

std::vector<const char*> LimitVerdicts(std::span<const std::optional<RatioInterval>> rates,
                                       std::span<const std::optional<RatioInterval>> latencies, double limit,
                                       double level) {
  std::vector<double> below, not_below;
  for (const auto& rate : rates) {
    below.push_back(rate.has_value() ? 2 * TailBelow(*rate, limit) : kUnknown);
    not_below.push_back(rate.has_value() ? 2 * TailAbove(*rate, limit) : kUnknown);
  }
  for (const auto& latency : latencies)
    below.push_back(latency.has_value() ? 2 * TailAbove(*latency, 1 / limit) : kUnknown);
  below = HolmAdjusted(below);
  not_below = HolmAdjusted(not_below);
  std::vector<const char*> verdicts;
  const double alpha = 1 - level;  // NaN is above it
  for (size_t i = 0; i < rates.size(); ++i) {
    const bool is_below = below[i] <= alpha || below[rates.size() + i] <= alpha;
    verdicts.push_back(is_below ? kBelowLimit : not_below[i] <= alpha ? kNotBelowLimit : kInconclusive);
  }
  return verdicts;
}

void CountLimitVerdict(const std::string& verdict, v1::Gate& gate) {
  if (verdict == kBelowLimit) gate.set_below(gate.below() + 1);
  if (verdict == kNotBelowLimit) gate.set_not_below(gate.not_below() + 1);
  if (verdict == kInconclusive) gate.set_inconclusive(gate.inconclusive() + 1);
}

}  // namespace iobench
