// What is done to a lane's files before the timed region, on the lane's thread, in the directory that holds them; each
// names the file in its error. Symbolic links are never followed, except to what the user names.
#ifndef WORKER_LANE_FILES_H_
#define WORKER_LANE_FILES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/file_set.h"
#include "worker/lane_context.h"
#include "worker/storage/directory.h"

namespace iobench {

// What a prefill writes at once, unless records are longer.
inline constexpr uint32_t kPrefillRecordBytes = 1 << 20;

// New, empty files in place of those of an earlier phase. The shared file is only made where there is none: it is the
// coordinator who removes it, once for all lanes. With `preallocate` the file system allocates the blocks of all of
// them at once, and they have their full size; ResourceExhausted where it has not so many, Unimplemented where it
// cannot. With `keep` files that are there stay as they are.
absl::Status CreateFiles(const Directory& directory, const FileSet& files, bool preallocate = false,
                         bool keep = false);

// FailedPrecondition, saying which file differs and how, unless all of them are there in full.
absl::Status CheckDataExist(const Directory& directory, const FileSet& files);

// Writes the files that are missing or short and flushes them: also where a shared file has a hole in the lane's
// extent; an interleaved lane writes its own records alone, where the last of them is not there. Returns the bytes
// written. Cancelled when `quit` is set. FailedPrecondition: not a regular file.
//
// `piece_bytes` are written at once, which is what the payload must be made for.
absl::StatusOr<uint64_t> Prefill(const Directory& directory, const FileSet& files, Payload& payload,
                                 const StopCell& quit, uint32_t piece_bytes = kPrefillRecordBytes);

// How much of the files' parts that the lane works on is in this host's memory. Unimplemented: not known.
absl::StatusOr<uint64_t> ResidentBytes(const Directory& directory, const FileSet& files);

// This host forgets its pages of these files; dirty ones are flushed first. Missing files are no error.
absl::Status ForgetPages(const Directory& directory, const FileSet& files);

}  // namespace iobench

#endif  // WORKER_LANE_FILES_H_
