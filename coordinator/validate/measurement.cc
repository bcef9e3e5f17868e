#include "coordinator/validate/measurement.h"

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "coordinator/conduct/data/client_steps.h"
#include "coordinator/conduct/plan_phases.h"

namespace iobench {
namespace {

absl::Status FirstLoss(const Cluster& cluster) {
  for (const Member& member : cluster.members()) {
    if (member.lost) return absl::UnavailableError(absl::StrCat(member.Name(), " was lost: ", member.lost_reason));
  }
  return absl::OkStatus();
}

// A run would replace data that an earlier one has kept and that does not fit.
absl::Status CheckNothingKept(const LoopContext& context) {
  for (const Member& member : context.cluster.members()) {
    const v1::WorkerTargets& seen = context.look.data->facts()[member.number];
    for (int i = 0; i < seen.targets_size(); ++i) {
      if (seen.targets(i).manifest().state() != v1::Manifest::KEPT) continue;
      const v1::Target& target = context.recorder.plan().targets(static_cast<int>(NumberOfSeen(seen, i)));
      return absl::FailedPreconditionError(
          absl::StrCat(DataAt(member, target),
                       " has data that a run has kept (-w): use another directory, or "
                       "remove them with `cluster-iobench clean ",
                       ShellWord(target.path()), "`"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<const v1::RunReport*> MeasurePhases(const Assembly& assembly, const LoopContext& context) {
  IOBENCH_RETURN_IF_ERROR(FirstLoss(context.cluster));
  IOBENCH_RETURN_IF_ERROR(CheckNothingKept(context));
  IOBENCH_RETURN_IF_ERROR(context.look.data->Decide(context.options.force));
  IOBENCH_RETURN_IF_ERROR(context.recorder.Begin(assembly, context.cluster, context.look));
  context.observer.RunStarts(context.recorder.report());
  PhaseLoop loop(context);
  PlanPhases phases;
  absl::Status status = loop.Claim();
  if (status.ok()) status = loop.Run(phases);
  status.Update(loop.EndData(DataKeeper::AtEnd::kRemove));
  IOBENCH_RETURN_IF_ERROR(status);
  IOBENCH_RETURN_IF_ERROR(FirstLoss(context.cluster));
  context.recorder.UpdateTotals();
  return &context.recorder.report();
}

}  // namespace iobench
