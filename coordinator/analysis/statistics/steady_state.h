// Whether successive rounds of a measurement have settled, by the rule of SNIA's Performance Test Specification. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_STEADY_STATE_H_
#define COORDINATOR_ANALYSIS_STATISTICS_STEADY_STATE_H_

#include <cstddef>
#include <optional>
#include <span>

namespace iobench {

// SNIA Solid State Storage Performance Test Specification 2.0.2, 2.1.24. A figure on a limit is steady.
struct SteadyLimits {
  size_t window = 5;        // rounds
  double max_range = 0.20;  // of the window's mean
  double max_slope = 0.10;  // of the window's mean
};

struct SteadyState {
  bool steady = false;
  double mean = 0;   // of the window
  double range = 0;  // (max - min) / mean
  double slope = 0;  // rise of the least-squares line over the window, from its first round to its last, / mean
};

// Judges the last rounds, as many as the window has. nullopt: there are fewer, a figure is not finite, or their mean is not
// positive. Throughput and p99 latency are judged separately. REQUIRES: the window has two rounds or more.
std::optional<SteadyState> SteadyStateOf(std::span<const double> rounds, const SteadyLimits& limits = {});

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_STEADY_STATE_H_
