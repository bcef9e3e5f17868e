// The files with which a coordinator finds out what several workers see of one storage, and whether it behaves as it
// should.
#ifndef WORKER_CHECK_CHECK_FILES_H_
#define WORKER_CHECK_CHECK_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "common/time.h"
#include "iobench/v1/control.pb.h"
#include "worker/check/tree_actions.h"

namespace iobench {

// Belongs to one session. Do may be called by several threads, each for a request of its own; the others by one of them,
// but for Cancel and LaneThreads. It names the files itself, after the
// run, so that a request reaches no other file; it works below the worker's roots and follows no symbolic link. In the
// target's directory (directory 0), it opens nothing that exists for writing, and removes only what it has created.
class CheckFiles {
 public:
  using Now = std::function<WorkerTime()>;

  // Performs the actions of each lane in order, each with a result of its own, and those of other lanes on threads of
  // their own, so that a distant server costs the time of the longest lane. The target is opened anew for each READ:
  // opening a directory makes an NFS client ask its server whether the directory has changed, and forget names that it
  // knew to be missing. The result of a CREATE in the target's directory has the time at which the file system last
  // changed that directory, between two readings of this client's clock. `now` is called by all lanes. May block as long
  // as the file system does, and as long as the actions' timeouts. InvalidArgument: too many actions, or they would begin
  // more than a minute from now.
  absl::Status Do(uint64_t run_id, const v1::FileActions& actions, const Now& now, v1::FileActionsDone& done);

  // From now on, RemoveAll also removes what another process may create by these actions.
  void Adopt(uint64_t run_id, const v1::FileActions& actions);

  // The threads that perform actions now. Any thread may call it.
  std::vector<pid_t> LaneThreads() const;

  // Ends actions that wait or repeat. Any thread may call it.
  void Cancel() { tree_.Cancel(); }
  // Waits for requests that are performed, and removes what was created and not removed, as far as possible: the
  // coordinator is gone.
  void RemoveAll();

 private:
  class LaneThread;
  class Request;

  absl::Status Act(const std::string& path, const std::string& name, const v1::FileAction& action,
                   v1::FileActionResult& result);
  void WaitUntil(int64_t start_worker_ns, const Now& now) const;

  Mutex created_mutex_;
  std::set<std::pair<std::string, std::string>> created_
      ABSL_GUARDED_BY(created_mutex_);  // path of the target, name
  mutable Mutex threads_mutex_;
  std::vector<pid_t> threads_ ABSL_GUARDED_BY(threads_mutex_);
  size_t requests_ ABSL_GUARDED_BY(threads_mutex_) = 0;  // in Do
  CondVar ended_;
  TreeActions tree_;
  std::set<std::pair<std::string, uint64_t>> trees_
      ABSL_GUARDED_BY(created_mutex_);  // path of the target, run
};

// True for actions on check files in the target's directory; the others are on directories of validate.
bool IsOnCheckFile(const v1::FileAction& action);

// "cluster-iobench.check-00000000000000ff.3"
std::string CheckFileName(uint64_t run_id, uint32_t file);

}  // namespace iobench

#endif  // WORKER_CHECK_CHECK_FILES_H_
