// A file of ours that grows piece by piece: what a piece costs does not depend on how many there are.
#ifndef COORDINATOR_REPORT_APPEND_FILE_H_
#define COORDINATOR_REPORT_APPEND_FILE_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// One thread uses it. Errors name the file and say why.
class AppendFile {
 public:
  // A new file. Fails where there is one by this name, or a link.
  static absl::StatusOr<AppendFile> Create(const std::string& path);
  // A new file without a name: it is gone when this process is. PATH is taken for a moment.
  static absl::StatusOr<AppendFile> CreateNameless(const std::string& path);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;

  // Lets `write` write one piece behind the others. On failure the file ends where it ended before.
  absl::Status Append(absl::FunctionRef<absl::Status(std::ostream&)> write);
  absl::Status CopyTo(std::ostream& out) const;
  absl::Status Sync() const;  // durably
  uint64_t bytes() const { return bytes_; }

 private:
  AppendFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_APPEND_FILE_H_
