// The phases that a plan lists: as often as it repeats them, in rounds for as long as a soak lasts, or until their figures
// are steady.
#ifndef COORDINATOR_CONDUCT_PLAN_PHASES_H_
#define COORDINATOR_CONDUCT_PLAN_PHASES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "coordinator/conduct/phase_source.h"
#include "coordinator/saved_run/run_part.h"

namespace iobench {

// Returns the source of the plan's phases that are part of `part`; the others were run by an earlier part of the run.
std::unique_ptr<PhaseSource> SourceOf(const v1::Plan& plan, const RunPart& part = {});

// All repetitions of the plan. With --until steady these are rounds, of which none begins once the phases are steady.
class PlanPhases final : public PhaseSource {
 public:
  explicit PlanPhases(const RunPart& part = {})
      : again_(part.again.begin(), part.again.end()), next_(part.first_phase) {}
  absl::StatusOr<std::optional<NextPhase>> Next(const PhasesSoFar& so_far) override;

 private:
  std::deque<uint32_t> again_;
  uint32_t next_;  // after those of again_
};

// --soak: rounds of all phases until the time is over. They are spaced so that not too many results are saved.
class SoakRounds final : public PhaseSource {
 public:
  explicit SoakRounds(uint32_t first_phase = 0) : next_(first_phase) {}
  // Errors: those of Cluster::WaitUntil.
  absl::StatusOr<std::optional<NextPhase>> Next(const PhasesSoFar& so_far) override;

 private:
  uint32_t next_;                  // index in the run
  std::optional<uint32_t> round_;  // that has begun
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_PLAN_PHASES_H_
