// IOzone's `-+x` options as ours: one pass over argv before it is parsed (CLI11 refuses `-+`).
#ifndef COORDINATOR_IOZONE_LETTERS_H_
#define COORDINATOR_IOZONE_LETTERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// "-+p 50" and "-+p50" become "--mix-percent=50", "-+V" becomes "--shared-file". InvalidArgument: a letter that IOzone
// knows and we do not, or none that anybody knows; a missing argument. Everything else stays as it is; nothing after
// "--" is looked at.
absl::StatusOr<std::vector<std::string>> WithLongOptions(const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_IOZONE_LETTERS_H_
