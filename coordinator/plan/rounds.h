// What the plan of a run in rounds must and may hold: a soak (--soak, soak.cc), or one until its figures are steady (--until
// steady, until_steady.cc).
#ifndef COORDINATOR_PLAN_ROUNDS_H_
#define COORDINATOR_PLAN_ROUNDS_H_

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

// Writes out the limits of --until steady that the plan leaves to the default: those of SNIA's specification.
void CompleteSteady(v1::Steady& steady);

// InvalidArgument: the plan's limits are none, or its phases cannot be repeated in rounds. OK without until_steady.
absl::Status CheckUntilSteady(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_ROUNDS_H_
