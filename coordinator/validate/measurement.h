// What a validation measures: the phases of its plan, once, on data that it removes again. Nothing is saved.
#ifndef COORDINATOR_VALIDATE_MEASUREMENT_H_
#define COORDINATOR_VALIDATE_MEASUREMENT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/assemble/assembly.h"
#include "coordinator/conduct/phase_loop.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Runs the phases of the recorder's plan, and tells the observer. Call it at most once, before the recorder has begun and
// the fate of the data is decided. The report, which the recorder owns, has briefs of the phases
// (coordinator/analysis/brief.h). Unavailable: a worker was lost; Cancelled: interrupted; otherwise why the phases could
// not run, or what is left of their data.
absl::StatusOr<const v1::RunReport*> MeasurePhases(const Assembly& assembly, const LoopContext& context);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_MEASUREMENT_H_
