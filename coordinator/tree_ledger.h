// What the phases of a run have left in the trees of metadata operations. Pure: fed with the records of phases.
#ifndef COORDINATOR_TREE_LEDGER_H_
#define COORDINATOR_TREE_LEDGER_H_

#include <cstdint>
#include <map>
#include <utility>

#include "coordinator/layout.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class TreeLedger {
 public:
  explicit TreeLedger(const v1::Plan& plan) : plan_(plan) {}  // which must outlive it

  // What a lane finds that does `operation` on the part of `owner`. Of a part that was left half changed, only that.
  v1::TreeState StateFor(uint32_t owner, const v1::Operation& operation) const;

  // Whether the lane can only sit out: its part was left half changed, and the operation makes nothing anew.
  bool IsBroken(uint32_t owner, const v1::Operation& operation) const;

  // A phase has ended, by whatever.
  void Note(const v1::PhaseRecord& record, const Layout& layout);

 private:
  using Part = std::pair<uint32_t, uint32_t>;  // tree, owner
  void NoteLane(const v1::LaneResult& lane, const v1::Operation& operation, bool begun_before);

  const v1::Plan& plan_;
  std::map<Part, v1::TreeState> states_;
};

}  // namespace iobench

#endif  // COORDINATOR_TREE_LEDGER_H_
