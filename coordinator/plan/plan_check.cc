#include "coordinator/plan/plan_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/model/advice.h"
#include "common/model/data_content.h"
#include "common/model/engine.h"
#include "common/model/engine_demand.h"
#include "common/model/operation.h"
#include "common/model/phase_check.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/access_text.h"
#include "common/text/units.h"
#include "coordinator/plan/background.h"
#include "coordinator/plan/check/client_side_check.h"
#include "coordinator/plan/check/criteria_check.h"
#include "coordinator/plan/check/data_check.h"
#include "coordinator/plan/check/files_check.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/check/mount_check.h"
#include "coordinator/plan/check/queue_check.h"
#include "coordinator/plan/check/ranks_check.h"
#include "coordinator/plan/check/target_check.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/server_phases.h"
#include "coordinator/plan/rounds.h"
#include "coordinator/yaml/field_presence.h"

namespace iobench {
namespace {

// Refuses an option that the engine does not support; the message names both.
absl::Status CheckEngineOptions(const EngineSpec& engine, const OperationSpec& spec,
                                const v1::Operation& operation) {
  for (const EngineDemand& demand : EngineDemands()) {
    if (!demand.asked(operation) || Meets(engine, spec, demand)) continue;
    return absl::InvalidArgumentError(absl::StrCat(std::string(demand.option), " has no meaning for engine ",
                                                   std::string(engine.name), " (", operation.name(),
                                                   "): leave one of the two out"));
  }
  if (!operation.fadvise().empty()) IOBENCH_RETURN_IF_ERROR(FileAdvice(operation.fadvise()).status());
  if (!operation.mmap().advice().empty()) {
    IOBENCH_RETURN_IF_ERROR(MapAdvice(operation.mmap().advice()).status());
  }
  if (operation.file_lock() && operation.record_locks()) {
    return absl::InvalidArgumentError(
        "-W (file_lock) already locks what -+l (record_locks) would lock: use only one of the two");
  }
  return absl::OkStatus();
}

// Checks the size of the records, which files and buffers must hold.
absl::Status CheckRecords(const v1::FileLayout& files, const v1::Operation& operation) {
  const uint64_t record_bytes = operation.record_bytes();
  const uint64_t file_bytes = files.bytes_per_lane() / files.files_per_lane();
  if (record_bytes == 0)
    return absl::InvalidArgumentError(
        "the record size is 0: give -r (record_bytes of a plan) a size such as 64k");
  if (record_bytes > kLargestRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a record of ", ExactBytes(record_bytes), " is larger than the max of 1 GiB"));
  }
  if (record_bytes > file_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("a record of ", ExactBytes(record_bytes),
                                                   " is larger than a file of ", ExactBytes(file_bytes),
                                                   ": use a smaller -r or a larger -s"));
  }
  if (operation.buffer_bytes() > 0 && operation.buffer_bytes() < record_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("-m (buffer_bytes) of ",
                                                   ExactBytes(operation.buffer_bytes()),
                                                   " is less than a record of ", ExactBytes(record_bytes)));
  }
  for (const RecordShare& share : RecordsOf(operation)) {
    if (!operation.direct() || share.record_bytes % kSectorBytes == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "with -I the record size must be a multiple of 512 bytes, and ", share.record_bytes, " is not"));
  }
  return absl::OkStatus();
}

absl::Status CheckOperation(const v1::FileLayout& files, const v1::Operation& operation,
                            const v1::StopRule& stop) {
  const auto found = FindOperation(operation.name());
  if (!found.ok()) return absl::InvalidArgumentError(found.status().message());
  const OperationSpec& spec = **found;
  IOBENCH_ASSIGN_OR_RETURN(const EngineSpec* const engine, EngineFor(spec, operation.engine()));
  IOBENCH_RETURN_IF_ERROR(CheckEngineOptions(*engine, spec, operation));
  IOBENCH_RETURN_IF_ERROR(CheckQueue(*engine, operation));
  IOBENCH_RETURN_IF_ERROR(CheckBetween(operation.between()));
  IOBENCH_RETURN_IF_ERROR(CheckArrivals(operation, stop));
  IOBENCH_RETURN_IF_ERROR(CheckSimulated(operation));
  IOBENCH_RETURN_IF_ERROR(CheckMix(spec, operation));
  IOBENCH_RETURN_IF_ERROR(CheckRecordShares(spec, operation));
  IOBENCH_RETURN_IF_ERROR(ParseAccess(operation.access()).status());
  if (!operation.access().empty() && !operation.trace().read_file().empty()) {
    return absl::InvalidArgumentError(
        "--access (access) and -Y (trace.read_file) both say which records are used: leave one of the two out");
  }
  if (spec.is_metadata()) return CheckMetadata(operation, stop);
  if (operation.jitter_every() > 0 && !spec.reads()) {
    return absl::InvalidArgumentError(absl::StrCat("-K (jitter_every) inserts reads between reads, and ",
                                                   operation.name(), " has none: leave it out"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckRecords(files, operation));
  IOBENCH_RETURN_IF_ERROR(CheckBurstRecords(spec, operation, files.bytes_per_lane() / files.files_per_lane()));
  if (operation.preallocate() && !spec.creates_files) {
    return absl::InvalidArgumentError(
        absl::StrCat("--preallocate (preallocate) only applies to operations that create files, and ",
                     operation.name(), " creates none: leave it out"));
  }
  return absl::OkStatus();
}

// Checks everything about a phase that does not depend on other phases.
absl::Status CheckPhase(const v1::Plan& plan, const v1::Phase& phase) {
  if (phase.assignments().empty()) return absl::InvalidArgumentError("it has no assignments");
  IOBENCH_RETURN_IF_ERROR(CheckNoZeros(phase));
  IOBENCH_RETURN_IF_ERROR(CheckSpreading(phase));
  const PhaseShape shape = ShapeOf(plan, phase);
  IOBENCH_RETURN_IF_ERROR(CheckFiles(plan, phase));
  for (const v1::Assignment& assignment : phase.assignments()) {
    IOBENCH_RETURN_IF_ERROR(CheckOperation(shape.files, assignment.operation(), phase.stop()));
    IOBENCH_RETURN_IF_ERROR(CheckRanksOf(plan, phase, assignment.operation()));
  }
  IOBENCH_RETURN_IF_ERROR(CheckStop(phase.stop()));
  if (phase.stonewall() == v1::STONEWALL_FLUSHED && !phase.region().fsync() && !phase.region().close()) {
    return absl::InvalidArgumentError(
        "a flushed stonewall needs the fsync or the close in the timed region (-e, -c)");
  }
  const bool writes = std::any_of(phase.assignments().begin(), phase.assignments().end(),
                                  [](const auto& assignment) { return Writes(assignment.operation()); });
  if (phase.region().flush_passes() && !(writes && phase.stop().time_s() > 0)) {
    return absl::InvalidArgumentError(
        "flush_passes only applies to writes that loop over their records for a time (stop.time_s, --time)");
  }
  return absl::OkStatus();
}

// What the operation's row and its engine say about flushes between ops.
void CompleteFlushes(const OperationSpec& spec, const EngineSpec& engine, v1::Operation& operation) {
  if (FlushEveryOps(operation) == 0) return;
  v1::Between& between = *operation.mutable_between();
  between.set_flush_every_ops(FlushEveryOps(operation));
  if (between.has_flush_call()) return;
  const bool can_choose = spec.flushes_each_with.has_value() && engine.Can(EngineFeature::kFlushCallChoice);
  between.set_flush_call(NameOf(can_choose ? *spec.flushes_each_with : OpKind::kFsync));
}

// Fills in what an operation leaves to its engine and its row of the operation table.
void CompleteOperation(v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  if (!operation.has_engine()) operation.set_engine(kDefaultEngine);
  // The default engine may stand for an operation's own engine; CheckPlan reports a wrong combination.
  if (spec != nullptr) {
    if (auto engine = EngineFor(*spec, operation.engine()); engine.ok()) {
      operation.set_engine(std::string((*engine)->name));
      CompleteQueue(**engine, operation);
      CompleteFlushes(*spec, **engine, operation);
    }
  }
  if (!operation.has_record_bytes()) {
    for (const v1::RecordShare& share : operation.records())
      operation.set_record_bytes(std::max<uint64_t>(operation.record_bytes(), share.record_bytes()));
  }
  if (!operation.has_stride_records()) operation.set_stride_records(17);
  if (!operation.has_read_percent()) {
    operation.set_read_percent(spec == nullptr ? 50 : spec->default_read_percent());
  }
  if (operation.has_between()) CompleteBetween(*operation.mutable_between());
  if (IsMetadata(operation)) CompleteMetadata(operation);
}

// Drops what has no effect in the phase from its timed region (a plan that asks for it is refused: field_uses.h), and
// flushes its passes.
void CompleteRegion(v1::Phase& phase) {
  bool writes = false, buffers_writes = false;
  for (const v1::Assignment& assignment : phase.assignments()) {
    writes |= Writes(assignment.operation());
    buffers_writes |= BuffersWrites(assignment.operation()) && UsesFiles(assignment.operation());
  }
  v1::TimedRegion& region = *phase.mutable_region();
  if (!writes) region.set_fsync(false);  // there is nothing to flush
  // Otherwise the next pass overwrites what the last one left in memory, and the headline counts bytes that were
  // never flushed.
  if (buffers_writes && phase.stop().time_s() > 0 && (region.fsync() || region.close()) &&
      !region.has_flush_passes()) {
    region.set_flush_passes(true);
  }
  if (!IsMetadata(phase)) return;
  region.Clear();  // each op opens and closes its own files
  region.set_flush_passes(false);
}

void CompletePlanFiles(v1::FileLayout& files) {
  if (!files.has_files_per_lane()) files.set_files_per_lane(1);
  if (!files.has_shared_file()) files.set_shared_file(false);
  if (!files.has_interleaved()) files.set_interleaved(false);
}

// The phase's own files, as ShapeOf sees them. Their size stays open while it depends on the clients' memory.
void CompletePhaseFiles(const v1::FileLayout& of_plan, v1::FileLayout& files) {
  if (!files.has_files_per_lane()) files.set_files_per_lane(of_plan.files_per_lane());
  if (!files.has_shared_file()) files.set_shared_file(of_plan.shared_file());
  if (!files.has_interleaved()) files.set_interleaved(of_plan.interleaved());
  const bool is_open = !files.has_bytes_per_lane() && of_plan.memory_percent() == 0;
  if (is_open && of_plan.has_bytes_per_lane()) files.set_bytes_per_lane(of_plan.bytes_per_lane());
}

// The phases of a saved plan may already be those of some workers; each client alone would do only its part of them.
absl::Status CheckPerClient(const v1::Plan& plan) {
  const bool is_divided = std::any_of(plan.phases().begin(), plan.phases().end(), DividesClients);
  if (!plan.per_client() || !is_divided) return absl::OkStatus();
  return absl::InvalidArgumentError("the plan already divides its clients: leave out --per-client");
}

// The plan with the phases that criteria of a run with a background load, or with measured servers, can name.
v1::Plan AsIfTwoClientsHadJoined(v1::Plan plan) {
  if (!plan.server_path().empty()) AddServerPhases(1, 1, plan);
  if (!HasBackground(plan)) return plan;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    for (v1::Assignment& assignment : *phase.mutable_assignments()) assignment.clear_who();
  }
  plan.set_background_clients(1);
  const WorkersOfClient clients[] = {{.name = "victim", .workers = {0}}, {.name = "other", .workers = {1}}};
  SetBesideBackground(clients, false, plan).IgnoreError();  // it cannot fail with these
  return plan;
}

}  // namespace

v1::Stonewall DefaultStonewall(const v1::Operation& operation, const v1::TimedRegion& region) {
  const bool flushes = BuffersWrites(operation) && (region.close() || region.fsync());
  return flushes ? v1::STONEWALL_FLUSHED : v1::STONEWALL_RETROACTIVE;
}

v1::Stonewall DefaultStonewall(const v1::Phase& phase) {
  const bool flushes = std::any_of(
      phase.assignments().begin(), phase.assignments().end(), [&phase](const v1::Assignment& each) {
        return DefaultStonewall(each.operation(), phase.region()) == v1::STONEWALL_FLUSHED;
      });
  return flushes ? v1::STONEWALL_FLUSHED : v1::STONEWALL_RETROACTIVE;
}

void CompletePlan(v1::Plan& plan) {
  if (!plan.has_lanes_per_worker()) plan.set_lanes_per_worker(1);
  if (!plan.has_repetitions()) plan.set_repetitions(1);
  if (plan.has_until_steady()) CompleteSteady(*plan.mutable_until_steady());
  CompletePlanFiles(*plan.mutable_files());
  if (plan.targets().empty()) plan.add_targets()->set_path(".");
  CompleteData(*plan.mutable_data());
  for (v1::Phase& phase : *plan.mutable_phases()) {
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      assignment.mutable_who();
      CompleteOperation(*assignment.mutable_operation());
    }
    if (!phase.has_name()) phase.set_name(PhaseName(phase));
    CompleteRegion(phase);
    phase.mutable_stop();
    if (!phase.has_stonewall() && phase.assignments_size() > 0) {
      phase.set_stonewall(DefaultStonewall(phase));
    }
    if (phase.has_files()) CompletePhaseFiles(plan.files(), *phase.mutable_files());
  }
  WriteOutZeros(plan);
}

absl::Status CheckPlan(const v1::Plan& plan) {
  if (plan.phases().empty())
    return absl::InvalidArgumentError("the plan has no phases: name operations with -i or --op");
  if (plan.lanes_per_worker() > kMaxLanesPerWorker) {
    return absl::InvalidArgumentError(absl::StrCat(
        plan.lanes_per_worker(), " lanes per worker are more than the max of ", kMaxLanesPerWorker));
  }
  const v1::FileLayout& files = plan.files();
  if (files.bytes_per_lane() == 0 && WorksOnData(plan))
    return absl::InvalidArgumentError(
        "the size is 0: give -s (files.bytes_per_lane of a plan) a size such as 4m");
  IOBENCH_RETURN_IF_ERROR(CheckNoZeros(plan, "phases"));
  if (files.bytes_per_lane() > kLargestDataBytes) {
    return absl::InvalidArgumentError("the size per lane is over 4 EiB");
  }
  if (plan.data().verify() && !WorksOnData(plan)) {
    return absl::InvalidArgumentError(
        "--verify (-+d, data.verify) checks records, and metadata operations have none: leave it out");
  }
  for (const v1::Target& target : plan.targets()) {
    if (target.path().empty()) return absl::InvalidArgumentError("a target has no path");
  }
  IOBENCH_RETURN_IF_ERROR(CheckTargets(plan));
  IOBENCH_RETURN_IF_ERROR(CheckMounts(plan));
  for (const v1::Phase& phase : plan.phases()) {
    const absl::Status status = CheckPhase(plan, phase);
    if (status.ok()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "phase ", phase.name().empty() ? "(without a name)" : phase.name(), ": ", status.message()));
  }
  IOBENCH_RETURN_IF_ERROR(CheckPerClient(plan));
  IOBENCH_RETURN_IF_ERROR(CheckBackground(plan));
  IOBENCH_RETURN_IF_ERROR(CheckServerPath(plan));
  IOBENCH_RETURN_IF_ERROR(CheckSoak(plan));
  IOBENCH_RETURN_IF_ERROR(CheckUntilSteady(plan));
  IOBENCH_RETURN_IF_ERROR(CheckCriteria(AsIfTwoClientsHadJoined(plan)));
  IOBENCH_RETURN_IF_ERROR(CheckClientSide(plan));
  return CheckData(plan);
}

absl::Status CheckForWorkers(const v1::Plan& plan, uint32_t worker_count) {
  IOBENCH_RETURN_IF_ERROR(CheckTargets(plan));  // targets that workers specified themselves
  IOBENCH_RETURN_IF_ERROR(CheckBytesInAll(plan, worker_count));
  IOBENCH_RETURN_IF_ERROR(CheckTargetsHaveWorkers(plan, worker_count));
  IOBENCH_RETURN_IF_ERROR(CheckMountsOfWorkers(plan, worker_count));
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const auto& chosen = assignment.who().workers();
      const auto last = std::max_element(chosen.begin(), chosen.end());
      if (last == chosen.end() || *last < worker_count) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("phase ", phase.name(), " needs ", *last + 1, " workers (who names worker ", *last,
                       "), but the run has ", worker_count, ": start more workers, or use a smaller -u"));
    }
    const uint64_t lanes = uint64_t{worker_count} * ShapeOf(plan, phase).lanes_per_worker;
    for (const v1::Assignment& assignment : phase.assignments()) {
      const uint32_t readers = assignment.operation().reader_lanes();
      if (readers <= lanes) continue;
      return absl::InvalidArgumentError(absl::StrCat("phase ", phase.name(), ": -+K ", readers,
                                                     " (reader_lanes) is more than the ", lanes,
                                                     " lanes in all: use more lanes (-t), or a smaller -+K"));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
