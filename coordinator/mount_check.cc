#include "coordinator/mount_check.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/engine.h"
#include "common/nfs_url.h"
#include "common/phase_shape.h"
#include "common/plan_targets.h"
#include "common/status_util.h"
#include "coordinator/layout.h"

namespace iobench {
namespace {

// Null: it uses no files, or nobody knows it.
const EngineSpec* EngineOnFiles(const v1::Operation& operation) {
  const auto engine = FindEngine(operation.engine());
  return engine.ok() && (*engine)->uses_files ? *engine : nullptr;
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

absl::Status CheckSteps(const v1::Phase& phase) {
  const bool all_unmounted =
      std::all_of(phase.assignments().begin(), phase.assignments().end(), [](const v1::Assignment& each) {
        const EngineSpec* const engine = EngineOnFiles(each.operation());
        return engine != nullptr && !engine->mounted;
      });
  if (!all_unmounted) return absl::OkStatus();
  for (const v1::Step& step : phase.before()) {
    if (step.has_rest()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        step.has_remount() ? "-U (remount)" : "--drop-caches (drop_caches)", " has no meaning for engine ",
        phase.assignments(0).operation().engine(), " (", phase.assignments(0).operation().name(),
        "), which has no mount and keeps nothing in the client's memory: leave one of the two out"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMounts(const v1::Plan& plan) {
  for (const v1::Target& target : plan.targets()) {
    if (IsNfsUrl(target.path())) IOBENCH_RETURN_IF_ERROR(ParseNfsUrl(target.path()).status());
  }
  for (const v1::Phase& phase : plan.phases()) {
    IOBENCH_RETURN_IF_ERROR(CheckSteps(phase));
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
  for (uint32_t worker = 0; worker < worker_count; ++worker) {
    const v1::Target& target = plan.targets(static_cast<int>(TargetOfWorker(plan, worker)));
    for (const v1::Phase& phase : plan.phases()) {
      const v1::Assignment* const assignment = AssignmentFor(phase, worker);
      if (assignment == nullptr) continue;
      const EngineSpec* const engine = EngineOnFiles(assignment->operation());
      if (engine == nullptr || Fits(*engine, target)) continue;
      return Annotate(DoNotFit(*engine, assignment->operation(), target),
                      absl::StrCat("phase ", phase.name(), ", worker ", worker));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
