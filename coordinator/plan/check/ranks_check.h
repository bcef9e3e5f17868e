// Checks for MPI-IO: what the ranks do together.
#ifndef COORDINATOR_PLAN_CHECK_RANKS_CHECK_H_
#define COORDINATOR_PLAN_CHECK_RANKS_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: the operation, one of the phase's, has settings of MPI-IO that conflict (CheckMpiIo), or is collective in a
// phase that not all ranks do alike, on one file.
absl::Status CheckRanksOf(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_RANKS_CHECK_H_
