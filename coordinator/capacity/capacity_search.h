// Decides what `capacity` measures next, from what it has measured: the closed loops, then the load curve up to their
// highest rate, then the search for the highest load under an SLO. Pure.
#ifndef COORDINATOR_CAPACITY_CAPACITY_SEARCH_H_
#define COORDINATOR_CAPACITY_CAPACITY_SEARCH_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/analysis/capacity/slo_search.h"
#include "coordinator/capacity/capacity_steps.h"
#include "coordinator/capacity/step_figures.h"

namespace iobench {

struct MeasuredStep {
  CapacityStep step;
  StepFigures figures;
};

// The closed loop with the highest throughput, or the highest sustained load of a mix.
struct HighestRate {
  double ops_per_s = 0;    // median of the repetitions
  double bytes_per_s = 0;  // of the repetition nearest to the median
  double lane_count = 0;   // median of the repetitions: clients may differ in workers
  CapacityStep step;
  std::vector<v1::Limit> limits;  // of the same repetition
  std::vector<ResourceUse> uses;
};

// Not thread-safe. Next() and Note() alternate.
class CapacitySearch {
 public:
  explicit CapacitySearch(const CapacitySettings& settings);

  // Returns the step to measure now, the same until Note(). nullopt: all is measured, or nothing more can be.
  std::optional<CapacityStep> Next() const;
  // Takes the figures of Next()'s step. A lost worker ends the search, since what was measured before is not
  // comparable.
  void Note(const StepFigures& figures);

  const CapacitySettings& settings() const { return settings_; }
  std::span<const MeasuredStep> steps() const { return steps_; }  // in the order of measurement
  const std::optional<HighestRate>& highest() const { return highest_; }
  // The search under the SLO; nullopt: it did not begin.
  const std::optional<SloSearch>& slo_search() const { return slo_search_; }
  // Why the search ended before everything was measured, and what to do; empty: it did not.
  const std::string& ended_early() const { return ended_early_; }

 private:
  void Continue();
  void FindHighest();
  void SearchKeepUp(double lowest_per_s, double most_per_s);
  void EndKeepUp();
  void AddKeptUp();
  void BeginSlo();
  CapacityStep StepOf(const SloProbe& probe, CapacityStep::Kind kind) const;
  void End(std::string why);

  const CapacitySettings settings_;
  std::deque<CapacityStep> waiting_;
  bool planned_curve_ = false;
  std::vector<MeasuredStep> steps_;
  std::optional<HighestRate> highest_;
  std::optional<SloSearch> keep_up_search_;  // for a mix
  bool below_mix_ = false;                   // that search is below the load of the mix itself
  std::optional<SloSearch> slo_search_;
  std::string ended_early_;
};

// The repetitions of one level (or point).
struct LevelFigures {
  CapacityStep step;                            // of the first repetition
  std::vector<const StepFigures*> repetitions;  // in the order of measurement; point into the span
};
// Groups the steps of one kind by level (or point), in the order of clients, lanes or share, without steps in which a
// worker was lost. kLanes includes the level of all clients and all lanes, which is measured once for both sweeps.
std::vector<LevelFigures> LevelsOf(std::span<const MeasuredStep> steps, CapacityStep::Kind kind,
                                   const CapacitySettings& settings);

}  // namespace iobench

#endif  // COORDINATOR_CAPACITY_CAPACITY_SEARCH_H_
