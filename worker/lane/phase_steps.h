// Describes what a worker did before and after the timed part of a phase, for the report. Pure functions of the phase
// and its lanes.
#ifndef WORKER_LANE_PHASE_STEPS_H_
#define WORKER_LANE_PHASE_STEPS_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/lane/lane.h"
#include "worker/prepare/phase_spec.h"

namespace iobench {

using Lanes = std::span<const std::unique_ptr<Lane>>;

// Returns the steps before the start in the order in which they were performed, with the seconds of the slowest lane
// and the bytes of all lanes. `system_caches`: the result of writing to drop_caches, if the phase does that. REQUIRES:
// the lanes' files are open.
std::vector<v1::StepResult> StepsBefore(const PhaseSpec& spec, Lanes lanes,
                                        const absl::Status& system_caches);

// Returns what is known about the caches after the steps above. Files that lanes read past the cache (O_DIRECT), or
// with interleaved records, do not count. REQUIRES: as above.
v1::Coldness ColdnessAfter(const PhaseSpec& spec, Lanes lanes, const absl::Status& system_caches);

// Returns the flushes or page drops between passes of lanes that loop for a time, which are part of the ops' time;
// nullopt if there were none. The seconds are the total of the slowest lane. REQUIRES: the lanes' timed regions have
// ended.
std::optional<v1::StepResult> PassesStep(const PhaseSpec& spec, Lanes lanes);

// Returns the traces that the lanes wrote, or quit before writing; nullopt if none were requested. REQUIRES: the lanes
// have settled.
std::optional<v1::StepResult> TraceStep(const PhaseSpec& spec, Lanes lanes);

// The same for the files with offsets and latencies.
std::optional<v1::StepResult> OpLogStep(const PhaseSpec& spec, Lanes lanes);

}  // namespace iobench

#endif  // WORKER_LANE_PHASE_STEPS_H_
