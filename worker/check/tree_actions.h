// What a worker does for validate: calls on the run's check files and on files that it keeps open.
#ifndef WORKER_CHECK_TREE_ACTIONS_H_
#define WORKER_CHECK_TREE_ACTIONS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "iobench/v1/control.pb.h"
#include "worker/check/check_tree.h"

namespace iobench {

// CLOCK_REALTIME, the clock of mtime and ctime on this client.
int64_t WallNowNs();

// Used by the lanes of one request at a time, each on a thread of its own; an open file is used by one of them. Cancel may
// be called from any thread. Limits on counts, contents and open files hold whatever a
// coordinator asks for.
class TreeActions {
 public:
  using Now = std::function<WorkerTime()>;

  // Performs one action in a directory of validate. May block as long as the file system does, and as long as the
  // action's timeout. TRUNCATE, ALLOCATE and PUNCH act on the open file `held`, or by name if that is 0. Errors have the errno: those of the call that failed, close() included. InvalidArgument: beyond a
  // limit.
  absl::Status Act(const CheckTree& tree, const v1::FileAction& action, const Now& now,
                   v1::FileActionResult& result);

  // Ends waiting and repeating actions early. Any thread may call it.
  void Cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }
  // Closes all files, which releases their locks.
  void CloseAll() {
    const MutexLock lock(held_mutex_);
    held_.clear();
  }

 private:
  struct Call;  // of one action

  absl::Status ActInDirectory(Call& call);
  absl::Status OnName(Call& call);
  absl::Status OnHeld(Call& call);
  absl::Status Read(Call& call);
  absl::Status Write(Call& call);
  absl::Status List(Call& call);
  absl::Status Fill(Call& call);
  absl::Status Empty(Call& call);
  absl::Status Open(Call& call);
  absl::Status Lock(Call& call, int fd, bool take);
  absl::Status CountUp(Call& call);
  absl::Status AppendRecords(Call& call);
  absl::Status ReadFrom(Call& call, int fd, bool mapped);
  absl::Status WriteMapped(Call& call);
  absl::Status Await(Call& call);
  UniqueFd* Held(const v1::FileAction& action);  // nullptr: no file is open under its number
  bool Seen(Call& call);
  bool Sleep(Call& call, int64_t end_ns);

  std::atomic<bool> cancelled_{false};
  Mutex held_mutex_;
  std::map<std::pair<uint32_t, uint32_t>, UniqueFd> held_ ABSL_GUARDED_BY(held_mutex_);  // directory, number
};

}  // namespace iobench

#endif  // WORKER_CHECK_TREE_ACTIONS_H_
