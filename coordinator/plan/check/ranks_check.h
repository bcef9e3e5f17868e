// Checks for MPI-IO: what the ranks do together.
#ifndef COORDINATOR_PLAN_CHECK_RANKS_CHECK_H_
#define COORDINATOR_PLAN_CHECK_RANKS_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: the operation, one of the phase's, has settings of MPI-IO that conflict (CheckMpiIo), or is collective in a
// phase that not all ranks do alike, on one file.
absl::Status CheckRanksOf(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation);

// InvalidArgument: a phase of the plan is collective, so that all ranks take part, and the run would leave out some. `left_out`:
// their clients, with what is wrong there ("n7 (it cannot write)"); empty: nobody is left out.
absl::Status CheckAllRanksTakePart(const v1::Plan& plan, const std::vector<std::string>& left_out);

// InvalidArgument: a phase of the plan is collective, and there are several clients. For runs that add phases of which each is on
// some of the clients.
absl::Status CheckOneClientIfCollective(const v1::Plan& plan, uint32_t client_count);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_RANKS_CHECK_H_
