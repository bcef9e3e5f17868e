// Creates the list of phases that the options request: operations x sizes x records x lanes, each with a unique name.
#ifndef COORDINATOR_PLAN_PHASE_LIST_H_
#define COORDINATOR_PLAN_PHASE_LIST_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/model/operation.h"
#include "common/text/record_share_text.h"
#include "coordinator/options/option.h"
#include "coordinator/plan/plan_builder.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Fills in lanes, sizes, and phases with names, operations, records and steps. Options that set other fields are
// applied later. InvalidArgument: an unknown operation, or sizes that leave no phase.
absl::Status ListPhases(const GivenOptions& given, const PlanContext& context, v1::Plan& plan);

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

// Returns an operation with the default tree, if it has one, and other fields unset.
v1::Operation OperationOf(const OperationSpec& spec, uint64_t record_bytes, uint32_t stride_records);

// Gives the operation these record sizes, as -r with shares does; of one size, record_bytes alone.
void SetRecordShares(std::span<const RecordShare> shares, v1::Operation& operation);

// Returns the phase with these workers only. It has no assignments if it selects none of them.
v1::Phase OfWorkers(const std::vector<uint32_t>& workers, const v1::Phase& phase);

// If the user says neither how much a run moves nor, with a plan, a suite or a mix, what its phases do, it measures storage:
// each phase takes some seconds, or --time, which changes nothing else; files grow with what the storage can do in that
// time; writes are flushed within it; and reads are cold. A soak has the time and the flushes, because otherwise its storage
// might never get what it writes, and drops caches. All of it leaves what the user asked for as it is. Defined in
// usual_method.cc.
bool IsUsualMethod(const GivenOptions& given);
bool ReadsColdAsUsual(const GivenOptions& given);  // false if the user says what becomes of the caches
// Sets times, timed regions, flushes and the growth of files. REQUIRES: all other fields are set.
void MeasureAsUsual(const GivenOptions& given, v1::Plan& plan);

// Adds the steps before each phase: --drop-caches (in a soak that no plan defines, always), --cold (and as usual), --remount,
// --rest, --eat-memory, --fill. InvalidArgument: there is no phase before which caches could be dropped.
absl::Status AddSteps(const GivenOptions& given, const PlanContext& context, v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_PHASE_LIST_H_
