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

// Whether a file survives a power failure as soon as it is written, or only when the caller has synced it and its
// directory. A process that is killed loses nothing either way.
enum class Durable { kNow, kLater };

// Lets `write` fill PATH.partial and renames it to PATH; both durably (fsync) unless told otherwise. On failure PATH is
// as it was and the partial file is gone; the status names the file and says why ("No space left on device").
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::FunctionRef<absl::Status(std::ostream&)> write,
                                 Durable durable = Durable::kNow);

// Makes the names in a directory durable.
absl::Status SyncDirectory(const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_ATOMIC_FILE_H_
