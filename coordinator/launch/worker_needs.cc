#include "coordinator/launch/worker_needs.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/plan_traits.h"
#include "common/text/shell_word.h"

namespace iobench {
namespace {

std::string DirectoryOfFile(const std::string& file) {
  return file.substr(0, std::max<size_t>(1, file.rfind('/')));
}

}  // namespace

std::string WorkerNeeds::Arguments() const {
  std::string arguments;
  for (const std::string& root : roots) absl::StrAppend(&arguments, " --root ", ShellWord(root));
  if (!actions.empty()) absl::StrAppend(&arguments, " --allow ", actions);
  return arguments;
}

WorkerNeeds NeedsOfWorkers(const v1::Plan& plan, TargetRoots targets) {
  WorkerNeeds needs;
  std::set<std::string> actions;
  const auto add_root = [&needs](const std::string& root) {
    const bool is_new = std::find(needs.roots.begin(), needs.roots.end(), root) == needs.roots.end();
    if (is_new && !root.empty()) needs.roots.push_back(root);
  };
  if (targets == TargetRoots::kOfPlan) {
    for (const v1::Target& target : plan.targets()) {
      if (!target.server()) add_root(target.path());
    }
  }
  for (const std::string& file : plan.files().existing_files()) add_root(DirectoryOfFile(file));
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Trace& trace = assignment.operation().trace();
      for (const std::string* const file : {&trace.read_file(), &trace.write_file()}) {
        if (!file->empty()) add_root(DirectoryOfFile(*file));
      }
      if (trace.offset_latency() || !trace.write_file().empty()) actions.insert("log-files");
    }
    for (const v1::Step& step : phase.before()) {
      if (step.has_remount()) actions.insert("remount");
      if (step.has_drop_caches()) actions.insert("drop-caches");
    }
  }
  if (targets == TargetRoots::kOfPlan && needs.roots.empty()) needs.roots = {kNoRoot};
  if (plan.has_stripe()) actions.insert("stripe");
  needs.actions = absl::StrJoin(actions, ",");
  return needs;
}

WorkerNeeds NeedsOfServers(const v1::Plan& plan) {
  WorkerNeeds needs;
  if (!plan.server_path().empty()) needs.roots = {plan.server_path()};
  if (std::any_of(plan.phases().begin(), plan.phases().end(), DropsCaches)) needs.actions = "drop-caches";
  return needs;
}

std::string ServerArguments(const v1::Plan& plan, uint32_t server_workers) {
  return absl::StrCat(plan.server_path().empty() ? "" : absl::StrCat(" --server-workers ", server_workers),
                      NeedsOfServers(plan).Arguments());
}

}  // namespace iobench
