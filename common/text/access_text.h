// How often an operation in random order uses which of its records, as users write it (--access).
#ifndef COMMON_TEXT_ACCESS_TEXT_H_
#define COMMON_TEXT_ACCESS_TEXT_H_

#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// A distribution over the ranks 0 … n-1 of n records, from the hottest on. Which record has which rank is not part of
// it. docs/definitions.md has the formulas.
struct Access {
  enum class Kind {
    kEachOnce,  // no distribution: every record once per pass
    kZipf,      // rank r is used in proportion to 1 / (r + 1)^a
    kPareto,    // the hottest share a of the records gets the share 1 - a of the ops; so it is within that share, too
    kHot,       // a % of the records get b % of the ops, both parts evenly
    kNormal,    // half of a normal distribution, whose standard deviation is a % of the records
  };
  Kind kind = Kind::kEachOnce;
  double a = 0, b = 0;
};

// Reads zipf:THETA, pareto:H, hot:RECORDS/OPS or normal:DEVIATION; "": each once. InvalidArgument: it is none of them;
// the message shows the syntax.
absl::StatusOr<Access> ParseAccess(const std::string& text);

}  // namespace iobench

#endif  // COMMON_TEXT_ACCESS_TEXT_H_
