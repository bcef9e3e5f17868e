#include "worker/check/check_files.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/digest/xxh3.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

constexpr int kMaxActions = 64;
// A request that begins later would only keep others waiting.
constexpr int64_t kMaxAheadNs = 60 * kNanosPerSecond;
constexpr size_t kMaxCheckFileBytes = 4096;
// A coordinator that only creates must not fill the directory.
constexpr size_t kMaxFiles = 64;

}  // namespace

bool IsOnCheckFile(const v1::FileAction& action) {
  return action.directory() == 0 &&
         (action.what() <= v1::FileAction::REMOVE || action.what() == v1::FileAction::TRY_WRITE);
}

std::string CheckFileName(uint64_t run_id, uint32_t file) {
  return absl::StrCat("cluster-iobench.check-", absl::Hex(run_id, absl::kZeroPad16), ".", file);
}

absl::Status CheckFiles::Act(const std::string& path, const std::string& name, const v1::FileAction& action,
                             v1::FileActionResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> directory, OpenTarget(path));
  const auto note = [&result](const std::string& contents) {
    result.set_bytes(contents.size());
    result.set_contents_xxh3(Xxh3Of(contents));
  };
  switch (action.what()) {
    case v1::FileAction::CREATE:
      if (action.contents().size() > kMaxCheckFileBytes) {
        return absl::InvalidArgumentError(
            absl::StrCat("a check file has at most ", kMaxCheckFileBytes, " bytes"));
      }
      if (const MutexLock lock(created_mutex_); created_.size() >= kMaxFiles) {
        return absl::ResourceExhaustedError(
            absl::StrCat("this worker has ", kMaxFiles, " check files already"));
      }
      result.set_begin_wall_ns(WallNowNs());
      IOBENCH_RETURN_IF_ERROR(WriteNewFile(*directory, name, action.contents()));
      {
        const MutexLock lock(created_mutex_);
        created_.emplace(path, name);
      }
      note(action.contents());
      // The new name has changed the directory, or another client's has since.
      if (const auto changed = directory->Identity(); changed.ok()) {
        result.mutable_facts()->set_changed_ns(changed->changed_ns);
      }
      result.set_end_wall_ns(WallNowNs());
      return absl::OkStatus();
    case v1::FileAction::READ: {
      IOBENCH_ASSIGN_OR_RETURN(const std::string contents,
                               ReadSmallFile(*directory, name, kMaxCheckFileBytes));
      note(contents);
      return absl::OkStatus();
    }
    case v1::FileAction::TRY_WRITE:
      return directory->OpenFile(name, OpenFor::kWritingOld).status();
    case v1::FileAction::REMOVE: {
      if (const MutexLock lock(created_mutex_); !created_.contains({path, name})) {
        return absl::FailedPreconditionError(
            absl::StrCat("remove ", directory->PathOf(name), ": this worker has not created it"));
      }
      IOBENCH_RETURN_IF_ERROR(directory->Remove(name));
      const MutexLock lock(created_mutex_);
      created_.erase({path, name});
      return absl::OkStatus();
    }
    default:
      return absl::UnimplementedError("this worker does not know this action");
  }
}

// Lists the thread as one of a lane while it lives.
class CheckFiles::LaneThread {
 public:
  explicit LaneThread(CheckFiles& files) : files_(files) {
    const MutexLock lock(files_.threads_mutex_);
    files_.threads_.push_back(::gettid());
  }
  ~LaneThread() {
    const MutexLock lock(files_.threads_mutex_);
    std::erase(files_.threads_, ::gettid());
  }

 private:
  CheckFiles& files_;
};

// Counts a request while it is performed.
class CheckFiles::Request {
 public:
  explicit Request(CheckFiles& files) : files_(files) {
    const MutexLock lock(files_.threads_mutex_);
    ++files_.requests_;
  }
  ~Request() {
    const MutexLock lock(files_.threads_mutex_);
    if (--files_.requests_ == 0) files_.ended_.NotifyAll();
  }

 private:
  CheckFiles& files_;
};

std::vector<pid_t> CheckFiles::LaneThreads() const {
  const MutexLock lock(threads_mutex_);
  return threads_;
}

absl::Status CheckFiles::Do(uint64_t run_id, const v1::FileActions& actions, const Now& now,
                            v1::FileActionsDone& done) {
  if (actions.actions_size() > kMaxActions) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", kMaxActions, " actions on check files per request"));
  }
  if (actions.start_worker_ns() != 0 && actions.start_worker_ns() > now().ns + kMaxAheadNs) {
    return absl::InvalidArgumentError("the actions on check files begin too late");
  }
  const Request request(*this);
  if (actions.start_worker_ns() != 0) WaitUntil(actions.start_worker_ns(), now);
  const std::string& target = actions.target().path();
  std::map<uint32_t, std::vector<std::pair<const v1::FileAction*, v1::FileActionResult*>>> lanes;
  done.mutable_results()->Reserve(actions.actions_size());
  for (const v1::FileAction& action : actions.actions()) {
    lanes[action.lane()].emplace_back(&action, done.add_results());
    const MutexLock lock(created_mutex_);
    if (!IsOnCheckFile(action)) trees_.emplace(target, run_id);
  }
  // Opened once for all: each directory on the way costs a round trip to the server.
  const bool has_tree = std::any_of(actions.actions().begin(), actions.actions().end(),
                                    [](const v1::FileAction& action) { return !IsOnCheckFile(action); });
  const absl::StatusOr<CheckTree> tree =
      has_tree ? CheckTree::At(target, run_id) : absl::FailedPreconditionError("no action needs it");
  const auto perform = [&](const auto& lane) {
    const LaneThread thread(*this);
    for (const auto& [action, result] : lane) {
      result->set_begin_worker_ns(now().ns);
      const absl::Status acted = IsOnCheckFile(*action)
                                     ? Act(target, CheckFileName(run_id, action->file()), *action, *result)
                                 : tree.ok() ? tree_.Act(*tree, *action, now, *result)
                                             : tree.status();
      result->set_end_worker_ns(now().ns);
      if (!acted.ok()) *result->mutable_problem() = ToProblem(acted);
    }
  };
  std::vector<std::future<void>> begun;
  for (const auto& [number, lane] : lanes) {
    if (lanes.size() == 1) {
      perform(lane);
      break;
    }
    begun.push_back(DoConcurrently([&perform, &lane = lane] { perform(lane); }));
  }
  for (std::future<void>& each : begun) each.get();
  return absl::OkStatus();
}

// Sleeps nearly until then and spins for the rest, so that workers that begin together do so within microseconds.
void CheckFiles::WaitUntil(int64_t start_worker_ns, const Now& now) const {
  constexpr int64_t kSpinNs = 200'000, kLongestSleepNs = 50'000'000;
  for (int64_t left_ns = start_worker_ns - now().ns; left_ns > 0 && !tree_.cancelled();
       left_ns = start_worker_ns - now().ns) {
    if (left_ns <= kSpinNs) continue;
    const timespec sleep = {.tv_sec = 0, .tv_nsec = std::min(left_ns - kSpinNs, kLongestSleepNs)};
    ::nanosleep(&sleep, nullptr);
  }
}

void CheckFiles::Adopt(uint64_t run_id, const v1::FileActions& actions) {
  const std::string& target = actions.target().path();
  const MutexLock lock(created_mutex_);
  for (const v1::FileAction& action : actions.actions()) {
    if (!IsOnCheckFile(action)) {
      trees_.emplace(target, run_id);
    } else if (action.what() == v1::FileAction::CREATE) {
      created_.emplace(target, CheckFileName(run_id, action.file()));
    }
  }
}

void CheckFiles::RemoveAll() {
  {
    const MutexLock lock(threads_mutex_);
    ended_.Wait(threads_mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return requests_ == 0; });
  }
  tree_.CloseAll();
  const MutexLock lock(created_mutex_);
  for (const auto& [path, run_id] : trees_) {
    const auto tree = CheckTree::At(path, run_id);
    if (tree.ok()) tree->Remove(0).IgnoreError();
  }
  trees_.clear();
  for (const auto& [path, name] : created_) {
    const auto directory = OpenTarget(path);
    if (directory.ok()) (*directory)->Remove(name).IgnoreError();
  }
  created_.clear();
}

}  // namespace iobench
