#include "coordinator/run/data/data_ledger.h"

#include <algorithm>

#include "common/model/data_content.h"
#include "common/model/operation.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "coordinator/plan/later_needs.h"

namespace iobench {
namespace {

constexpr uint32_t kSectorBytes = 512;

// Null: does not use data files.
const OperationSpec* DataOperation(const v1::Operation& operation) {
  return IsMetadata(operation) || !UsesFiles(operation) ? nullptr : SpecOf(operation);
}

bool AnyWriteFailed(const v1::LaneResult& lane) {
  return lane.problem().code() != 0 ||
         std::any_of(lane.errors().begin(), lane.errors().end(),
                     [](const v1::ErrorCount& error) { return error.kind() != v1::OP_READ; });
}

// True if a pass of it writes every record of the lane's files.
bool WritesEveryRecord(const OperationSpec& spec) {
  const bool each_once = spec.pattern == Pattern::kSequential || spec.pattern == Pattern::kBackward ||
                         spec.pattern == Pattern::kStride || spec.pattern == Pattern::kRandom;
  return each_once && (spec.kinds == OpKinds(OpKind::kWrite) || spec.kinds == OpKinds(OpKind::kUpdate));
}

}  // namespace

uint32_t SectorUnitBytes(const v1::Plan& plan) {
  uint64_t odd_record_bytes = 0;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (DataOperation(assignment.operation()) == nullptr) continue;
      const uint64_t record_bytes = assignment.operation().record_bytes();
      // In interleaved files, the record size determines which lane a place belongs to, so kept data with other records
      // cannot be used.
      if (record_bytes % kSectorBytes != 0 || plan.files().interleaved()) odd_record_bytes = record_bytes;
    }
  }
  return odd_record_bytes == 0 ? kSectorBytes : static_cast<uint32_t>(odd_record_bytes);
}

DataLedger::DataLedger(const v1::Plan& plan, const Layout& layout, uint64_t run_id)
    : plan_(plan),
      layout_(layout),
      data_(plan.data()),
      run_id_(run_id),
      seed_(plan.seed()),
      unit_bytes_(SectorUnitBytes(plan)) {}

void DataLedger::TakeOver(const v1::Manifest& kept) {
  data_ = kept.data();
  if (!HasSectors(kept.data())) return;
  run_id_ = kept.run_id();
  seed_ = kept.seed();
  unit_bytes_ = kept.unit_bytes();
  default_ = {kept.generation_low(), kept.generation_high(), kept.files().bytes_per_lane()};
  newest_ = kept.generation_high();
}

DataLedger::Files DataLedger::FilesIn(const v1::LanePlan& lane, const PhaseShape& shape) {
  return {.of_owner = FilesOf(lane, shape),
          .files_per_lane = std::max(1u, shape.files.files_per_lane()),
          .interleaved = shape.files.interleaved()};
}

DataLedger::State DataLedger::StateOf(const Files& files) const {
  if (const auto found = states_.find(files); found != states_.end()) return found->second;
  const bool removed = files.of_owner.shared && removed_shared_.contains(files.of_owner.target);
  State state = removed ? State() : default_;
  // Some of the data are those of other layouts, but perhaps not all: lane_bytes stays.
  for (auto other = states_.lower_bound({.of_owner = files.of_owner});
       other != states_.end() && other->first.of_owner == files.of_owner; ++other) {
    const State& known = other->second;
    state.low = state.low == 0 ? known.low : std::min(state.low, known.low);
    state.high = std::max(state.high, known.high);
    state.unacknowledged |= known.unacknowledged;
  }
  return state;
}

void DataLedger::ForgetShared(const std::set<uint32_t>& targets) {
  std::erase_if(states_, [&](const auto& each) {
    const FilesOfOwner& files = each.first.of_owner;
    return files.shared && targets.contains(files.target);
  });
  removed_shared_.insert(targets.begin(), targets.end());
}

void DataLedger::Begin(const v1::Phase& phase) {
  phase_ = &phase;
  shape_ = ShapeOf(plan_, phase);
  prepares_data_ = false;
  written_.clear();
  const WorkerAssignments assignments(phase, layout_.worker_count());
  for (uint32_t worker = 0; worker < layout_.worker_count(); ++worker) {
    const v1::Assignment* const assignment = assignments.Of(worker);
    if (assignment == nullptr) continue;
    const OperationSpec* const spec = DataOperation(assignment->operation());
    if (spec == nullptr) continue;
    const uint64_t needed_bytes = BytesNeededBy(plan_, phase, assignment->operation());
    for (const v1::LanePlan& lane : layout_.LanesOf(worker, assignment->operation(), shape_)) {
      prepares_data_ |= LacksData(StateOf(FilesIn(lane, shape_)), needed_bytes);
      if (spec->writes()) written_.insert(lane.file_owner());
    }
  }
  if (prepares_data_) ++newest_;
  prefill_generation_ = newest_;
  if (!written_.empty()) ++newest_;
  generation_ = newest_;
}

void DataLedger::Fill(v1::Prepare& prepare) const {
  *prepare.mutable_data() = plan_.data();
  const uint64_t needed_bytes = BytesNeededBy(plan_, *phase_, prepare.operation());
  if (needed_bytes < shape_.files.bytes_per_lane()) prepare.set_needed_bytes(needed_bytes);
  if (needed_bytes > 0 && plan_.files().existing_files().empty()) {
    for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
      const State state = StateOf(FilesIn(lane, shape_));
      if (state.low > 0) lane.set_written_bytes(std::min(state.lane_bytes, needed_bytes));
      lane.mutable_data()->set_unacknowledged(state.unacknowledged);
    }
  }
  if (!HasSectors(plan_.data())) return;
  v1::DataStamp& stamp = *prepare.mutable_stamp();
  stamp.set_run_id(run_id_);
  stamp.set_seed(seed_);
  stamp.set_generation(generation_);
  stamp.set_prefill_generation(prefill_generation_);
  stamp.set_unit_bytes(unit_bytes_);
  for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
    State state = StateOf(FilesIn(lane, shape_));
    // Another lane may prepare what is missing (LanePlan.leaves_prefill). Without any data, the worker knows that by
    // itself.
    if (prepares_data_ && state.low > 0 && LacksData(state, needed_bytes))
      state.high = std::max(state.high, prefill_generation_);
    lane.mutable_data()->set_low(state.low);
    lane.mutable_data()->set_unacknowledged(state.unacknowledged);
    // A reader may find either generation while it is being written.
    lane.mutable_data()->set_high(written_.contains(lane.file_owner()) ? generation_ : state.high);
  }
}

void DataLedger::Note(const v1::PhaseRecord& record) {
  const WorkerAssignments assignments(record.phase(), layout_.worker_count());
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    const v1::Assignment* const assignment = assignments.Of(worker.worker());
    if (assignment == nullptr || DataOperation(assignment->operation()) == nullptr) continue;
    std::map<uint32_t, const v1::LaneResult*> results;
    for (const v1::LaneResult& lane : worker.lanes()) results[lane.lane()] = &lane;
    for (const v1::LanePlan& lane : layout_.LanesOf(worker.worker(), assignment->operation(), shape_)) {
      const auto found = results.find(lane.lane());
      NoteLane(lane, found == results.end() ? nullptr : found->second, assignment->operation());
    }
  }
  if (!written_.empty()) data_ = plan_.data();
}

// `result` null: the worker was lost, or the run ended, before it reported how far the lane got.
void DataLedger::NoteLane(const v1::LanePlan& lane, const v1::LaneResult* result,
                          const v1::Operation& operation) {
  if (result != nullptr && result->sat_out()) return;
  const OperationSpec& spec = *DataOperation(operation);
  const uint64_t lane_bytes = shape_.files.bytes_per_lane();
  const Files files = FilesIn(lane, shape_);
  State state = StateOf(files);
  Change change{.file_bytes = lane_bytes / files.files_per_lane};
  const uint64_t needed_bytes = BytesNeededBy(plan_, *phase_, operation);
  if (LacksData(state, needed_bytes)) {
    if (state.low == 0) state.low = prefill_generation_;
    state.high = change.generation = prefill_generation_;
    state.lane_bytes = needed_bytes;
  }
  if (spec.writes()) {
    change.generation = generation_;
    change.any_failed = result != nullptr && AnyWriteFailed(*result);
    // A shared file is not replaced by its lanes: see ForgetShared.
    change.replaced = spec.creates_files && !operation.keep_existing() && !shape_.files.shared_file();
    // Without a result, or with a problem, the lane may have ended before it created its files.
    const bool is_new = change.replaced && result != nullptr && result->problem().code() == 0;
    // Files may be longer than what this phase writes.
    const bool is_whole = result != nullptr && result->problem().code() == 0 && !change.any_failed &&
                          result->bytes() >= lane_bytes && lane_bytes >= state.lane_bytes;
    const bool all_new = is_new || (is_whole && WritesEveryRecord(spec));
    if (all_new || state.low == 0) state.low = generation_;
    state.unacknowledged = change.any_failed || (state.unacknowledged && !all_new);
    state.high = generation_;
    // Of what a stop has left out, as much as later phases need was written afterwards (later_needs.h). The ops of a
    // trace may be anywhere, and the others of operations that create no files are within what was needed.
    const bool anywhere = !operation.trace().read_file().empty();
    const uint64_t written_bytes = !spec.creates_files ? needed_bytes : anywhere ? 0 : lane_bytes;
    state.lane_bytes = change.replaced ? written_bytes : std::max(state.lane_bytes, written_bytes);
  }
  states_[files] = state;
  if (change.generation > 0) NoteInOtherLayouts(files, change);
}

void DataLedger::NoteInOtherLayouts(const Files& files, const Change& change) {
  for (auto other = states_.lower_bound({.of_owner = files.of_owner});
       other != states_.end() && other->first.of_owner == files.of_owner; ++other) {
    if (other->first == files) continue;
    State& state = other->second;
    state.high = std::max(state.high, change.generation);
    state.unacknowledged |= change.any_failed;
    // At least the first file is one that this layout uses too.
    const uint64_t count = other->first.files_per_lane;
    if (change.replaced) state.lane_bytes = std::min(state.lane_bytes / count, change.file_bytes) * count;
  }
}

void DataLedger::Describe(v1::Manifest& manifest) const {
  *manifest.mutable_data() = data_;
  if (!HasSectors(data_)) return;
  // One range for all lanes: where lanes differ, the generation is then undetermined.
  State all = default_;
  for (const auto& [files, state] : states_) {
    if (state.low == 0) continue;
    all.low = all.low == 0 ? state.low : std::min(all.low, state.low);
    all.high = std::max(all.high, state.high);
  }
  // If every lane's files have been written since, nothing is left of the previous data.
  const auto of_plan = std::count_if(states_.begin(), states_.end(), [this](const auto& each) {
    const Files& files = each.first;
    return files.of_owner.shared == plan_.files().shared_file() &&
           files.interleaved == plan_.files().interleaved() &&
           files.files_per_lane == std::max(1u, plan_.files().files_per_lane());
  });
  if (static_cast<size_t>(of_plan) == layout_.lane_count() * std::max<size_t>(1, OnlyTargets(plan_).size())) {
    all.low = all.high;
    for (const auto& [files, state] : states_) all.low = std::min(all.low, std::max(1u, state.low));
  }
  manifest.set_generation_low(all.low);
  manifest.set_generation_high(all.high);
  manifest.set_unit_bytes(unit_bytes_);
}

}  // namespace iobench
