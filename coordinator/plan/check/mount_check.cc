#include "coordinator/plan/check/mount_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// Null: it uses no files, or is unknown.
const EngineSpec* EngineOnFiles(const v1::Operation& operation) {
  const EngineSpec* const engine = EngineOf(operation);
  return engine != nullptr && engine->uses_files ? engine : nullptr;
}

bool Fits(const EngineSpec& engine, const v1::Target& target) {
  return engine.mounted != IsNfsUrl(target.path());
}

absl::Status DoNotFit(const EngineSpec& engine, const v1::Operation& operation, const v1::Target& target) {
  const std::string what = absl::StrCat("--engine ", std::string(engine.name), " (", operation.name(), ")");
  if (engine.mounted) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " works in a directory, and --path ", target.path(),
                     " is the URL of an export: add --engine libnfs, or mount it and give the directory"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, " works without a mount, and --path ", target.path(),
                   " is a directory: give the export's URL, --path nfs://HOST/PATH, or another engine"));
}

absl::Status CheckStepsOf(const v1::Phase& phase, std::string_view origin) {
  // CheckPlan refuses it.
  if (phase.assignments().empty()) return absl::OkStatus();
  const bool all_unmounted =
      std::all_of(phase.assignments().begin(), phase.assignments().end(),
                  [](const v1::Assignment& each) { return IsUnmounted(each.operation()); });
  if (!all_unmounted) return absl::OkStatus();
  for (const v1::Step& step : phase.before()) {
    if (step.has_rest() || step.has_eat_memory() || step.has_fill()) continue;
    const std::string what = step.has_remount() ? "-U (remount)" : "--drop-caches (drop_caches)";
    const std::string told_by = origin.empty() ? what
                                               : absl::StrCat(what, ", a step in phase ", phase.name(),
                                                              " of ", std::string(origin), ",");
    return absl::InvalidArgumentError(absl::StrCat(
        told_by, " has no meaning for engine ", phase.assignments(0).operation().engine(), " (",
        phase.assignments(0).operation().name(),
        "), which has no mount and caches nothing in the client's memory: ",
        origin.empty()
            ? "leave one of the two out"
            : "use another engine, or print the plan with --print-plan, remove the step and run it with --plan"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSteps(const v1::Plan& plan, std::string_view origin) {
  for (const v1::Phase& phase : plan.phases()) IOBENCH_RETURN_IF_ERROR(CheckStepsOf(phase, origin));
  return absl::OkStatus();
}

absl::Status CheckMounts(const v1::Plan& plan) {
  for (const v1::Target& target : plan.targets()) {
    if (IsNfsUrl(target.path())) IOBENCH_RETURN_IF_ERROR(ParseNfsUrl(target.path()).status());
  }
  for (const v1::Phase& phase : plan.phases()) {
    IOBENCH_RETURN_IF_ERROR(CheckStepsOf(phase, ""));
    for (const v1::Assignment& assignment : phase.assignments()) {
      const EngineSpec* const engine = EngineOnFiles(assignment.operation());
      if (engine == nullptr || plan.targets().empty()) continue;
      const bool fits = std::any_of(plan.targets().begin(), plan.targets().end(),
                                    [engine](const v1::Target& target) { return Fits(*engine, target); });
      if (!fits) return DoNotFit(*engine, assignment.operation(), plan.targets(0));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMountsOfWorkers(const v1::Plan& plan, uint32_t worker_count) {
  if (plan.targets().empty()) return absl::OkStatus();
  const std::vector<uint32_t> targets = TargetOfEachWorker(plan, worker_count);
  for (const v1::Phase& phase : plan.phases()) {
    const WorkerAssignments assignments(phase, worker_count);
    for (uint32_t worker = 0; worker < worker_count; ++worker) {
      const v1::Target& target = plan.targets(static_cast<int>(TargetInPhase(phase, targets[worker])));
      const v1::Assignment* const assignment = assignments.Of(worker);
      if (assignment == nullptr) continue;
      const EngineSpec* const engine = EngineOnFiles(assignment->operation());
      if (engine == nullptr || Fits(*engine, target)) continue;
      return Annotate(DoNotFit(*engine, assignment->operation(), target),
                      absl::StrCat("phase ", phase.name(), ", worker ", worker));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTargetsHaveWorkers(const v1::Plan& plan, uint32_t worker_count) {
  if (worker_count == 0 || plan.targets().empty() || !plan.files().existing_files().empty()) {
    return absl::OkStatus();
  }
  std::vector<bool> has_worker(static_cast<size_t>(plan.targets_size()));
  for (const std::vector<uint32_t>& targets : TargetsOfEachWorker(plan, worker_count)) {
    for (const uint32_t target : targets) has_worker[target] = true;
  }
  const auto idle = std::find(has_worker.begin(), has_worker.end(), false);
  if (idle == has_worker.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "more directories than workers: --path names ", plan.targets_size(),
      ", and each needs a worker, but there ", worker_count == 1 ? "is " : "are ", worker_count,
      ", so no worker would test ", plan.targets(static_cast<int>(idle - has_worker.begin())).path(),
      ": use more workers (--spawn, mpirun), fewer --path, or --each-path to test one after the other"));
}

}  // namespace iobench
