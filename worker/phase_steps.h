// What a worker did around a phase, put into words for the report: pure functions from the phase and its lanes.
#ifndef WORKER_PHASE_STEPS_H_
#define WORKER_PHASE_STEPS_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"
#include "worker/lane.h"
#include "worker/phase_spec.h"

namespace iobench {

using Lanes = std::span<const std::unique_ptr<Lane>>;

// The steps before the start, in the order in which they were done; seconds are the slowest lane's, bytes all lanes'.
// `system_caches`: what came of writing to drop_caches, where the phase drops caches. REQUIRES: the lanes' files are
// open.
std::vector<v1::StepResult> StepsBefore(const PhaseSpec& spec, Lanes lanes,
                                        const absl::Status& system_caches);

// The flushes between the passes of lanes that go over their records for a time, inside the ops' time; nullopt: none.
// Seconds are of all flushes of the lane whose flushes took longest. REQUIRES: the lanes' regions are over.
std::optional<v1::StepResult> PassesStep(const PhaseSpec& spec, Lanes lanes);

// The traces that the lanes wrote; nullopt: none were to be. REQUIRES: the lanes have settled.
std::optional<v1::StepResult> TraceStep(const PhaseSpec& spec, Lanes lanes);

}  // namespace iobench

#endif  // WORKER_PHASE_STEPS_H_
