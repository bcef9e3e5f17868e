#include "coordinator/plan/later_needs.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"

namespace iobench {
namespace {

// True if a lane of this operation begins with new files, or overwrites what is there from the beginning.
bool CreatesWith(const v1::Operation& operation, const v1::LanePlan& lane) {
  if (IsMetadata(operation) || !UsesFiles(operation)) return false;
  const OperationSpec* const spec = SpecOf(operation);
  return (spec != nullptr && spec->creates_files) || (operation.truncate() && lane.mix() == v1::LANE_MIX_WRITER);
}

bool WorksOnTree(const v1::Operation& operation) {
  return IsMetadata(operation) && UsesFiles(operation);
}

using LaneVisitor = std::function<void(const v1::Operation& operation, const v1::LanePlan& lane)>;

void VisitLanes(const v1::Phase& phase, const PhaseShape& shape, const Layout& layout,
                const LaneVisitor& visit) {
  const WorkerAssignments assignments(phase, layout.worker_count());
  for (uint32_t worker = 0; worker < layout.worker_count(); ++worker) {
    const v1::Assignment* const assignment = assignments.Of(worker);
    if (assignment == nullptr || !UsesFiles(assignment->operation())) continue;
    for (const v1::LanePlan& lane : layout.LanesOf(worker, assignment->operation(), shape)) {
      visit(assignment->operation(), lane);
    }
  }
}

bool AnyOnTree(const v1::Phase& phase) {
  return std::any_of(phase.assignments().begin(), phase.assignments().end(),
                     [](const v1::Assignment& each) { return WorksOnTree(each.operation()); });
}

// The phases that follow, in the order in which they run.
std::vector<int> PhasesAfter(const v1::Plan& plan, int phase, bool again) {
  std::vector<int> after;
  for (int i = phase + 1; i < plan.phases_size(); ++i) after.push_back(i);
  for (int i = 0; again && i < plan.phases_size(); ++i) after.push_back(i);
  return after;
}

bool IsLaidOutAlike(const PhaseShape& a, const PhaseShape& b) {
  return std::max(1u, a.files.files_per_lane()) == std::max(1u, b.files.files_per_lane()) &&
         a.files.interleaved() == b.files.interleaved() && a.files.block_bytes() == b.files.block_bytes();
}

// Follows the files that a phase has created through the phases after it, until each is created anew.
class Need {
 public:
  Need(const v1::Plan& plan, const Layout& layout, const v1::Phase& phase)
      : plan_(plan), layout_(layout), shape_(ShapeOf(plan, phase)), grows_(GrowsFiles(plan, phase)) {
    VisitLanes(phase, shape_, layout, [this](const v1::Operation& operation, const v1::LanePlan& lane) {
      if (CreatesWith(operation, lane)) open_.insert(FilesOf(lane, shape_));
    });
    seeks_trees_ = AnyOnTree(phase);
  }

  bool is_over() const { return open_.empty() && !seeks_trees_; }

  void Follow(const v1::Phase& later) {
    const std::set<uint32_t> removed = TargetsOfNewSharedFiles(plan_, later, layout_);
    std::erase_if(open_, [&](const FilesOfOwner& files) { return files.shared && removed.contains(files.target); });
    const PhaseShape shape = ShapeOf(plan_, later);
    std::set<FilesOfOwner> created;
    VisitLanes(later, shape, layout_, [&](const v1::Operation& operation, const v1::LanePlan& lane) {
      const FilesOfOwner files = FilesOf(lane, shape);
      if (!open_.contains(files)) return;
      if (CreatesWith(operation, lane)) {
        created.insert(files);
      } else if (const uint64_t bytes = BytesNeededBy(plan_, later, operation); bytes > 0) {
        // In another layout, the first bytes of the lane are other parts of the files.
        // Of files that grow, a phase uses what is there.
        const uint64_t most = grows_ ? kLeastGrownBytes : UINT64_MAX;
        Take(files, IsLaidOutAlike(shape_, shape) ? std::min(bytes, most) : UINT64_MAX, later.name());
      }
    });
    for (const FilesOfOwner& files : created) open_.erase(files);
    if (!seeks_trees_ || !AnyOnTree(later)) return;
    seeks_trees_ = false;
    needs_.trees = true;
    if (needs_.first.empty()) needs_.first = later.name();
  }

  // A later run reads the files as they are in the end.
  void Keep() {
    for (const FilesOfOwner& files : open_) Take(files, plan_.files().bytes_per_lane(), "-w");
  }

  LaterNeeds Result() && { return std::move(needs_); }

 private:
  void Take(const FilesOfOwner& files, uint64_t bytes, const std::string& who) {
    uint64_t& needed = needs_.bytes[files];
    needed = std::max(needed, std::min(bytes, shape_.files.bytes_per_lane()));
    if (needs_.first.empty()) needs_.first = who;
  }

  const v1::Plan& plan_;
  const Layout& layout_;
  const PhaseShape shape_;
  const bool grows_;
  std::set<FilesOfOwner> open_;  // as the phase has left them
  bool seeks_trees_ = false;
  LaterNeeds needs_;
};

}  // namespace

uint64_t BytesNeededBy(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  if (spec == nullptr || !spec->needs_data || !UsesFiles(operation)) return 0;
  const uint64_t all_bytes = ShapeOf(plan, phase).files.bytes_per_lane();
  const v1::StopRule& stop = phase.stop();
  const bool in_order = spec->call != Call::kVector && operation.trace().read_file().empty() &&
                        spec->is_sequential();
  // Where ops may fail, more records than those of the ops that succeed are visited.
  if (!in_order || stop.max_ops() == 0 || stop.max_errors() > 0) return all_bytes;
  // A queue may have begun ops beyond the last one that counts.
  const uint64_t ops = stop.max_ops() + std::max(1u, operation.depth()) - 1;
  const uint64_t record_bytes = std::max<uint64_t>(1, operation.record_bytes());
  return ops < all_bytes / record_bytes ? ops * record_bytes : all_bytes;
}

LaterNeeds LaterNeedsOf(const v1::Plan& plan, const Layout& layout, int phase, bool again) {
  Need need(plan, layout, plan.phases(phase));
  const std::vector<int> after = PhasesAfter(plan, phase, again);
  for (const int later : after) {
    if (need.is_over()) break;
    need.Follow(plan.phases(later));
  }
  if (plan.keep_data()) need.Keep();
  LaterNeeds needs = std::move(need).Result();
  needs.nothing = after.empty() && !plan.keep_data();
  return needs;
}

}  // namespace iobench
