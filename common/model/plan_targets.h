// Selects the targets of a plan that a worker uses, and finds what it has seen of them.
#ifndef COMMON_MODEL_PLAN_TARGETS_H_
#define COMMON_MODEL_PLAN_TARGETS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns one target per distinct path, in the order of first use, with the workers that use it if paths differ. Worker
// i uses paths[i].
std::vector<v1::Target> TargetsOf(std::span<const std::string> paths);

// Returns, for each of the workers 0 to worker_count - 1, the index of the first target that selects it. A worker that
// no target selects is assigned round-robin over all targets. The time it takes is proportional to the workers plus the
// targets, which may be as many. REQUIRES: the plan has at least one target.
std::vector<uint32_t> TargetOfEachWorker(const v1::Plan& plan, uint32_t worker_count);

// Returns the index of the target that a worker uses in one phase: the phase's only_target, if it has one, otherwise
// the worker's own (TargetOfEachWorker).
uint32_t TargetInPhase(const v1::Phase& phase, uint32_t own_target);

// Returns the indices of the targets that phases select with only_target, in ascending order. Empty: each worker has
// one target for the whole run.
std::vector<uint32_t> OnlyTargets(const v1::Plan& plan);

// Returns, for each worker, the indices of all targets that it uses in the run, in ascending order. REQUIRES: a checked
// plan with at least one target.
std::vector<std::vector<uint32_t>> TargetsOfEachWorker(const v1::Plan& plan, uint32_t worker_count);

// Returns the number in the plan of seen.targets(index); in a damaged record, possibly a number that no target has.
uint32_t NumberOfSeen(const v1::WorkerTargets& seen, int index);
// Returns what a worker has seen of a target of the plan; nullptr: the worker was not asked about it, or has not
// answered.
const v1::TargetFacts* SeenOf(const v1::WorkerTargets& seen, uint32_t target);
v1::TargetFacts* MutableSeenOf(v1::WorkerTargets& seen, uint32_t target);
// Adds an empty entry for a target; targets may be added in any order. REQUIRES: it has not been added yet.
v1::TargetFacts& AddSeen(v1::WorkerTargets& seen, uint32_t target);

}  // namespace iobench

#endif  // COMMON_MODEL_PLAN_TARGETS_H_
