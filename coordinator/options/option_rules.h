// Rules for options that conflict or that require each other.
#ifndef COORDINATOR_OPTIONS_OPTION_RULES_H_
#define COORDINATOR_OPTIONS_OPTION_RULES_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "coordinator/options/option.h"

namespace iobench {

// Two options that cannot be given together, by their names in the option table.
struct ForbiddenPair {
  OptionName one, other;
  std::string_view why;  // includes what to do
};
std::span<const ForbiddenPair> ForbiddenPairs();

// Checks forbidden pairs, options that need another, and what cannot be combined with --plan or --suite.
// InvalidArgument: a rule is violated; the message names both options. Whether values fit together is checked on the
// plan (plan_check.h).
absl::Status CheckOptions(const GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_OPTION_RULES_H_
