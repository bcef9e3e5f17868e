// The files with which a coordinator finds out what several workers see of one storage, and whether it behaves as it
// should.
#ifndef WORKER_CHECK_CHECK_FILES_H_
#define WORKER_CHECK_CHECK_FILES_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/time.h"
#include "iobench/v1/control.pb.h"
#include "worker/check/tree_actions.h"

namespace iobench {

// Belongs to one session and is used by one thread at a time, except for Cancel. It names the files itself, after the
// run, so that a request reaches no other file; it works below the worker's roots and follows no symbolic link. In the
// target's directory (directory 0), it opens nothing that exists for writing, and removes only what it has created.
class CheckFiles {
 public:
  using Now = std::function<WorkerTime()>;

  // Performs the actions in order, each with a result of its own. The target is opened anew for each READ: opening a
  // directory makes an NFS client ask its server whether the directory has changed, and forget names that it knew to be
  // missing. May block as long as the file system does, and as long as the actions' timeouts. InvalidArgument: too many
  // actions, or they would begin more than a minute from now.
  absl::Status Do(uint64_t run_id, const v1::FileActions& actions, const Now& now, v1::FileActionsDone& done);

  // From now on, RemoveAll also removes what another process may create by these actions.
  void Adopt(uint64_t run_id, const v1::FileActions& actions);

  // Ends actions that wait or repeat. Any thread may call it.
  void Cancel() { tree_.Cancel(); }
  // Removes what was created and not removed, as far as possible: the coordinator is gone.
  void RemoveAll();

 private:
  absl::Status Act(const std::string& path, const std::string& name, const v1::FileAction& action,
                   v1::FileActionResult& result);
  void WaitUntil(int64_t start_worker_ns, const Now& now) const;

  std::set<std::pair<std::string, std::string>> created_;  // path of the target, name
  TreeActions tree_;
  std::set<std::pair<std::string, uint64_t>> trees_;  // path of the target, run
};

// True for actions on check files in the target's directory; the others are on directories of validate.
bool IsOnCheckFile(const v1::FileAction& action);

// "cluster-iobench.check-00000000000000ff.3"
std::string CheckFileName(uint64_t run_id, uint32_t file);

}  // namespace iobench

#endif  // WORKER_CHECK_CHECK_FILES_H_
