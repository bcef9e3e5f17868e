// A lane's files as an engine on file descriptors opens them: flags, advice and locks as the phase asks.
#ifndef WORKER_ENGINE_OPEN_FILES_H_
#define WORKER_ENGINE_OPEN_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/engine/io_engine.h"
#include "worker/file_set.h"

namespace iobench {

struct OpenFile {
  int fd = -1;
  uint64_t extent_offset_bytes = 0;
};

// Opens one file, gives the kernel options.advice, and locks it with options.file_lock: for writing where the mode
// writes, else for reading; of a shared file the lane's extent, or the lanes would wait for each other for ever. The
// lock goes with the descriptor. The Status names file, flags and errno.
absl::StatusOr<int> OpenLaneFile(const FileSet& files, size_t index, const OpenMode& mode,
                                 const EngineOptions& options);

// All files of a set; closed when it is destroyed.
class OpenFiles {
 public:
  explicit OpenFiles(const EngineOptions& options) : options_(options) {}
  ~OpenFiles() { Close().IgnoreError(); }
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  // Closes what was open before. After an error nothing is open. `files` must outlive the use.
  absl::Status Open(const FileSet& files, const OpenMode& mode);
  absl::Status Flush();  // fsync of each; the first error
  absl::Status Close();  // the first error; idempotent

  const OpenFile* data() const { return open_.data(); }  // stays where it is until Close
  size_t size() const { return open_.size(); }
  std::string PathOf(size_t index) const { return files_->PathOf(index); }

 private:
  const EngineOptions options_;
  const FileSet* files_ = nullptr;
  std::vector<OpenFile> open_;
};

}  // namespace iobench

#endif  // WORKER_ENGINE_OPEN_FILES_H_
