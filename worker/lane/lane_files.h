// Prepares a lane's files before the timed region. The functions run on the lane's thread and work in the directory
// that holds the files. Errors name the file. Symbolic links are never followed, except for files that the user names.
#ifndef WORKER_LANE_LANE_FILES_H_
#define WORKER_LANE_LANE_FILES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/loop/file_set.h"
#include "worker/loop/lane_context.h"
#include "worker/storage/directory.h"

namespace iobench {

// The size of the prefill's writes, unless records are larger.
inline constexpr uint32_t kPrefillRecordBytes = 1 << 20;

enum class FileBlocks {
  kAllocatedByWrites,
  kPreallocated,  // the files have all blocks and their full size from the beginning
};
enum class OldFiles { kReplaced, kKept };

// Creates new, empty files, replacing those of an earlier phase, unless `old` keeps them as they are. A shared file
// is created only if it is missing, since the coordinator removes the old one once for all lanes. With kPreallocated,
// ResourceExhausted: not enough space; Unimplemented: the file system cannot do it.
absl::Status CreateFiles(const Directory& directory, const FileSet& files,
                         FileBlocks blocks = FileBlocks::kAllocatedByWrites,
                         OldFiles old = OldFiles::kReplaced);

// FailedPrecondition: a file is missing or incomplete; the message says which and how.
absl::Status CheckDataExist(const Directory& directory, const FileSet& files);

// Writes missing or short files and flushes them. It also writes a shared file that has a hole in the lane's extent. An
// interleaved lane writes only its own records, and only if the last of them is missing. Returns the number of bytes
// written. Cancelled: `quit` was set. FailedPrecondition: not a regular file.
//
// `piece_bytes`: size of each write, for which the payload must have been created.
absl::StatusOr<uint64_t> Prefill(const Directory& directory, const FileSet& files, Payload& payload,
                                 const StopCell& quit, uint32_t piece_bytes = kPrefillRecordBytes);

// Returns how many bytes of the lane's parts of the files are in this host's memory. Unimplemented: unknown.
absl::StatusOr<uint64_t> ResidentBytes(const Directory& directory, const FileSet& files);

// Drops this host's cached pages of the files, after flushing dirty ones. Missing files are not an error.
absl::Status ForgetPages(const Directory& directory, const FileSet& files);

}  // namespace iobench

#endif  // WORKER_LANE_LANE_FILES_H_
