#include "coordinator/conduct/plan_phases.h"

#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// Whether the soak lasts for one more round.
absl::StatusOr<bool> BeginsRound(const PhasesSoFar& so_far, uint32_t round) {
  if (round == 0) return true;
  const double soak_s = so_far.plan.soak_s();
  CoordTime begin = so_far.begin;
  // Files were prepared before.
  if (so_far.report.soak().begin_coord_ns() > 0) begin = {so_far.report.soak().begin_coord_ns()};
  const CoordTime earliest = begin + NanosFrom(soak_s * round / kMaxSoakRounds);
  if (so_far.cluster.Now() < earliest) {
    // Handles and drops events of workers meanwhile, so that lost workers are noticed.
    const absl::Status waited = so_far.cluster.WaitUntil([] { return false; }, {.deadline = earliest});
    if (!absl::IsDeadlineExceeded(waited)) return waited;
  }
  return SecondsFrom(so_far.cluster.Now() - begin) < soak_s;
}

// --until steady: the report has the rounds before, which are the last of these.
bool IsSteadyAfter(uint32_t rounds, const v1::RunReport& report) {
  return report.has_steady() && report.steady().rounds() == rounds && report.steady().steady();
}

}  // namespace

std::unique_ptr<PhaseSource> SourceOf(const v1::Plan& plan, const RunPart& part) {
  if (plan.soak_s() > 0) return std::make_unique<SoakRounds>(part.first_phase);
  return std::make_unique<PlanPhases>(part);
}

absl::StatusOr<std::optional<NextPhase>> PlanPhases::Next(const PhasesSoFar& so_far) {
  const auto phases = static_cast<uint32_t>(so_far.plan.phases_size());
  const uint32_t repetitions = MostRepetitions(so_far.plan), count = phases * repetitions;
  uint32_t index = next_;
  if (!again_.empty()) {
    index = again_.front();
    again_.pop_front();
  } else {
    if (phases > 0 && next_ % phases == 0 && IsSteadyAfter(next_ / phases, so_far.report)) return std::nullopt;
    ++next_;
  }
  if (index >= count) return std::nullopt;
  const uint32_t repetition = index / phases;
  return NextPhase{.place = static_cast<int>(index % phases),
                   .index = index,
                   .added = {},
                   .repetition = repetition,
                   .phase_count = count,
                   .goes_on = repetition + 1 < repetitions};
}

absl::StatusOr<std::optional<NextPhase>> SoakRounds::Next(const PhasesSoFar& so_far) {
  const auto phases = static_cast<uint32_t>(so_far.plan.phases_size());
  if (phases == 0) return std::nullopt;
  const uint32_t round = next_ / phases;
  if (round_ != round) {
    IOBENCH_ASSIGN_OR_RETURN(const bool begins, BeginsRound(so_far, round));
    if (!begins) return std::nullopt;
    round_ = round;
  }
  return NextPhase{.place = static_cast<int>(next_++ % phases),
                   .index = {},
                   .added = {},
                   .repetition = round,
                   .phase_count = phases * (round + 1),
                   .goes_on = true};
}

}  // namespace iobench
