// Creates the list of phases that the options request: operations x sizes x records x lanes, each with a unique name.
#ifndef COORDINATOR_PLAN_PHASE_LIST_H_
#define COORDINATOR_PLAN_PHASE_LIST_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/model/operation.h"
#include "coordinator/option/option.h"
#include "coordinator/plan/plan_builder.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Fills in lanes, sizes, and phases with names, operations, records and steps. Options that set other fields are
// applied later. InvalidArgument: an unknown operation, or sizes that leave no phase.
absl::Status ListPhases(const GivenOptions& given, const PlanContext& context, v1::Plan& plan);

// The same for --mix: lanes, sizes and one phase, whose workers are spread over its assignments when they have joined
// (mix/phase_of_mix.h). Errors of FindMix and PhaseOfMix.
absl::Status ListMix(const GivenOptions& given, const PlanContext& context, v1::Plan& plan);

// Removes operations that the selected engine does not support, unless the user named them, as in --background.
// REQUIRES: all fields are set.
void LeaveOutWhatTheEngineCannot(const GivenOptions& given, v1::Plan& plan);

// True if the options' "lanes" are processes as in IOzone, that is, workers of one lane each: -t, -l and -u with a
// client list; -l and -u in a run with several workers.
bool LanesAreWorkers(const GivenOptions& given, const PlanContext& context);

// Converts the plan's lanes per worker into workers of one lane each; each phase selects as many as it needs, from the
// first. `worker_count`: of the run; 0: unknown.
void LanesBecomeWorkers(uint32_t worker_count, v1::Plan& plan);

// A client of a run with --per-client; if there is only one client, each of its workers counts as one.
struct WorkersOfClient {
  std::string name;  // for display; no two are equal
  std::vector<uint32_t> workers;
};

// --per-client: inserts before each phase the same phase by each client alone (Phase.alone), with those of its workers
// that the phase selects, and clears per_client, so that the plan repeats the run. A phase by the workers of one client
// stays as it is.
void LetEachClientWorkAlone(std::span<const WorkersOfClient> clients, v1::Plan& plan);

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

// Checks --server-path. InvalidArgument: the servers cannot do what the plan's phases do. OK without it.
absl::Status CheckServerPath(const v1::Plan& plan);

// Repeats the clients' phases, after all of them, as done by the servers (Phase.on_servers), without steps that concern
// clients; the clients' phases select their own workers, those below client_workers. The servers' counterpart of worker
// w is worker client_workers + w. Does nothing if the plan has such phases.
void AddServerPhases(uint32_t client_workers, uint32_t servers, v1::Plan& plan);

// Adds a target at server_path for each server, and fixes the workers of the other targets to those that they have now.
// REQUIRES: no such targets.
void SetServerTargets(std::span<const std::vector<uint32_t>> workers_of_server, uint32_t client_workers,
                      v1::Plan& plan);

// Removes the targets of SetServerTargets.
void RemoveServerTargets(v1::Plan& plan);

// Completes the plan of a soak (--soak): data are verified, and lanes continue after any number of errors, unless the
// plan limits them.
void FitToSoak(v1::Plan& plan);

// How long a phase of a soak loops over its records, unless the user says: such that about kDefaultSoakRounds rounds
// take the whole time, but at least a second. REQUIRES: the plan is a soak and has phases.
inline constexpr uint32_t kDefaultSoakRounds = 300;
double SoakPhaseSeconds(const v1::Plan& plan);

// InvalidArgument: the plan's soak_s is not a time, or its phases cannot be repeated in rounds. OK without a soak.
absl::Status CheckSoak(const v1::Plan& plan);

// Returns an operation with the default tree, if it has one, and other fields unset.
v1::Operation OperationOf(const OperationSpec& spec, uint64_t record_bytes, uint32_t stride_records);

// Returns the phase with these workers only. It has no assignments if it selects none of them.
v1::Phase OfWorkers(const std::vector<uint32_t>& workers, const v1::Phase& phase);

// Adds the steps before each phase: --drop-caches (in a soak that no plan defines, always), --cold, --remount, --rest,
// --eat-memory, --fill. InvalidArgument: there is no phase before which caches could be dropped.
absl::Status AddSteps(const GivenOptions& given, v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_PHASE_LIST_H_
