#include "coordinator/plan/rounds.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"

namespace iobench {
namespace {

constexpr double kShortestSoakPhaseSeconds = 1;
constexpr double kLongestSoakSeconds = 1e7;

}  // namespace

double SoakPhaseSeconds(const v1::Plan& plan) {
  return std::max(kShortestSoakPhaseSeconds, plan.soak_s() / kDefaultSoakRounds / plan.phases_size());
}

void FitToSoak(v1::Plan& plan) {
  if (WorksOnData(plan) && !plan.data().has_verify()) plan.mutable_data()->set_verify(true);
  for (v1::Phase& phase : *plan.mutable_phases()) {
    v1::StopRule& stop = *phase.mutable_stop();
    if (!stop.has_max_errors()) stop.set_max_errors(std::numeric_limits<uint64_t>::max());
  }
}

absl::Status CheckSoak(const v1::Plan& plan) {
  if (plan.soak_s() == 0) return absl::OkStatus();
  if (!(plan.soak_s() > 0) || plan.soak_s() > kLongestSoakSeconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("the time of --soak (soak_s), ", plan.soak_s(), " s, is not between 0 and 10^7 s"));
  }
  if (plan.repetitions() > 1) {
    return absl::InvalidArgumentError(
        "--soak (soak_s) repeats all phases until its time is over, so --repeat (repetitions) has no meaning: use only one");
  }
  for (const v1::Phase& phase : plan.phases()) {
    if (!phase.background() && !phase.has_interference() && !phase.has_alone() && !plan.per_client())
      continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "phase ", phase.name(),
        ": --soak (soak_s) cannot be combined with --background or --per-client, which compare clients"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
