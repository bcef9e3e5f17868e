#include "coordinator/conduct/data/data_ledger.h"

#include <algorithm>

#include "common/model/data_content.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "coordinator/conduct/data/data_decision.h"
#include "coordinator/plan/later_needs.h"

namespace iobench {
namespace {


// Null: does not use data files.
const OperationSpec* DataOperation(const v1::Operation& operation) {
  return IsMetadata(operation) || !UsesFiles(operation) ? nullptr : SpecOf(operation);
}

bool AnyWriteFailed(const v1::LaneResult& lane) {
  return lane.problem().code() != 0 ||
         std::any_of(lane.errors().begin(), lane.errors().end(),
                     [](const v1::ErrorCount& error) { return error.kind() != v1::OP_READ; });
}

// At least, for any order of whole records.
uint64_t OpsPerPass(const v1::Operation& operation, uint64_t bytes_per_lane) {
  if (!operation.trace().read_file().empty()) return 1;
  const bool vectors = DataOperation(operation)->call == Call::kVector;
  const uint64_t op_bytes = operation.record_bytes() * (vectors ? kMaxRecordsPerVector : 1);
  return std::max<uint64_t>(1, bytes_per_lane / std::max<uint64_t>(1, op_bytes));
}

// No lane does ops faster than one in 10 ns.
constexpr double kMaxOpsPerSecond = 1e8;
// A manifest is read by every worker.
constexpr uint32_t kMaxLanesDescribed = 4096;

// True if a pass of it writes every record of the lane's files, each once.
bool WritesEveryRecord(const OperationSpec& spec, const v1::Operation& operation) {
  if (!operation.trace().read_file().empty() || !operation.access().empty()) return false;
  // Random places of several sizes are drawn, as with --access.
  if (!operation.records().empty() && spec.is_random()) return false;
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
      for (const RecordShare& record : RecordsOf(assignment.operation())) {
        // In interleaved files, the record size determines which lane a place belongs to, so kept data with other records
        // cannot be used.
        if (record.record_bytes % kSectorBytes != 0 || plan.files().interleaved()) odd_record_bytes = record.record_bytes;
      }
    }
  }
  return static_cast<uint32_t>(odd_record_bytes == 0 ? kSectorBytes : odd_record_bytes);
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
  default_ = {kept.generation_low(), kept.generation_high(), KeptBytesPerLane(kept)};
  kept_ = kept;
  newest_ = kept.generation_high();
}

DataLedger::Files DataLedger::FilesIn(const v1::LanePlan& lane, const PhaseShape& shape) {
  return {.of_owner = FilesOf(lane, shape),
          .files_per_lane = std::max(1u, shape.files.files_per_lane()),
          .interleaved = shape.files.interleaved(),
          .block_bytes = shape.files.block_bytes()};
}

DataLedger::State DataLedger::StateOf(const Files& files) const {
  if (const auto found = states_.find(files); found != states_.end()) return found->second;
  State state = DefaultOf(files);
  // Some of the data are those of other layouts, but perhaps not all: lane_bytes stays.
  for (auto other = states_.lower_bound({.of_owner = files.of_owner});
       other != states_.end() && other->first.of_owner == files.of_owner; ++other) {
    const State& known = other->second;
    state.low = state.low == 0 ? known.low : std::min(state.low, known.low);
    state.high = std::max(state.high, known.high);
    state.unacknowledged |= known.unacknowledged;
    state.last_pass.reset();
  }
  return state;
}

DataLedger::State DataLedger::DefaultOf(const Files& files) const {
  if (files.of_owner.shared && removed_shared_.contains(files.of_owner.target)) return {};
  State state = default_;
  const v1::KeptPasses& passes = kept_.passes();
  const auto owner = static_cast<int>(files.of_owner.owner);
  const bool is_kept = files.of_owner.shared == kept_.files().shared_file() &&
                       files.interleaved == kept_.files().interleaved() &&
                       files.block_bytes == kept_.files().block_bytes() &&
                       files.files_per_lane == std::max(1u, kept_.files().files_per_lane());
  const int described = std::min({passes.low_size(), passes.high_size(), passes.lanes_size(),
                                  passes.passes_size(), passes.ops_size()});
  if (!is_kept || owner >= described) return state;
  state.low = passes.low(owner);
  state.high = std::max(passes.high(owner), state.low);
  if (passes.ops(owner) > 0) {
    state.last_pass = passes.pass();
    state.last_pass->set_lane(passes.lanes(owner));
    state.last_pass->set_pass(passes.passes(owner));
    state.last_pass->set_ops(passes.ops(owner));
  }
  return state;
}

uint32_t DataLedger::NewestPossible(uint64_t ops_per_pass) const {
  if (phase_.time_s <= 0) return phase_.generation;
  const double passes = phase_.time_s * kMaxOpsPerSecond / static_cast<double>(ops_per_pass) + 1;
  return GenerationOfPass(phase_.generation, static_cast<uint64_t>(std::min(passes, 1e12)));
}

void DataLedger::ForgetShared(const std::set<uint32_t>& targets) {
  std::erase_if(states_, [&](const auto& each) {
    const FilesOfOwner& files = each.first.of_owner;
    return files.shared && targets.contains(files.target);
  });
  removed_shared_.insert(targets.begin(), targets.end());
}

uint64_t DataLedger::BytesWrittenFor(const v1::Phase& phase) const {
  const PhaseShape shape = ShapeOf(plan_, phase);
  const WorkerAssignments assignments(phase, layout_.worker_count());
  uint64_t least = UINT64_MAX;
  for (uint32_t worker = 0; worker < layout_.worker_count(); ++worker) {
    const v1::Assignment* const assignment = assignments.Of(worker);
    if (assignment == nullptr || DataOperation(assignment->operation()) == nullptr) continue;
    for (const v1::LanePlan& lane : layout_.LanesOf(worker, assignment->operation(), shape)) {
      const State state = StateOf(FilesIn(lane, shape));
      least = std::min(least, state.low == 0 ? 0 : state.lane_bytes);
    }
  }
  return least == UINT64_MAX ? 0 : least;
}

void DataLedger::Begin(const v1::Phase& phase) {
  phase_.planned = &phase;
  phase_.shape = ShapeOf(plan_, phase);
  phase_.time_s = phase.stop().time_s();
  phase_.prepares_data = false;
  phase_.writers.clear();
  const WorkerAssignments assignments(phase, layout_.worker_count());
  for (uint32_t worker = 0; worker < layout_.worker_count(); ++worker) {
    const v1::Assignment* const assignment = assignments.Of(worker);
    if (assignment == nullptr) continue;
    const OperationSpec* const spec = DataOperation(assignment->operation());
    if (spec == nullptr) continue;
    const uint64_t needed_bytes = BytesNeededBy(plan_, phase, assignment->operation());
    for (const v1::LanePlan& lane : layout_.LanesOf(worker, assignment->operation(), phase_.shape)) {
      phase_.prepares_data |= LacksData(StateOf(FilesIn(lane, phase_.shape)), needed_bytes);
      if (spec->writes()) ++phase_.writers[lane.file_owner()];
    }
  }
  if (phase_.prepares_data) ++newest_;
  phase_.prefill_generation = newest_;
  if (!phase_.writers.empty()) ++newest_;
  phase_.generation = newest_;
}

void DataLedger::Fill(v1::Prepare& prepare) const {
  *prepare.mutable_data() = plan_.data();
  const uint64_t needed_bytes = BytesNeededBy(plan_, *phase_.planned, prepare.operation());
  if (needed_bytes < phase_.shape.files.bytes_per_lane()) prepare.set_needed_bytes(needed_bytes);
  if (needed_bytes > 0 && plan_.files().existing_files().empty()) {
    for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
      const State state = StateOf(FilesIn(lane, phase_.shape));
      if (state.low > 0) lane.set_written_bytes(std::min(state.lane_bytes, needed_bytes));
      lane.mutable_data()->set_unacknowledged(state.unacknowledged);
    }
  }
  if (!HasSectors(plan_.data())) return;
  v1::DataStamp& stamp = *prepare.mutable_stamp();
  stamp.set_run_id(run_id_);
  stamp.set_seed(seed_);
  stamp.set_generation(phase_.generation);
  stamp.set_prefill_generation(phase_.prefill_generation);
  stamp.set_unit_bytes(unit_bytes_);
  for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
    State state = StateOf(FilesIn(lane, phase_.shape));
    // Another lane may prepare what is missing (LanePlan.leaves_prefill). Without any data, the worker knows that by
    // itself.
    if (phase_.prepares_data && state.low > 0 && LacksData(state, needed_bytes))
      state.high = std::max(state.high, phase_.prefill_generation);
    v1::DataState& data = *lane.mutable_data();
    data.set_low(state.low);
    data.set_unacknowledged(state.unacknowledged);
    // A reader may find any of the generations while they are being written.
    const bool is_written = phase_.writers.contains(lane.file_owner());
    data.set_high(is_written ? NewestPossible(/*ops_per_pass=*/1) : state.high);
    if (!is_written && state.last_pass && !LacksData(state, needed_bytes)) *data.mutable_last_pass() = *state.last_pass;
  }
}

void DataLedger::Note(const v1::PhaseRecord& record) {
  const WorkerAssignments assignments(record.phase(), layout_.worker_count());
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    const v1::Assignment* const assignment = assignments.Of(worker.worker());
    if (assignment == nullptr || DataOperation(assignment->operation()) == nullptr) continue;
    std::map<uint32_t, const v1::LaneResult*> results;
    for (const v1::LaneResult& lane : worker.lanes()) results[lane.lane()] = &lane;
    for (const v1::LanePlan& lane : layout_.LanesOf(worker.worker(), assignment->operation(), phase_.shape)) {
      const auto found = results.find(lane.lane());
      RecordLane({lane, found == results.end() ? nullptr : found->second, assignment->operation(), record.index()});
    }
  }
  if (!phase_.writers.empty()) data_ = plan_.data();
}

// Without a result, the worker was lost, or the run ended, before it reported how far the lane got.
void DataLedger::RecordLane(const Writer& writer) {
  const v1::LaneResult* const result = writer.result;
  if (result != nullptr && result->sat_out()) return;
  const OperationSpec& spec = *DataOperation(writer.operation);
  const uint64_t lane_bytes = phase_.shape.files.bytes_per_lane();
  const Files files = FilesIn(writer.lane, phase_.shape);
  State state = StateOf(files);
  Change change{.file_bytes = lane_bytes / files.files_per_lane};
  const uint64_t needed_bytes = BytesNeededBy(plan_, *phase_.planned, writer.operation);
  if (LacksData(state, needed_bytes)) {
    if (state.low == 0) state.low = phase_.prefill_generation;
    state.high = change.generation = phase_.prefill_generation;
    state.last_pass.reset();
    state.lane_bytes = needed_bytes;
  }
  if (spec.writes()) {
    change.any_failed = result != nullptr && AnyWriteFailed(*result);
    // A shared file is not replaced by its lanes: see ForgetShared.
    change.replaced = spec.creates_files && !writer.operation.keep_existing() && !phase_.shape.files.shared_file();
    // Without a result, or with a problem, the lane may have ended before it created its files.
    const bool is_new = change.replaced && result != nullptr && result->problem().code() == 0;
    RecordWritten(writer, is_new, change.any_failed, state);
    change.generation = state.high;
    // Of what a stop has left out, as much as later phases need was written afterwards (later_needs.h). The ops of a
    // trace may be anywhere, and the others of operations that create no files are within what was needed.
    const bool anywhere = !writer.operation.trace().read_file().empty();
    const bool grew = GrowsFiles(plan_) && result != nullptr && result->passes() == 0;
    const uint64_t created_bytes = grew ? std::min(lane_bytes, result->bytes()) : lane_bytes;
    const uint64_t written_bytes = !spec.creates_files ? needed_bytes : anywhere ? 0 : created_bytes;
    state.lane_bytes = change.replaced ? written_bytes : std::max(state.lane_bytes, written_bytes);
  }
  newest_ = std::max(newest_, state.high);
  states_[files] = state;
  if (change.generation > 0) RecordInOtherLayouts(files, change);
}

void DataLedger::RecordWritten(const Writer& writer, bool is_new, bool any_failed, State& state) {
  const v1::LaneResult* const result = writer.result;
  const uint64_t lane_bytes = phase_.shape.files.bytes_per_lane();
  // Files may be longer than what this phase writes.
  const bool is_sound = result != nullptr && result->problem().code() == 0 && !any_failed;
  const bool in_order = is_sound && WritesEveryRecord(*DataOperation(writer.operation), writer.operation) &&
                        lane_bytes >= state.lane_bytes;
  const bool counts_passes = result != nullptr && result->bytes_per_pass() > 0;
  const uint64_t passes = counts_passes ? result->passes() : in_order && result->bytes() >= lane_bytes ? 1 : 0;
  const uint64_t pass_ops = counts_passes ? result->pass_ops() : 0;
  const bool is_whole = in_order && passes > 0;
  const bool wrote_nothing = in_order && counts_passes && passes == 0 && pass_ops == 0;
  if (wrote_nothing && !is_new && state.low > 0) return;
  if (phase_.writers[writer.lane.file_owner()] > 1) {
    // Of lanes that write the same files, nobody knows which one was last.
    if (is_whole || is_new || state.low == 0) state.low = phase_.generation;
    const uint32_t newest = counts_passes ? GenerationOfPass(phase_.generation, passes)
                                          : NewestPossible(OpsPerPass(writer.operation, lane_bytes));
    state.high = std::max(state.high, newest);
    state.unacknowledged |= any_failed;
    state.last_pass.reset();
    return;
  }
  // The state without what the last pass wrote.
  if (is_new || state.low == 0) {
    state = {.low = phase_.generation,
             .high = phase_.generation,
             .lane_bytes = state.lane_bytes,
             .unacknowledged = state.unacknowledged};
  }
  if (is_whole) {
    state.low = state.high = GenerationOfPass(phase_.generation, passes - 1);
    state.last_pass.reset();
  }
  state.unacknowledged = any_failed || (state.unacknowledged && !is_new && !is_whole);
  const bool one_before = state.low == state.high && !state.last_pass && !state.unacknowledged;
  if (in_order && counts_passes && pass_ops == 0 && is_whole) return;
  state.last_pass.reset();
  // A WrittenPass says nothing of several record sizes, and of records in a row.
  const bool has_order = in_order && writer.operation.records().empty() && writer.operation.burst_records() <= 1;
  if (has_order && counts_passes && one_before && pass_ops > 0) {
    state.high = GenerationOfPass(phase_.generation, passes);
    if (state.high == state.low) return;
    v1::WrittenPass& pass = state.last_pass.emplace();
    pass.set_operation(writer.operation.name());
    pass.set_record_bytes(writer.operation.record_bytes());
    pass.set_stride_records(writer.operation.stride_records());
    pass.set_bytes_per_lane(lane_bytes);
    pass.set_seed(plan_.seed());
    pass.set_lane(writer.lane.lane());
    pass.set_phase(writer.phase_index);
    pass.set_pass(passes);
    pass.set_ops(pass_ops);
  } else if (!is_whole || !has_order) {
    state.high = counts_passes ? GenerationOfPass(phase_.generation, passes)
                               : NewestPossible(OpsPerPass(writer.operation, lane_bytes));
  }
}

void DataLedger::RecordInOtherLayouts(const Files& files, const Change& change) {
  for (auto other = states_.lower_bound({.of_owner = files.of_owner});
       other != states_.end() && other->first.of_owner == files.of_owner; ++other) {
    if (other->first == files) continue;
    State& state = other->second;
    state.high = std::max(state.high, change.generation);
    state.last_pass.reset();
    state.unacknowledged |= change.any_failed;
    // At least the first file is one that this layout uses too.
    const uint64_t count = other->first.files_per_lane;
    if (change.replaced) state.lane_bytes = std::min(state.lane_bytes / count, change.file_bytes) * count;
  }
}

void DataLedger::Describe(v1::Manifest& manifest) const {
  *manifest.mutable_data() = data_;
  for (const v1::Phase& phase : plan_.phases()) {
    if (GrowsFiles(plan_, phase)) manifest.set_grown_bytes_per_lane(WholeRecordsIn(BytesWrittenFor(phase), phase));
  }
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
           files.interleaved == plan_.files().interleaved() && files.block_bytes == plan_.files().block_bytes() &&
           files.files_per_lane == std::max(1u, plan_.files().files_per_lane());
  });
  if (static_cast<size_t>(of_plan) == layout_.lane_count() * std::max<size_t>(1, OnlyTargets(plan_).size())) {
    all.low = all.high;
    for (const auto& [files, state] : states_) all.low = std::min(all.low, std::max(1u, state.low));
  }
  manifest.set_generation_low(all.low);
  manifest.set_generation_high(all.high);
  manifest.set_unit_bytes(unit_bytes_);
  manifest.clear_passes();
  if (all.low != all.high) DescribeLanes(manifest);
}

void DataLedger::DescribeLanes(v1::Manifest& manifest) const {
  const auto lane_count = static_cast<uint32_t>(layout_.lane_count());
  if (lane_count > kMaxLanesDescribed || !OnlyTargets(plan_).empty()) return;
  v1::KeptPasses passes;
  std::map<uint32_t, const State*> by_owner;
  for (const auto& [files, state] : states_) {
    if (files.of_owner.shared != plan_.files().shared_file() || files.interleaved != plan_.files().interleaved() ||
        files.block_bytes != plan_.files().block_bytes() ||
        files.files_per_lane != std::max(1u, plan_.files().files_per_lane())) {
      continue;
    }
    if (!state.is_exact() || !by_owner.emplace(files.of_owner.owner, &state).second) return;
  }
  if (by_owner.size() != lane_count || by_owner.rbegin()->first + 1 != lane_count) return;
  for (const auto& [owner, state] : by_owner) {
    const v1::WrittenPass own = state->last_pass.value_or(v1::WrittenPass());
    passes.add_low(state->low);
    passes.add_high(state->high);
    passes.add_lanes(own.lane());
    passes.add_passes(own.pass());
    passes.add_ops(own.ops());
    if (!state->last_pass) continue;
    v1::WrittenPass common = own;
    common.clear_lane();
    common.clear_pass();
    common.clear_ops();
    if (!passes.has_pass()) *passes.mutable_pass() = common;
    if (passes.pass().SerializeAsString() != common.SerializeAsString()) return;
  }
  *manifest.mutable_passes() = std::move(passes);
}

}  // namespace iobench
