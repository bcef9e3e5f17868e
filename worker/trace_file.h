// Traces as IOzone's -X and -Y know them: a line an op, "offset size [delay_ms]".
#ifndef WORKER_TRACE_FILE_H_
#define WORKER_TRACE_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/pattern/replayed.h"
#include "worker/unique_fd.h"

namespace iobench {

// A GiB of memory. Of a trace that is written the rest is left out; one that is longer cannot be replayed.
inline constexpr size_t kMostTraceOps = size_t{64} << 20;

using TraceOps = std::vector<TraceOp>;

// Blanks between fields, decimals in delays (kept to the microsecond, up to an hour), lines that begin with # are
// comments. InvalidArgument with file and line number: anything else, a size of 0 or over 1 GiB, an op that does not
// end within `file_bytes`; no op at all.
absl::StatusOr<TraceOps> ParseTrace(std::string_view text, const std::string& file_name, uint64_t file_bytes);
absl::StatusOr<std::shared_ptr<const TraceOps>> LoadTrace(const std::string& file, uint64_t file_bytes);

// Whether a trace of this name could be made; makes nothing. AlreadyExists where there is something of that name, if
// only a symbolic link. InvalidArgument, PermissionDenied …: what is wrong with its directory.
absl::Status CheckNewTrace(const std::string& file);
// Makes the file, so that what is in the way shows before anything is measured; AlreadyExists as above.
absl::StatusOr<UniqueFd> OpenTraceForWriting(const std::string& file);
// All of it, and it is on the disk then.
absl::Status WriteTrace(int fd, const std::string& file, std::span<const TraceOp> ops);

}  // namespace iobench

#endif  // WORKER_TRACE_FILE_H_
