// How the conductor spends the time of a run: the rounds of a soak, and --max-duration.
#include <optional>

#include "common/model/plan_traits.h"
#include "coordinator/preflight/time_estimate.h"
#include "coordinator/conduct/conductor.h"
#include "coordinator/saved_run/resume_point.h"

namespace iobench {

// Whether the list of phases is run once more. A soak spaces its rounds so that not too many results are saved.
absl::StatusOr<bool> Conductor::BeginsRound(CoordTime begin, uint32_t repetition) {
  const double soak_s = plan_.soak_s();
  if (!(soak_s > 0)) return repetition < plan_.repetitions();
  if (repetition == 0) return true;
  if (report().soak().begin_coord_ns() > 0)
    begin = {report().soak().begin_coord_ns()};  // files were prepared before
  const CoordTime earliest = begin + NanosFrom(soak_s * repetition / kMaxSoakRounds);
  if (cluster_.Now() < earliest) {
    // Handles and drops events of workers meanwhile, so that lost workers are noticed.
    const absl::Status waited = cluster_.WaitUntil([] { return false; }, {.deadline = earliest});
    if (!absl::IsDeadlineExceeded(waited)) return waited;
  }
  return SecondsFrom(cluster_.Now() - begin) < soak_s;
}

// False: --max-duration leaves no time for the phase. Otherwise `fitted` is the phase, limited to the time that is
// left.
bool Conductor::HasTimeFor(const v1::Phase& phase, CoordTime begin, v1::Phase& fitted) {
  fitted = phase;
  if (options_.max_duration_s <= 0) return true;
  const double left_s = options_.max_duration_s - SecondsFrom(cluster_.Now() - begin);
  // A phase that needs less time than the first that was skipped does not run either: a resumed run goes on at a
  // position in the plan.
  const bool is_over = !record_.skipped_phases().empty();
  const std::optional<FittedPhase> fits = is_over ? std::nullopt : FitInto(phase, left_s);
  if (!fits.has_value()) {
    record_.add_skipped_phases(phase.name());
    return false;
  }
  fitted = fits->phase;
  return true;
}

// When --max-duration is over.
CoordTime Conductor::EndOfDuration(CoordTime begin) const {
  const bool is_limited = options_.max_duration_s > 0;
  return is_limited ? begin + NanosFrom(options_.max_duration_s) : CoordTime{INT64_MAX};
}

// What is left to do after a phase of the plan. Phases that depend on what others measure are like those of the plan.
LaterNeeds Conductor::NeedsAfter(const Layout& layout, int place, uint32_t repetition) const {
  const bool again = plan_.soak_s() > 0 || repetition + 1 < plan_.repetitions() || options_.next_phase != nullptr;
  return LaterNeedsOf(plan_, layout, place, again);
}

void Conductor::RecordIfShortened(const v1::Phase& phase, const v1::PhaseRecord& record) {
  if (WasShortened(phase, record)) record_.add_shortened_phases(phase.name());
}

}  // namespace iobench
