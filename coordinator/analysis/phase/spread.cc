#include "coordinator/analysis/phase/spread.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/not_a_number.h"
#include "coordinator/analysis/statistics/median.h"

namespace iobench {
v1::Spread SpreadOf(std::span<const double> rates) {
  v1::Spread spread;
  if (rates.empty() ||
      std::any_of(rates.begin(), rates.end(), [](double rate) { return std::isnan(rate); })) {
    spread.set_mean(kNaN);
    spread.set_min(kNaN);
    spread.set_max(kNaN);
    spread.set_cov(kNaN);
    spread.set_jain(kNaN);
    return spread;
  }
  const double n = static_cast<double>(rates.size());
  double sum = 0, squares = 0;
  for (const double rate : rates) {
    sum += rate;
    squares += rate * rate;
  }
  const double mean = sum / n;
  double deviations = 0;  // a second pass: squares/n - mean^2 loses all digits if lanes are even
  for (const double rate : rates) deviations += (rate - mean) * (rate - mean);
  const auto [min, max] = std::minmax_element(rates.begin(), rates.end());
  spread.set_mean(mean);
  spread.set_min(*min);
  spread.set_max(*max);
  spread.set_cov(mean > 0 ? std::sqrt(deviations / n) / mean : kNaN);
  spread.set_jain(squares > 0 ? sum * sum / (n * squares) : kNaN);
  return spread;
}

std::vector<Straggler> StragglersOf(std::span<const double> rates) {
  std::vector<Straggler> stragglers;
  const double median = MedianOf(rates);
  for (size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] < kStragglerShare * median) stragglers.push_back({i, 1 - rates[i] / median});
  }
  std::stable_sort(stragglers.begin(), stragglers.end(),
                   [](const Straggler& a, const Straggler& b) { return a.under_median > b.under_median; });
  return stragglers;
}

}  // namespace iobench
