#include "common/model/plan_traits.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>

#include "absl/strings/str_join.h"
#include "common/model/metadata_operation.h"
#include "common/model/phase_shape.h"
#include "common/not_a_number.h"
#include "common/text/units.h"
#include "google/protobuf/descriptor.h"

namespace iobench {
namespace {

constexpr uint64_t kProcessorCacheBytes = 1 << 20;
constexpr uint32_t kProcessorCacheLineBytes = 32;

uint64_t UsedBytes(const v1::Space& space) {
  return space.total_bytes() - std::min(space.total_bytes(), space.free_bytes());
}

}  // namespace

const OperationSpec* SpecOf(const v1::Operation& operation) {
  const auto found = FindOperation(operation.name());
  return found.ok() ? *found : nullptr;
}

const EngineSpec* EngineOf(const v1::Operation& operation) {
  const auto found = FindEngine(operation.engine());
  return found.ok() ? *found : nullptr;
}

std::string OperationNames(const v1::Phase& phase) {
  std::vector<std::string> names;
  for (const v1::Assignment& assignment : phase.assignments()) {
    const std::string& name = assignment.operation().name();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return absl::StrJoin(names, "+");
}

std::string PhaseName(const v1::Phase& phase) {
  return phase.name().empty() ? OperationNames(phase) : phase.name();
}

bool IsMetadata(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->is_metadata();
}

bool IsMetadata(const v1::Phase& phase) {
  return !phase.assignments().empty() &&
         std::all_of(phase.assignments().begin(), phase.assignments().end(),
                     [](const v1::Assignment& assignment) { return IsMetadata(assignment.operation()); });
}

bool HeadlineInOps(const v1::Phase& phase) {
  return !phase.assignments().empty() && std::all_of(phase.assignments().begin(), phase.assignments().end(),
                                                     [](const v1::Assignment& assignment) {
                                                       const OperationSpec* const spec =
                                                           SpecOf(assignment.operation());
                                                       return spec != nullptr && spec->headline_in_ops();
                                                     });
}

bool WorksOnData(const v1::Plan& plan) {
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (!IsMetadata(assignment.operation())) return true;
    }
  }
  return false;
}

bool FindsItems(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->is_metadata() && MetadataSpecOf(*spec).finds_items;
}

bool Writes(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->writes();
}

std::vector<RecordShare> RecordSharesOf(const v1::Operation& operation) {
  std::vector<RecordShare> shares;
  for (const v1::RecordShare& share : operation.records()) shares.push_back({share.record_bytes(), share.percent()});
  return shares;
}

std::vector<RecordShare> RecordsOf(const v1::Operation& operation) {
  if (operation.records().empty()) return {{operation.record_bytes(), 100}};
  return RecordSharesOf(operation);
}

std::string RecordSizesText(const v1::Operation& operation) {
  if (operation.records().empty()) return FormatBytes(static_cast<double>(operation.record_bytes()));
  return RecordShareText(RecordSharesOf(operation));
}

std::string AccessText(const v1::Operation& operation) {
  std::vector<std::string> parts;
  if (!operation.access().empty()) parts.push_back(operation.access());
  if (operation.burst_records() > 1) parts.push_back(absl::StrCat(operation.burst_records(), " in a row"));
  if (const uint64_t every = FlushEveryOps(operation); every > 0 && Writes(operation)) {
    parts.push_back(absl::StrCat(NameOf(FlushCallOf(operation.between())), " after ",
                                 every == 1 ? "each" : absl::StrCat("every ", every)));
  }
  return parts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(parts, ", "), ")");
}

double MeanRecordBytes(const v1::Operation& operation) {
  double bytes = 0, percents = 0;
  for (const RecordShare& share : RecordsOf(operation)) {
    bytes += share.percent * static_cast<double>(share.record_bytes);
    percents += share.percent;
  }
  return bytes / percents;
}

uint64_t SmallestRecordBytes(const v1::Operation& operation) {
  uint64_t least = operation.record_bytes();
  for (const v1::RecordShare& share : operation.records()) least = std::min<uint64_t>(least, share.record_bytes());
  return least;
}

bool WritesThroughMemory(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  const bool is_log = spec != nullptr && spec->flushes_each_with.has_value();
  const OpKind call =
      is_log && !operation.between().has_flush_call() ? *spec->flushes_each_with : FlushCallOf(operation.between());
  // sync_file_range promises nothing about the storage.
  const bool flushes_each = FlushEveryOps(operation) == 1 && call != OpKind::kSyncFileRange;
  return !operation.direct() && !operation.sync() && !operation.dsync() && !operation.rsync() && !flushes_each;
}

bool BuffersWrites(const v1::Operation& operation) {
  return Writes(operation) && WritesThroughMemory(operation);
}

uint64_t FlushEveryOps(const v1::Operation& operation) {
  if (operation.between().has_flush_every_ops()) return operation.between().flush_every_ops();
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->flushes_each_with.has_value() ? 1 : 0;
}

OpKind FlushCallOf(const v1::Between& between) {
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto call = static_cast<OpKind>(i);
    if (kFlushCallChoices.Has(call) && between.flush_call() == NameOf(call)) return call;
  }
  return OpKind::kFsync;
}

OpKinds FlushCallsOf(const v1::Operation& operation, const v1::TimedRegion& region) {
  if (IsMetadata(operation) || MovesNothing(operation)) return {};
  const v1::Between& between = operation.between();
  // An NFS client in this process has only COMMIT, and its close waits for nothing else.
  const bool commits = IsUnmounted(operation);
  OpKinds calls;
  if (Writes(operation)) {
    if (region.fsync() || region.flush_passes() || between.burst_bytes() > 0)
      calls = calls | (commits ? OpKind::kCommit : OpKind::kFsync);
    if (between.flush_every_ops() > 0) calls = calls | (commits ? OpKind::kCommit : FlushCallOf(between));
    if (region.close() && commits) calls = calls | OpKind::kCommit;
  }
  if (region.close() && !commits) calls = calls | OpKind::kClose;
  return calls;
}

OpKinds FlushCallsOf(const v1::Phase& phase) {
  OpKinds calls;
  for (const v1::Assignment& assignment : phase.assignments())
    calls = calls | FlushCallsOf(assignment.operation(), phase.region());
  return calls;
}

bool IsUnmounted(const v1::Operation& operation) {
  const EngineSpec* const engine = EngineOf(operation);
  return engine != nullptr && engine->uses_files && !engine->mounted;
}

bool UsesFiles(const v1::Operation& operation) {
  return EngineUsesFiles(operation.engine());
}

bool UsesFiles(const v1::Plan& plan) {
  if (!plan.files().existing_files().empty()) return false;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (UsesFiles(assignment.operation())) return true;
    }
  }
  return false;
}

bool CreatesFiles(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->creates_files && !operation.keep_existing() && UsesFiles(operation);
}

bool IsZero(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& get = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return get.GetString(message, &field).empty();
    case FieldDescriptor::CPPTYPE_BOOL:
      return !get.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get.GetDouble(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get.GetFloat(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_INT32:
      return get.GetInt32(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_INT64:
      return get.GetInt64(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_UINT32:
      return get.GetUInt32(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_UINT64:
      return get.GetUInt64(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_ENUM:
      return get.GetEnumValue(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  assert(false && "a message has no zero");
  return false;
}

void ClearZeros(google::protobuf::Message& part) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *part.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(part, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!field->is_repeated() && IsZero(part, *field)) reflection.ClearField(&part, field);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(part, field); ++i) {
        ClearZeros(*reflection.MutableRepeatedMessage(&part, field, i));
      }
    } else {
      ClearZeros(*reflection.MutableMessage(&part, field));
    }
  }
}

std::string MeaningOf(const google::protobuf::Message& part) {
  const std::unique_ptr<google::protobuf::Message> meaning(part.New());
  meaning->CopyFrom(part);
  ClearZeros(*meaning);
  return meaning->SerializeAsString();
}

bool MovesNothing(const v1::Operation& operation) {
  const EngineSpec* const engine = EngineOf(operation);
  return engine != nullptr && !engine->uses_files;
}

bool DividesClients(const v1::Phase& phase) {
  return phase.has_alone() || phase.has_interference() || phase.has_on_servers();
}

const v1::Phase* PlannedPhase(const v1::Plan& plan, const v1::PhaseReport& phase) {
  if (plan.phases().empty()) return nullptr;
  return &plan.phases(static_cast<int>(phase.index() % static_cast<uint32_t>(plan.phases_size())));
}

uint32_t PlannedLanes(const v1::RunInfo& run, const v1::PhaseReport& phase) {
  const v1::Phase* const planned = PlannedPhase(run.plan(), phase);
  if (planned == nullptr) return phase.lane_count();
  uint32_t workers = 0;
  for (uint32_t worker = 0; worker < run.worker_count(); ++worker)
    workers += AssignmentOf(*planned, worker) != nullptr ? 1 : 0;
  const uint32_t lanes = workers * ShapeOf(run.plan(), *planned).lanes_per_worker;
  return lanes > 0 ? lanes : phase.lane_count();
}

bool IsOnlyLane(const v1::Plan& plan, size_t worker_count) {
  return worker_count == 1 && plan.lanes_per_worker() == 1;
}

bool HasTrace(const v1::Trace& trace) {
  return !trace.read_file().empty() || !trace.write_file().empty() || trace.offset_latency();
}

bool CanReplayTrace(const OperationSpec& operation) {
  const bool one_kind =
      operation.kinds == OpKinds(OpKind::kRead) || operation.kinds == OpKinds(OpKind::kWrite);
  return one_kind && (operation.call == Call::kStream || operation.call == Call::kPositional);
}

uint64_t ProcessorCacheBytes(const v1::Between& between) {
  return between.processor_cache_bytes() > 0 ? between.processor_cache_bytes() : kProcessorCacheBytes;
}

uint32_t ProcessorCacheLineBytes(const v1::Between& between) {
  return between.processor_cache_line_bytes() > 0 ? between.processor_cache_line_bytes()
                                                  : kProcessorCacheLineBytes;
}

uint32_t FillPercent(const v1::Phase& phase) {
  uint32_t percent = 0;
  for (const v1::Step& step : phase.before()) percent = std::max(percent, step.fill().percent());
  return percent;
}

uint32_t FillPercent(const v1::Plan& plan) {
  uint32_t percent = 0;
  for (const v1::Phase& phase : plan.phases()) percent = std::max(percent, FillPercent(phase));
  return percent;
}

double UsedPercent(const v1::Space& space) {
  const auto used = static_cast<double>(UsedBytes(space));
  const double whole = used + static_cast<double>(space.available_bytes());
  return space.total_bytes() == 0 || whole == 0 ? kNaN : 100 * used / whole;
}

uint64_t BytesToFill(const v1::Space& space, uint32_t percent) {
  if (space.total_bytes() == 0) return 0;
  const double used = static_cast<double>(UsedBytes(space));
  const double wanted = (used + static_cast<double>(space.available_bytes())) * percent / 100;
  if (wanted <= used) return 0;
  return std::min(space.available_bytes(), static_cast<uint64_t>(std::ceil(wanted - used)));
}

const v1::Assignment* AssignmentOf(const v1::Phase& phase, uint32_t worker) {
  for (const v1::Assignment& assignment : phase.assignments()) {
    const auto& chosen = assignment.who().workers();
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), worker) != chosen.end()) return &assignment;
  }
  return nullptr;
}

WorkerAssignments::WorkerAssignments(const v1::Phase& phase, size_t worker_count)
    : phase_(phase), of_worker_(worker_count) {
  // The first assignment that selects a worker comes last, and stays.
  for (int i = phase.assignments_size() - 1; i >= 0; --i) {
    const v1::Assignment& assignment = phase.assignments(i);
    const auto& chosen = assignment.who().workers();
    if (chosen.empty()) of_worker_.assign(worker_count, &assignment);
    for (const uint32_t worker : chosen) {
      if (worker < worker_count) of_worker_[worker] = &assignment;
    }
  }
}

bool DropsCaches(const v1::Phase& phase) {
  return std::any_of(phase.before().begin(), phase.before().end(),
                     [](const v1::Step& step) { return step.has_drop_caches(); });
}

}  // namespace iobench
