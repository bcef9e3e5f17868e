// Failures that are known (--waive FILE): they do not fail a validation.
#ifndef COORDINATOR_VALIDATE_WAIVERS_H_
#define COORDINATOR_VALIDATE_WAIVERS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// Reason by name of the check.
using Waivers = std::map<std::string, std::string>;

// Reads a YAML map of check names and reasons: `locks: "nolock until the new server is there (OPS-12)"`.
// InvalidArgument: the file is not such a map, names an unknown check, or a reason is missing; the message has file and
// line.
absl::StatusOr<Waivers> LoadWaivers(const std::string& path);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_WAIVERS_H_
