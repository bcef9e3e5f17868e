// Tracks what the phases of a run have left in the trees of metadata operations. Pure: its inputs are records of
// phases.
#ifndef COORDINATOR_CONDUCT_DATA_TREE_LEDGER_H_
#define COORDINATOR_CONDUCT_DATA_TREE_LEDGER_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/layout.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One object per run. A tree has a part for each lane, named by the number of the lane that owns it, because rotated
// clients work on the parts of others. In phases with only_target, each target has trees of its own. A part that a
// failed or lost lane left half changed is `unknown` until an operation that needs nothing removes and creates it
// again.
class TreeLedger {
 public:
  explicit TreeLedger(const v1::Plan& plan) : numbers_(plan) {}  // a checked plan, which it does not borrow

  // Returns the state that a lane finds when it runs `operation` on the part of `owner`, in a phase with this
  // only_target. If that part was left half changed, only `unknown` is meaningful.
  v1::TreeState StateFor(uint32_t only_target, uint32_t owner, const v1::Operation& operation) const;

  // True if the lane must sit out: its part was left half changed, and the operation does not recreate it. Items that lanes
  // share are recreated by any of them.
  bool IsBroken(uint32_t only_target, uint32_t owner, const v1::Operation& operation) const;

  // Records a worker that takes no part in the run of this plan: its trees exist nowhere.
  void NoteAbsent(uint32_t worker, const v1::Plan& plan, const Layout& layout);
  // Records a phase, however it ended. Operations that are not metadata operations change nothing here.
  void Note(const v1::PhaseRecord& record, const Layout& layout);

 private:
  using Part = std::tuple<uint32_t, uint32_t, uint32_t>;  // only_target, tree, owner
  void RecordLane(const v1::LaneResult& lane, const v1::Operation& operation, const v1::PhaseRecord& record);

  const TreeNumbers numbers_;
  std::map<Part, v1::TreeState> states_;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_TREE_LEDGER_H_
