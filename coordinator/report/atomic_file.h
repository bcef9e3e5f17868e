// Replaces a file atomically: a reader, or a crash, sees either the old or the new content, never a part of it.
#ifndef COORDINATOR_REPORT_ATOMIC_FILE_H_
#define COORDINATOR_REPORT_ATOMIC_FILE_H_

#include <ostream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace iobench {

// Whether a file survives a power failure as soon as it is written, or only after the caller has synced the file and
// its directory. Killing the process loses nothing in either case.
enum class Durable { kNow, kLater };

// Lets `write` fill PATH.partial, then renames it to PATH (common/own_files/own_file.h), both with fsync by default. On failure,
// PATH is unchanged and the partial file is removed; the status names the file and the reason ("No space left on device").
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::FunctionRef<absl::Status(std::ostream&)> write,
                                 Durable durable = Durable::kNow);

// Checks, before the work that ends with it, whether --output PATH can be written. InvalidArgument: something that is
// no regular file is there. AlreadyExists: a file is there, and `replace` (--force) is false. PermissionDenied: see
// OwnDirectory::Check. Otherwise the errno of a parent directory that is missing or not writable.
absl::Status CheckOutputFile(const std::string& path, bool replace);

// Renames what is at PATH to PATH.not-ours, and says so on stderr: it is in the way of a file that is written anew.
// AlreadyExists: that name is taken too.
absl::Status PutAside(const std::string& path);

// Makes changes to the names in a directory durable.
absl::Status SyncDirectory(const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_ATOMIC_FILE_H_
