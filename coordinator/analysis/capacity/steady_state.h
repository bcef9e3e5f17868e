// Whether successive rounds of a measurement have settled, by the rule of SNIA's Performance Test Specification. Pure.
#ifndef COORDINATOR_ANALYSIS_CAPACITY_STEADY_STATE_H_
#define COORDINATOR_ANALYSIS_CAPACITY_STEADY_STATE_H_

#include <cstddef>
#include <optional>
#include <span>

namespace iobench {

inline constexpr size_t kSteadyRounds = 5;          // in the window
inline constexpr double kMaxDataExcursion = 0.20;   // of the window's mean
inline constexpr double kMaxSlopeExcursion = 0.10;  // of the window's mean

struct SteadyState {
  bool steady = false;
  double mean = 0;             // of the window
  double data_excursion = 0;   // (max - min) / mean
  double slope_excursion = 0;  // rise or fall of the least-squares line over the window, / mean
};

// Judges the last kSteadyRounds of the rounds. nullopt: there are fewer, a figure is not finite, or their mean is not
// positive. Throughput and p99 latency are judged separately.
std::optional<SteadyState> SteadyStateOf(std::span<const double> rounds);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CAPACITY_STEADY_STATE_H_
