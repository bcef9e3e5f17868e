// Replaces a file in one step: a reader, or a crash, finds the old content or the new, never half of one.
#ifndef COORDINATOR_REPORT_ATOMIC_FILE_H_
#define COORDINATOR_REPORT_ATOMIC_FILE_H_

#include <ostream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace iobench {

// Ends the name of a file that is being written; one that a crash left is replaced by the next write.
inline constexpr char kPartialSuffix[] = ".partial";

// Lets `write` fill PATH.partial, makes it durable (fsync) and renames it to PATH, durably too. On failure PATH is as
// it was and the partial file is gone; the status names the file and says why ("No space left on device").
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::FunctionRef<absl::Status(std::ostream&)> write);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_ATOMIC_FILE_H_
