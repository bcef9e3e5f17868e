// Files that the user names and that are read whole: plans, lists of clients, traces, saved results.
#ifndef COMMON_SMALL_FILE_H_
#define COMMON_SMALL_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// The whole file. InvalidArgument: not a regular file (a directory, a device, a FIFO, which is not waited for), or
// longer than `most_bytes`, also where it grows while it is read. Symbolic links are followed. `what` and the file's
// name are in front of every message: "plan a.yaml: …".
absl::StatusOr<std::string> ReadSmallFile(const std::string& what, const std::string& file,
                                          uint64_t most_bytes);

}  // namespace iobench

#endif  // COMMON_SMALL_FILE_H_
