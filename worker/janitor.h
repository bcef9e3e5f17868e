// A process that removes what a worker has created for its run if the worker is killed, and cannot do so itself.
#ifndef WORKER_JANITOR_H_
#define WORKER_JANITOR_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/mutex.h"
#include "common/unique_fd.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// The janitor does what a worker does when its coordinator is gone: it removes the worker's check files and leaves the
// worker's mark in the data directory (LeaveOrphanedData), so that the last janitor or worker removes the data. It
// begins when this process has ended, including all threads that may still write. It has a session of its own and
// ignores SIGINT, SIGTERM and SIGHUP, so that neither mpirun nor a coordinator ends it together with the worker; only
// killing all processes of a cgroup does. It keeps no directory and no other descriptor open. Callable from any thread.
class Janitor {
 public:
  // Forks. Returns null, and logs it, if the system refuses another process: the worker can do without. REQUIRES: this
  // process has no other thread yet, and its WorkerRights are set.
  static std::unique_ptr<Janitor> Start();
  // Waits at most a second for the process to end.
  ~Janitor();
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

  // This worker is in the coordinator's process, so it is not among the users of a claim: the others remove the data.
  // Call it before the worker gets requests.
  void LeaveDataToOthers() { leaves_data_to_others_ = true; }

  // Notes that the worker is going to use the data of a phase, in place of those of an earlier one.
  void RecordPrepare(const v1::Prepare& prepare);
  // Notes that the worker is going to perform these actions.
  void RecordFileActions(uint64_t run_id, const v1::FileActions& actions);
  // Drops all notes: the coordinator has ended the run and removed what had to be removed.
  void Forget();

  pid_t pid() const { return pid_; }

 private:
  Janitor(pid_t pid, UniqueFd notes) : pid_(pid), notes_(std::move(notes)) {}
  void Send(const v1::WorkerRequest& note);

  const pid_t pid_;
  bool leaves_data_to_others_ = false;
  Mutex mutex_;
  UniqueFd notes_ ABSL_GUARDED_BY(mutex_);
  std::string latest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // WORKER_JANITOR_H_
