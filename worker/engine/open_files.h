// Opens a lane's files for engines that use file descriptors, with the flags, advice and locks of the phase.
#ifndef WORKER_ENGINE_OPEN_FILES_H_
#define WORKER_ENGINE_OPEN_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/engine/io_engine.h"
#include "worker/loop/file_set.h"

namespace iobench {

// What an op needs of an open file. Kept small and in one array, because every op reads it.
struct OpenFile {
  int fd = -1;
  uint64_t extent_offset_bytes = 0;
};

// Opens one file, applies options.advice, and locks it if options.file_lock is set: for writing if the mode writes,
// otherwise for reading. In a shared file it locks only the lane's extent, because the lanes would otherwise wait for
// each other forever. Closing the descriptor releases the lock. The error names file, flags and errno.
absl::StatusOr<int> OpenLaneFile(const FileSet& files, size_t index, const OpenMode& mode,
                                 const EngineOptions& options);

// Calls fsync, fdatasync or sync_file_range, which waits for the pages of the lane's extent of the file. Returns 0, or
// -1 with errno. REQUIRES: `call` is one of the three.
int FlushDescriptor(int fd, const LaneFile& file, OpKind call);

// All files of a set, for engines that have one descriptor per file. The destructor closes them. Only the lane's thread
// may use it: its descriptors mean nothing in other threads (worker/lane/own_descriptors.h).
class OpenFiles {
 public:
  explicit OpenFiles(const EngineOptions& options) : options_(options) {}
  ~OpenFiles() { Close().IgnoreError(); }
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  // Closes files that are still open, then opens all of `files`, which must outlive their use. After an error, none is
  // open.
  absl::Status Open(const FileSet& files, const OpenMode& mode);
  // Calls fsync for each file, even after an error, and returns the first error. `timer`, which may be null, times each
  // call; so in the other functions.
  absl::Status Flush(CallTimer* timer);
  // Flushes one file as FlushDescriptor does.
  absl::Status FlushFile(size_t index, OpKind call, CallTimer* timer);
  // Closes each file, even after an error, and returns the first error: on NFS, close() may report that data was not
  // written. Without open files it does nothing.
  absl::Status Close(CallTimer* timer = nullptr);

  // The open files, by the index in the set (Op::object). Valid until Close.
  const OpenFile* data() const { return open_.data(); }
  size_t size() const { return open_.size(); }
  std::string PathOf(size_t index) const { return files_->PathOf(index); }

 private:
  const EngineOptions options_;
  const FileSet* files_ = nullptr;
  std::vector<OpenFile> open_;
};

}  // namespace iobench

#endif  // WORKER_ENGINE_OPEN_FILES_H_
