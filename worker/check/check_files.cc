#include "worker/check/check_files.h"

#include <time.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/digest/xxh3.h"
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
      if (created_.size() >= kMaxFiles) {
        return absl::ResourceExhaustedError(
            absl::StrCat("this worker has ", kMaxFiles, " check files already"));
      }
      IOBENCH_RETURN_IF_ERROR(WriteNewFile(*directory, name, action.contents()));
      created_.emplace(path, name);
      note(action.contents());
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
      const auto created = created_.find({path, name});
      if (created == created_.end()) {
        return absl::FailedPreconditionError(
            absl::StrCat("remove ", directory->PathOf(name), ": this worker has not created it"));
      }
      IOBENCH_RETURN_IF_ERROR(directory->Remove(name));
      created_.erase(created);
      return absl::OkStatus();
    }
    default:
      return absl::UnimplementedError("this worker does not know this action");
  }
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
  const std::string& target = actions.target().path();
  if (actions.start_worker_ns() != 0) WaitUntil(actions.start_worker_ns(), now);
  for (const v1::FileAction& action : actions.actions()) {
    v1::FileActionResult& result = *done.add_results();
    result.set_begin_worker_ns(now().ns);
    const bool of_target = IsOnCheckFile(action);
    if (!of_target) trees_.emplace(target, run_id);
    const absl::Status acted = of_target ? Act(target, CheckFileName(run_id, action.file()), action, result)
                                         : tree_.Act(target, run_id, action, now, result);
    result.set_end_worker_ns(now().ns);
    if (!acted.ok()) *result.mutable_problem() = ToProblem(acted);
  }
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
  for (const v1::FileAction& action : actions.actions()) {
    if (!IsOnCheckFile(action)) {
      trees_.emplace(target, run_id);
    } else if (action.what() == v1::FileAction::CREATE) {
      created_.emplace(target, CheckFileName(run_id, action.file()));
    }
  }
}

void CheckFiles::RemoveAll() {
  tree_.CloseAll();
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
