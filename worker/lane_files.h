// What is done to a lane's files before the timed region. Plain system calls on the lane's thread; each names the file
// in its error. Symbolic links are never followed.
#ifndef WORKER_LANE_FILES_H_
#define WORKER_LANE_FILES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/file_set.h"
#include "worker/lane_context.h"

namespace iobench {

// New, empty files in place of those of an earlier phase. The shared file is only made where there is none: it is the
// coordinator who removes it, once for all lanes.
absl::Status CreateFiles(const FileSet& files);

// FailedPrecondition, saying which file differs and how, unless all of them are there in full.
absl::Status CheckDataExist(const FileSet& files);

// Writes the files that are missing or short and flushes them (a hole in the extent of a shared file is not data, too);
// returns the bytes written. Cancelled when `quit` is set. FailedPrecondition: not a regular file.
absl::StatusOr<uint64_t> Prefill(const FileSet& files, Payload& payload, const StopCell& quit);

// Asks the kernel to forget the pages of these files; dirty pages are flushed first. Missing files are no error.
absl::Status ForgetPages(const FileSet& files);

// Largest piece that Prefill writes at once: what the payload must be made for.
inline constexpr uint32_t kPrefillRecordBytes = 1 << 20;

}  // namespace iobench

#endif  // WORKER_LANE_FILES_H_
