// Failures that say no more than that of an earlier check, by what that check has found (CheckContext::causes). Causes that
// calls meet are in cause_ledger.h.
#ifndef COORDINATOR_VALIDATE_EARLIER_FAILURES_H_
#define COORDINATOR_VALIDATE_EARLIER_FAILURES_H_

#include <string_view>

#include "coordinator/validate/checks/check_context.h"
#include "iobench/v1/validate.pb.h"

namespace iobench {

// Makes the check that has just failed follow from an earlier one that explains the failure; false: none does, or the
// check has not failed.
bool FollowEarlier(const CheckContext& context, std::string_view check, Outcome& outcome);

// The same for checks that failed before the one that explains it. Call it after all checks.
void FollowLater(const CheckContext& context, v1::ValidateReport& report);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_EARLIER_FAILURES_H_
