#include "coordinator/plan/files_of_owner.h"

#include "common/model/plan_traits.h"

namespace iobench {

std::set<uint32_t> TargetsOfNewSharedFiles(const v1::Plan& plan, const v1::Phase& phase,
                                           const Layout& layout) {
  std::set<uint32_t> targets;
  const PhaseShape shape = ShapeOf(plan, phase);
  if (!shape.files.shared_file()) return targets;
  const WorkerAssignments assignments(phase, layout.worker_count());
  for (uint32_t worker = 0; worker < layout.worker_count(); ++worker) {
    const v1::Assignment* const assignment = assignments.Of(worker);
    if (assignment == nullptr || assignment->background() || !CreatesFiles(assignment->operation())) continue;
    for (const v1::LanePlan& lane : layout.LanesOf(worker, assignment->operation(), shape)) {
      targets.insert(lane.target());
    }
  }
  return targets;
}

}  // namespace iobench
