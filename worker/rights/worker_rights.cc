#include "worker/rights/worker_rights.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace iobench {
namespace {

struct ActionWords {
  WorkerAction action;
  const char* name;
  const char* does;
};
constexpr std::array<ActionWords, 4> kActions = {{
    {WorkerAction::kRemount, "remount", "unmounts and mounts file systems (-U)"},
    {WorkerAction::kLogFiles, "log-files", "writes files besides its data (-Q, -X)"},
    {WorkerAction::kDropCaches, "drop-caches", "drops the host's caches"},
    {WorkerAction::kStripe, "stripe", "runs `lfs setstripe` (--stripe)"},
}};

const ActionWords& WordsOf(WorkerAction action) {
  return *std::find_if(kActions.begin(), kActions.end(),
                       [action](const ActionWords& words) { return words.action == action; });
}

WorkerRights& Rights() {
  // Never destroyed: a thread that hangs in a system call may outlive main().
  static auto& rights = *new WorkerRights;
  return rights;
}

}  // namespace

const WorkerRights& RightsOfThisWorker() {
  return Rights();
}

void SetWorkerRights(WorkerRights rights) {
  Rights() = std::move(rights);
}

const char* NameOf(WorkerAction action) {
  return WordsOf(action).name;
}

absl::Status CheckAllowed(WorkerAction action) {
  if (RightsOfThisWorker().actions.contains(action)) return absl::OkStatus();
  const ActionWords& words = WordsOf(action);
  return absl::PermissionDeniedError(absl::StrCat("this worker never ", words.does,
                                                  " for a coordinator: start it with --allow ", words.name,
                                                  ", or leave the option out of the run"));
}

absl::StatusOr<std::set<WorkerAction>> WorkerActionsFrom(const std::string& words) {
  std::set<WorkerAction> actions;
  for (const absl::string_view word : absl::StrSplit(words, ',', absl::SkipEmpty())) {
    const auto found = std::find_if(kActions.begin(), kActions.end(),
                                    [word](const ActionWords& known) { return word == known.name; });
    if (found == kActions.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--allow ", word, ": it takes remount, log-files, drop-caches and stripe"));
    }
    actions.insert(found->action);
  }
  return actions;
}

}  // namespace iobench
