// What the plan of a soak (--soak) must and may hold.
#ifndef COORDINATOR_PLAN_SOAK_H_
#define COORDINATOR_PLAN_SOAK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Completes the plan of a soak (--soak): data are verified, and lanes continue after any number of errors, unless the
// plan limits them.
void FitToSoak(v1::Plan& plan);

// How long a phase of a soak loops over its records, unless the user says: such that about kDefaultSoakRounds rounds
// take the whole time, but at least a second. REQUIRES: the plan is a soak and has phases.
inline constexpr uint32_t kDefaultSoakRounds = 300;
double SoakPhaseSeconds(const v1::Plan& plan);

// InvalidArgument: the plan's soak_s is not a time, or its phases cannot be repeated in rounds. OK without a soak.
absl::Status CheckSoak(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_SOAK_H_
