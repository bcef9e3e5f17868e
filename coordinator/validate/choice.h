// Which checks the user has chosen.
#ifndef COORDINATOR_VALIDATE_CHOICE_H_
#define COORDINATOR_VALIDATE_CHOICE_H_

#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/options/validate_options.h"
#include "coordinator/validate/performance/expectations.h"
#include "coordinator/validate/performance/performance.h"
#include "coordinator/validate/waivers.h"

namespace iobench {

struct CheckChoice {
  std::set<std::string> only;  // empty: all
  std::set<std::string> skip;
  Waivers waivers;
  std::optional<Expectations> expected;  // --expect
  bool measures = false;                 // some check judges performance …
  PhaseAmounts amounts;                  // … in phases of these amounts
  uint64_t over_quota_bytes = 0;         // --over-quota; 0: not given

  bool Has(const std::string& name) const {
    return (only.empty() || only.contains(name)) && !skip.contains(name);
  }
};

// InvalidArgument: a check that does not exist, none that remains, a waiver for a check that does not run, or an option
// without effect; otherwise the errors of LoadWaivers and LoadExpectations.
absl::StatusOr<CheckChoice> ChoiceFrom(const ValidateOptions& options);

// One line per check: its name and what it checks.
std::string ListOfChecks();

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHOICE_H_
