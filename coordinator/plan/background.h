// Loads that some clients keep up while the others are measured (--background).
#ifndef COORDINATOR_PLAN_BACKGROUND_H_
#define COORDINATOR_PLAN_BACKGROUND_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "coordinator/options/option.h"
#include "coordinator/plan/phase_list.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// --background: adds a phase for each load (Phase.background). Its record size, unless the load has one, is that of the
// first phase that has records, or 64 KiB. InvalidArgument or NotFound: an unknown operation, a wrong size, or a plan
// file that cannot be read.
absl::Status AddBackground(const GivenOptions& given, uint64_t drawn_seed, v1::Plan& plan);

// Removes from the loads what options such as --rate and --think have set, since these are meant for the victims.
// `before`: the plan before options were applied, with the same phases.
void KeepPaceOfBackground(const v1::Plan& before, v1::Plan& plan);

// InvalidArgument: with a load, victims have nothing to do, a phase has no time limit (so the load could end before
// it), selects a target or files of other clients, or a load has several assignments. OK without a load.
absl::Status CheckBackground(const v1::Plan& plan);

// Replaces each phase by that phase with the victims undisturbed, and with the victims beside each load, which the last
// background_clients of `clients` keep up (Phase.interference); removes the loads and background_clients, so that the
// plan repeats the run. `by_worker`: `clients` are the workers of a single client. InvalidArgument: too few clients.
// REQUIRES: CheckBackground, and the plan has a load.
absl::Status SetBesideBackground(std::span<const WorkersOfClient> clients, bool by_worker, v1::Plan& plan);

// True if the plan has a load that has not yet been put beside its phases.
bool HasBackground(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_BACKGROUND_H_
