// Whose a directory of results is while a run writes there. Two things say so: a lock, which ends with its process
// whatever ends it, and a record of the owner, for messages and for other hosts where the file system has no locks.
#ifndef COORDINATOR_REPORT_RESULT_LOCK_H_
#define COORDINATOR_REPORT_RESULT_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/files/files.h"

namespace iobench {

// The file with the lock and the record. It is there while a run writes, and after a run that was killed.
inline constexpr char kResultLockFile[] = "cluster-iobench.lock";

// Any thread may use it, one at a time. A child process that does not call exec would share the lock.
class ResultLock {
 public:
  // What to do about an owner of another host, boot or container of which nothing can be seen from here.
  enum class IfOutOfSight { kRefuse, kAccept };

  // Takes an existing directory, before anything in it is read for a decision. FailedPrecondition, which names the
  // owner: a run is alive there (whatever `if_out_of_sight`), or nobody can tell. Otherwise the errno of the file. An
  // owner that was killed, or whose host was restarted, is replaced.
  static absl::StatusOr<std::shared_ptr<ResultLock>> Take(const std::string& directory, IfOutOfSight if_out_of_sight);
  // Releases it, if Release has not.
  ~ResultLock() { Release(); }
  ResultLock(const ResultLock&) = delete;
  ResultLock& operator=(const ResultLock&) = delete;

  // Names the run in the record, once it has a name.
  absl::Status NameRun(const std::string& run);
  // FailedPrecondition: another process has taken the directory meanwhile, as can happen without locks.
  absl::Status CheckHeld() const;
  // Gives the directory up, and removes the file.
  void Release();

 private:
  ResultLock(std::string directory, files::HeldFile file, std::string since)
      : directory_(std::move(directory)), file_(std::move(file)), since_(std::move(since)) {}
  std::string path() const;

  const std::string directory_;
  files::HeldFile file_;
  const std::string since_;  // wall clock, ISO 8601, UTC
  std::string record_;       // as written
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_RESULT_LOCK_H_
