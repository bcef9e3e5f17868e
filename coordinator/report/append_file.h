// A file to which the program appends pieces. Appending costs the same however long the file is.
#ifndef COORDINATOR_REPORT_APPEND_FILE_H_
#define COORDINATOR_REPORT_APPEND_FILE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/files/files.h"

namespace iobench {

// Not thread-safe. Errors name the file and the reason, with the code of the errno. REQUIRES, for every function: not moved
// from. Where it is created: common/own_files/own_file.h.
class AppendFile {
 public:
  // Creates a new file. Fails if anything, even a symbolic link, has this name.
  static absl::StatusOr<AppendFile> Create(const std::string& path);
  // Creates a new file without a name, which disappears when this process ends. `path` is used briefly; a file that a
  // crash left there is removed.
  static absl::StatusOr<AppendFile> CreateNameless(const std::string& path);

  // Appends what `write` writes. On failure, the file is truncated to its previous length.
  absl::Status Append(absl::FunctionRef<absl::Status(std::ostream&)> write);
  // Copies the whole file; the caller checks `out`. DataLoss: another process has truncated the file.
  absl::Status CopyTo(std::ostream& out) const;
  absl::Status Sync() const;  // makes the contents durable
  uint64_t bytes() const { return bytes_; }

 private:
  explicit AppendFile(files::HeldFile file) : file_(std::move(file)) {}

  files::HeldFile file_;
  uint64_t bytes_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_APPEND_FILE_H_
