// Reads and writes traces in the format of IOzone's -X and -Y: one op per line, "offset size [delay_ms]".
#ifndef WORKER_PREPARE_TRACE_FILE_H_
#define WORKER_PREPARE_TRACE_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "worker/pattern/replayed.h"

namespace iobench {

// Corresponds to 1 GiB of memory. Further ops are omitted from a trace that is written; a longer trace cannot be
// replayed.
inline constexpr size_t kMaxTraceOps = size_t{64} << 20;

using TraceOps = std::vector<TraceOp>;

// Fields are separated by blanks. Delays may have decimals (microsecond resolution, up to one hour). Lines that start
// with # are comments. InvalidArgument, with file and line number: any other syntax, a size of 0 or above 1 GiB, an op
// that ends beyond `file_bytes`, or no op at all. ResourceExhausted, by LoadTrace: reading it needs more memory than
// this worker takes.
absl::StatusOr<TraceOps> ParseTrace(std::string_view text, const std::string& file_name, uint64_t file_bytes);
absl::StatusOr<std::shared_ptr<const TraceOps>> LoadTrace(const std::string& file, uint64_t file_bytes);

// A trace of the same name: refused, or replaced because an earlier part of a resumed run wrote it.
enum class OldTrace { kRefused, kReplaced };

// Checks whether the trace file could be created, without creating it. AlreadyExists: something has this name, even a
// symbolic link; with kReplaced, something other than an empty file or one that begins with an op. InvalidArgument,
// PermissionDenied …: there is a problem with its directory, or this worker's rights do not cover it (--root, --allow
// log-files).
absl::Status CheckNewTrace(const std::string& file, OldTrace old = OldTrace::kRefused);
// Creates the file, so that errors appear before anything is measured. AlreadyExists: as above.
absl::StatusOr<UniqueFd> OpenTraceForWriting(const std::string& file, OldTrace old = OldTrace::kRefused);
// Removes a trace that OpenTraceForWriting created and nothing was written to.
void RemoveTrace(const std::string& file);
// Writes all of `ops` and syncs the file to disk.
absl::Status WriteTrace(int fd, const std::string& file, std::span<const TraceOp> ops);

}  // namespace iobench

#endif  // WORKER_PREPARE_TRACE_FILE_H_
