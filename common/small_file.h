// Reads whole files that the user names: plans, client lists, traces, saved results.
#ifndef COMMON_SMALL_FILE_H_
#define COMMON_SMALL_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// Returns the whole file. InvalidArgument: not a regular file (for example a directory, a device or a FIFO, which is
// never waited for), or longer than `max_bytes`, even if it grows during the read. ResourceExhausted: not enough
// memory. Otherwise the status of the errno. Symbolic links are followed. Every message starts with `what` and the file
// name: "plan a.yaml: …".
absl::StatusOr<std::string> ReadSmallFile(const std::string& what, const std::string& file,
                                          uint64_t max_bytes);

// The same for a descriptor, which stays open. `name`: for messages.
absl::StatusOr<std::string> ReadSmallFile(const std::string& name, int fd, uint64_t max_bytes);

}  // namespace iobench

#endif  // COMMON_SMALL_FILE_H_
