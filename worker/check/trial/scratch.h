// A directory in which a trial of a rule may do what it likes.
#ifndef WORKER_CHECK_TRIAL_SCRATCH_H_
#define WORKER_CHECK_TRIAL_SCRATCH_H_

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "worker/check/trial/trial.h"

namespace iobench {

// Made and opened by In(); the destructor removes it with all that is in it, as far as that is possible. Used by one
// thread.
class Scratch {
 public:
  // Errors have the errno.
  static absl::StatusOr<Scratch> In(const TrialPlace& place);
  Scratch(Scratch&&) = default;
  ~Scratch();

  int fd() const { return fd_.get(); }
  // The calls that rules are made of. Errors have the errno of the call.
  absl::StatusOr<UniqueFd> Open(const char* name, int flags = O_RDWR, mode_t mode = 0644) const;
  absl::Status Write(const char* name, const std::string& contents) const;  // creates it, and closes it
  absl::Status MakeDirectory(const char* name) const;
  absl::StatusOr<struct stat> Look(const char* name) const;
  absl::StatusOr<std::string> Contents(const char* name) const;  // the first 4 KiB
  bool Has(const char* name) const { return Look(name).ok(); }
  // Waits until the file system stamps a change with a later time than all changes so far, at most 5 s.
  absl::Status NextTimestamp() const;

 private:
  Scratch(int parent, std::string name, UniqueFd fd)
      : parent_(parent), name_(std::move(name)), fd_(std::move(fd)) {}

  int parent_;  // borrowed
  std::string name_;
  UniqueFd fd_;
};

}  // namespace iobench

#endif  // WORKER_CHECK_TRIAL_SCRATCH_H_
