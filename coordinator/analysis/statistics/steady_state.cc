#include "coordinator/analysis/statistics/steady_state.h"

#include <algorithm>
#include <cmath>

namespace iobench {

std::optional<SteadyState> SteadyStateOf(std::span<const double> rounds, const SteadyLimits& limits) {
  if (rounds.size() < limits.window) return std::nullopt;
  const std::span<const double> window = rounds.last(limits.window);
  const double last = static_cast<double>(limits.window - 1);
  double sum = 0, rise = 0, squares = 0;
  for (size_t i = 0; i < window.size(); ++i) {
    const double from_middle = static_cast<double>(i) - last / 2;
    sum += window[i];
    rise += from_middle * window[i];
    squares += from_middle * from_middle;
  }
  const double mean = sum / static_cast<double>(limits.window);
  if (!std::isfinite(mean) || mean <= 0) return std::nullopt;
  const auto [min, max] = std::minmax_element(window.begin(), window.end());
  SteadyState state = {.mean = mean, .range = (*max - *min) / mean, .slope = rise / squares * last / mean};
  // Rounds of 90, 100 and 110 are exactly 20 % apart; rounding must not decide.
  constexpr double kRounding = 1e-12;
  state.steady =
      state.range <= limits.max_range + kRounding && std::abs(state.slope) <= limits.max_slope + kRounding;
  return state;
}

}  // namespace iobench
