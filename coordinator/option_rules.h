// Options that cannot go together, and options that need another.
#ifndef COORDINATOR_OPTION_RULES_H_
#define COORDINATOR_OPTION_RULES_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "coordinator/option.h"

namespace iobench {

struct ForbiddenPair {
  std::string_view one, other;
  std::string_view why;  // and what to do
};
std::span<const ForbiddenPair> ForbiddenPairs();

// InvalidArgument names both options.
absl::Status CheckOptions(const GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_OPTION_RULES_H_
