// What a worker does for validate: calls on the run's check files and on files that it keeps open.
#ifndef WORKER_CHECK_TREE_ACTIONS_H_
#define WORKER_CHECK_TREE_ACTIONS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "iobench/v1/control.pb.h"
#include "worker/check/check_tree.h"

namespace iobench {

// Used by one thread at a time, except for Cancel. Limits on counts, contents and open files hold whatever a
// coordinator asks for.
class TreeActions {
 public:
  using Now = std::function<WorkerTime()>;

  // Performs one action in a directory of validate. May block as long as the file system does, and as long as the
  // action's timeout. Errors have the errno: those of the call that failed, close() included. InvalidArgument: beyond a
  // limit.
  absl::Status Act(const std::string& target, uint64_t run_id, const v1::FileAction& action, const Now& now,
                   v1::FileActionResult& result);

  // Ends waiting and repeating actions early. Any thread may call it.
  void Cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }
  // Closes all files, which releases their locks.
  void CloseAll() { held_.clear(); }

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
  absl::Status ReadMapped(Call& call);
  absl::Status WriteMapped(Call& call);
  absl::Status Await(Call& call);
  bool Seen(Call& call);
  bool Sleep(Call& call, int64_t end_ns);

  std::atomic<bool> cancelled_{false};
  std::map<uint32_t, UniqueFd> held_;
};

}  // namespace iobench

#endif  // WORKER_CHECK_TREE_ACTIONS_H_
