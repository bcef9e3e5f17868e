// Rules for options that conflict or that require each other.
#ifndef COORDINATOR_OPTION_OPTION_RULES_H_
#define COORDINATOR_OPTION_OPTION_RULES_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "coordinator/option/option.h"

namespace iobench {

struct ForbiddenPair {
  std::string_view one, other;
  std::string_view why;  // includes what to do
};
std::span<const ForbiddenPair> ForbiddenPairs();

// InvalidArgument: a rule is violated; the message names both options.
absl::Status CheckOptions(const GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_OPTION_OPTION_RULES_H_
