#include "coordinator/conduct/data/tree_ledger.h"

#include <algorithm>

#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"
#include "coordinator/plan/check/metadata_plan.h"

namespace iobench {
namespace {

TreeEffect EffectOn(const v1::Operation& operation) {
  return EffectOf(*SpecOf(operation));
}

// The number of items in an intact part.
uint64_t ItemsFor(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree) {
  const bool on_found_files =
      state.files() && !effect.makes.Has(TreePart::kFiles) && !effect.makes.Has(TreePart::kLeaves) &&
      !effect.removes.Has(TreePart::kLeaves) && !PartsMissing(state, effect, tree).Has(TreePart::kFiles);
  return on_found_files && state.items() > 0 ? state.items() : tree.items_per_lane();
}

}  // namespace

v1::TreeState TreeLedger::StateFor(uint32_t only_target, uint32_t owner,
                                   const v1::Operation& operation) const {
  const uint32_t number = numbers_.Of(operation);
  v1::TreeState state;
  if (const auto known = states_.find({only_target, number, owner}); known != states_.end())
    state = known->second;
  state.set_number(number);
  state.set_items(ItemsFor(state, EffectOn(operation), operation.tree()));
  return state;
}

bool TreeLedger::IsBroken(uint32_t only_target, uint32_t owner, const v1::Operation& operation) const {
  return StateFor(only_target, owner, operation).unknown() && !EffectOn(operation).needs.empty() &&
         !SharesItems(operation);
}

void TreeLedger::NoteAbsent(uint32_t worker, const v1::Plan& plan, const Layout& layout) {
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Assignment* const assignment = AssignmentOf(phase, worker);
    if (assignment == nullptr || !IsMetadata(assignment->operation()) || !UsesFiles(assignment->operation()) ||
        SharesItems(assignment->operation()))
      continue;
    v1::Operation own = assignment->operation();
    own.set_rotate_clients(false);
    for (const v1::LanePlan& lane : layout.LanesOf(worker, own))
      states_[{phase.only_target(), numbers_.Of(own), lane.file_owner()}].set_unknown(true);
  }
}

void TreeLedger::Note(const v1::PhaseRecord& record, const Layout& layout) {
  const WorkerAssignments assignments(record.phase(), layout.worker_count());
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    const v1::Assignment* const assignment = assignments.Of(worker.worker());
    if (assignment == nullptr) continue;
    const v1::Operation& operation = assignment->operation();
    if (!IsMetadata(operation) || !UsesFiles(operation)) continue;
    for (const v1::LaneResult& lane : worker.lanes()) {
      if (!lane.sat_out()) RecordLane(lane, operation, record);
    }
    const bool unknown = worker.lost() || !worker.refused_reason().empty();
    if (!unknown || !EffectOn(operation).changes_names()) continue;
    for (const v1::LanePlan& lane :
         layout.LanesOf(worker.worker(), operation)) {  // it is unknown how far they got
      const Part part(record.phase().only_target(), numbers_.Of(operation), lane.file_owner());
      states_[part].set_unknown(true);
    }
  }
}

void TreeLedger::RecordLane(const v1::LaneResult& lane, const v1::Operation& operation,
                          const v1::PhaseRecord& record) {
  const TreeEffect effect = EffectOn(operation);
  const v1::Tree& tree = operation.tree();
  v1::TreeState& state = states_[{record.phase().only_target(), numbers_.Of(operation), lane.file_owner()}];
  // Everything that a cancelled attempt may have left half changed was removed.
  if (state.unknown() || (record.begun_before() && effect.changes_names())) state.Clear();
  // With --max-errors and in a soak, failed ops were skipped: their names are as they were, or not.
  const bool skipped =
      !lane.errors().empty() && (effect.changes_names() || effect.makes.Has(TreePart::kXattrs));
  if (lane.problem().code() != 0 || skipped) {
    const bool prepared =
        !PartsMissing(state, effect, tree).empty() || !PartsInTheWay(state, effect, tree).empty();
    if (effect.makes.Has(TreePart::kXattrs)) state.set_xattr_bytes(0);
    if (effect.changes_names() || prepared) state.set_unknown(true);
    return;
  }
  const bool prepares_files = PartsMissing(state, effect, tree).Has(TreePart::kFiles);
  state = StateAfter(state, effect, tree);
  if (prepares_files) state.set_items(tree.items_per_lane());
  if (effect.makes.Has(TreePart::kFiles)) {
    // Only a deadline lets a lane create fewer files than the tree has items.
    state.set_items(std::min(lane.ops(), tree.items_per_lane()));
    state.set_files(lane.ops() > 0);
  }
}

}  // namespace iobench
