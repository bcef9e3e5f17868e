// Whether the fields that a plan's author writes have an effect on the operations that they are written for.
#ifndef COORDINATOR_PLAN_FIELD_USES_H_
#define COORDINATOR_PLAN_FIELD_USES_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: an operation has a field that it does not use, by the phases of the option that sets the field
// (OptionSpec.phases): the size of records of a metadata operation, the stride of a sequential read. The same for the
// timed region of a phase: the fsync of one that only reads. So suites share a region (by an anchor) only among phases
// that use all of it; options apply where they have an effect, and are refused or noted where none is. A value that
// completing the plan writes there, or that is 0, false or empty, asks for nothing and is accepted: saved plans have
// such values. For plans as they are read, before options and defaults are filled in.
absl::Status CheckFieldsHaveUse(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_FIELD_USES_H_
