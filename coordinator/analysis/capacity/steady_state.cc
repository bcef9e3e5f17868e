#include "coordinator/analysis/capacity/steady_state.h"

#include <algorithm>
#include <cmath>

namespace iobench {

std::optional<SteadyState> SteadyStateOf(std::span<const double> rounds) {
  if (rounds.size() < kSteadyRounds) return std::nullopt;
  const std::span<const double> window = rounds.last(kSteadyRounds);
  constexpr double kMiddle = (kSteadyRounds - 1) / 2.0;
  double sum = 0, rise = 0, squares = 0;
  for (size_t i = 0; i < kSteadyRounds; ++i) {
    const double from_middle = static_cast<double>(i) - kMiddle;
    sum += window[i];
    rise += from_middle * window[i];
    squares += from_middle * from_middle;
  }
  const double mean = sum / kSteadyRounds;
  if (!std::isfinite(mean) || mean <= 0) return std::nullopt;
  const auto [min, max] = std::minmax_element(window.begin(), window.end());
  SteadyState state = {.mean = mean,
                       .data_excursion = (*max - *min) / mean,
                       .slope_excursion = std::abs(rise / squares) * (kSteadyRounds - 1) / mean};
  // Rounds of 90, 100 and 110 are exactly 20 % apart; rounding must not decide.
  constexpr double kRounding = 1e-12;
  state.steady = state.data_excursion <= kMaxDataExcursion + kRounding &&
                 state.slope_excursion <= kMaxSlopeExcursion + kRounding;
  return state;
}

}  // namespace iobench
