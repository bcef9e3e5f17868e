// The levels of a rate over time, and when it went from one to the next. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_LEVELS_H_
#define COORDINATOR_ANALYSIS_STATISTICS_LEVELS_H_

#include <span>
#include <vector>

namespace iobench {

// docs/definitions.md, "Changes of the rate", defines the method.

// A change counts if one level is at least this many times the other.
inline constexpr double kLeastLevelRatio = 1.25;

struct LevelChange {
  double at = 0;    // counted in rates from the first one; rarely whole
  double low = 0;   // it happened between low …
  double high = 0;  // … and high
  double before = 0;  // mean of the level that ends here
  double after = 0;   // mean of the level that begins here
};

// The instants at which the level changed at once and stayed changed, in the order of time. `rates`: means over equal
// times; `ops_per_rate`: of how many ops each is, on the average. Few ops are taken together, so that a single slow one is
// no level.
std::vector<LevelChange> LevelChangesOf(std::span<const double> rates, double ops_per_rate);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_LEVELS_H_
