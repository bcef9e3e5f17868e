// A new file of a trial.
#ifndef WORKER_CHECK_TRIAL_TRIAL_FILE_H_
#define WORKER_CHECK_TRIAL_TRIAL_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "worker/check/trial/trial.h"

namespace iobench {

// Open for reading and writing. Its name goes with this object. The place must outlive it.
class TrialFile {
 public:
  // Fails with the errno of open().
  static absl::StatusOr<TrialFile> New(const TrialPlace& place, const char* suffix);
  TrialFile(TrialFile&& other) noexcept;
  TrialFile& operator=(TrialFile&&) = delete;
  ~TrialFile();

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }
  std::string path() const { return place_->PathOf(name_); }

  // Errors have the errno of the call, and name the file.
  absl::Status Write(std::string_view bytes, int64_t offset) const;
  absl::Status Flush() const;  // to stable storage: only then servers know what it takes
  absl::StatusOr<std::string> Read(int64_t offset, size_t bytes) const;  // shorter at the end of the file
  absl::StatusOr<struct stat> Look() const;
  absl::Status Failed(const char* call, int error) const;

 private:
  TrialFile(const TrialPlace& place, std::string name, UniqueFd fd);

  const TrialPlace* place_;  // null: moved away
  std::string name_;
  UniqueFd fd_;
};

}  // namespace iobench

#endif  // WORKER_CHECK_TRIAL_TRIAL_FILE_H_
