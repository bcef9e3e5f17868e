#include "coordinator/preflight/untimed_work.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/files_of_owner.h"
#include "coordinator/plan/later_needs.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/time_estimate.h"

namespace iobench {
namespace {

// How many ops of a lane that creates something a phase does in any case; the rest may be left to be done afterwards.
uint64_t CertainOps(const v1::StopRule& stop) {
  if (stop.time_s() > 0 || stop.deadline_s() > 0) return 0;
  return stop.max_ops() > 0 ? stop.max_ops() : UINT64_MAX;
}

uint64_t Product(uint64_t ops, uint64_t bytes) {
  return ops > UINT64_MAX / std::max<uint64_t>(1, bytes) ? UINT64_MAX : ops * bytes;
}

// Goes through the phases of a run and keeps in mind which data are there.
class Run {
 public:
  Run(const v1::Plan& plan, const Layout& layout, bool has_data)
      : plan_(plan), layout_(layout), numbers_(plan), has_data_(has_data) {}

  // `times`: so often, with the same data there.
  void Do(int place, bool again, uint64_t times) {
    const v1::Phase& phase = plan_.phases(place);
    const std::set<uint32_t> removed = TargetsOfNewSharedFiles(plan_, phase, layout_);
    std::erase_if(there_, [&](const auto& each) { return each.first.shared && removed.contains(each.first.target); });
    const LaterNeeds later = LaterNeedsOf(plan_, layout_, place, again);
    const PhaseShape shape = ShapeOf(plan_, phase);
    const WorkerAssignments assignments(phase, layout_.worker_count());
    std::map<std::pair<uint32_t, uint32_t>, v1::TreeState> trees = trees_;  // as the phase leaves them
    trees_in_phase_.clear();
    for (uint32_t worker = 0; worker < layout_.worker_count(); ++worker) {
      const v1::Assignment* const assignment = assignments.Of(worker);
      if (assignment == nullptr || !UsesFiles(assignment->operation())) continue;
      const v1::Operation& operation = assignment->operation();
      if (IsMetadata(operation)) {
        DoOnTree(phase, operation, shape.lanes_per_worker, later, times, trees);
        continue;
      }
      for (const v1::LanePlan& lane : layout_.LanesOf(worker, operation, shape)) {
        DoOnFiles(phase, operation, lane, shape, later, times);
      }
    }
    trees_ = std::move(trees);
  }

  UntimedWork Result() && { return std::move(work_); }

 private:
  void DoOnFiles(const v1::Phase& phase, const v1::Operation& operation, const v1::LanePlan& lane,
                 const PhaseShape& shape, const LaterNeeds& later, uint64_t times) {
    uint64_t& there = there_[FilesOf(lane, shape)];
    if (const uint64_t needed = BytesNeededBy(plan_, phase, operation); there < needed && !has_data_) {
      work_.prefill_bytes += times * needed;
      if (work_.prefill_for.empty()) work_.prefill_for = phase.name();
      there = needed;
    }
    if (!CreatesFiles(operation)) return;
    there = shape.files.bytes_per_lane();
    const uint64_t needed = later.BytesOf(FilesOf(lane, shape));
    const uint64_t certain = Product(CertainOps(phase.stop()), SmallestRecordBytes(operation));
    if (certain >= needed) return;
    work_.finish_bytes += times * (needed - certain);
    if (work_.finish_for.empty()) work_.finish_for = later.first;
  }

  void DoOnTree(const v1::Phase& phase, const v1::Operation& operation, uint64_t lanes, const LaterNeeds& later,
                uint64_t times, std::map<std::pair<uint32_t, uint32_t>, v1::TreeState>& trees) {
    const std::pair<uint32_t, uint32_t> tree(phase.only_target(), numbers_.Of(operation));
    const TreeEffect effect = EffectOf(*SpecOf(operation));
    const v1::TreeState& before = trees_[tree];
    // Names that all lanes have are those of one worker.
    const bool has_own = HasItemsPerLane(operation.name()) || trees_in_phase_.insert(tree).second;
    const uint64_t names = has_own ? NamesOfTree(operation, lanes) : 0;
    if (!PartsMissing(before, effect, operation.tree()).empty()) {
      work_.prefill_names += times * names;
      if (work_.prefill_for.empty()) work_.prefill_for = phase.name();
    }
    trees[tree] = StateAfter(before, effect, operation.tree());
    const uint64_t certain = Product(CertainOps(phase.stop()), lanes);
    // A deadline determines how many files there are.
    if (phase.stop().deadline_s() > 0 && effect.makes.Has(TreePart::kFiles)) return;
    if (!effect.changes_names() || !later.trees || certain >= names) return;
    work_.finish_names += times * (names - certain);
    if (work_.finish_for.empty()) work_.finish_for = later.first;
  }

  const v1::Plan& plan_;
  const Layout& layout_;
  const TreeNumbers numbers_;
  const bool has_data_;
  std::map<FilesOfOwner, uint64_t> there_;
  std::map<std::pair<uint32_t, uint32_t>, v1::TreeState> trees_;  // by only_target and number; all parts are alike
  std::set<std::pair<uint32_t, uint32_t>> trees_in_phase_;  // whose names all lanes have
  UntimedWork work_;
};

std::string Line(const char* what, const std::string& phase, const char* amount, uint64_t bytes, uint64_t names) {
  std::string line = absl::StrCat(what, " for ", Printable(phase));
  if (bytes > 0) {
    const auto all = static_cast<double>(bytes);
    absl::StrAppend(&line, " writes ", amount, FormatBytes(all), ": ",
                    FormatSeconds(all / kAssumedBytesPerSecond), " at ",
                    FormatBytesPerSecond(kAssumedBytesPerSecond));
  }
  if (names > 0) {
    absl::StrAppend(&line, bytes > 0 ? ", and" : "", " makes ", amount, FormatCount(static_cast<double>(names)),
                    " names");
  }
  return line;
}

}  // namespace

UntimedWork UntimedWorkOf(const v1::Plan& plan, uint32_t worker_count, bool has_data) {
  std::vector<uint32_t> clients(worker_count);
  std::iota(clients.begin(), clients.end(), 0);
  const Layout layout(plan, clients);
  const uint64_t times = MostRepetitions(plan);
  Run run(plan, layout, has_data);
  // The first repetition finds no data. Those after it are alike, except that nothing follows the last one.
  for (uint64_t repetition = 0; repetition < std::min<uint64_t>(3, times); ++repetition) {
    const bool again = plan.soak_s() > 0 || repetition + 1 < std::min<uint64_t>(3, times);
    for (int place = 0; place < plan.phases_size(); ++place) {
      run.Do(place, again, repetition == 1 && times > 2 ? times - 2 : 1);
    }
  }
  return std::move(run).Result();
}

std::vector<std::string> UntimedLines(const UntimedWork& work) {
  std::vector<std::string> lines;
  if (work.prefill_bytes + work.prefill_names > 0) {
    lines.push_back(Line("preparing files", work.prefill_for, "", work.prefill_bytes, work.prefill_names));
  }
  if (work.finish_bytes + work.finish_names > 0) {
    lines.push_back(Line("finishing files", work.finish_for, "up to ", work.finish_bytes, work.finish_names));
  }
  return lines;
}

}  // namespace iobench
