#include "coordinator/plan/plan_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/model/advice.h"
#include "common/model/engine.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_check.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/plan/client_side_check.h"
#include "coordinator/plan/data_check.h"
#include "coordinator/plan/files_check.h"
#include "coordinator/plan/metadata_plan.h"
#include "coordinator/plan/mount_check.h"
#include "coordinator/plan/queue_check.h"
#include "coordinator/plan/target_check.h"

namespace iobench {
namespace {


// Uses the largest unit without rounding, so that different sizes have different texts.
std::string ExactBytes(uint64_t bytes) {
  for (const auto& [unit, name] : {std::pair{1_GiB, " GiB"}, {1_MiB, " MiB"}, {1_KiB, " KiB"}}) {
    if (bytes >= unit && bytes % unit == 0) return absl::StrCat(bytes / unit, name);
  }
  return absl::StrCat(bytes, " bytes");
}

// Refuses an option that the engine does not support; the message names both.
absl::Status CheckEngineOptions(const EngineSpec& engine, const OperationSpec& spec,
                                const v1::Operation& operation) {
  const auto has = [&](EngineFeature feature) { return engine.features.Has(feature); };
  const v1::Mmap& mmap = operation.mmap();
  // Some metadata operations write to files that they open.
  const bool syncs = engine.sync && (!spec.is_metadata() || EffectOf(spec).writes_data);
  struct Wish {
    const char* option;
    bool asked;
    bool can;
  };
  for (const Wish& wish : {
           Wish{"-I (direct)", operation.direct(), engine.direct},
           Wish{"-o (sync)", operation.sync(), syncs},
           Wish{"-+D (dsync)", operation.dsync(), syncs},
           Wish{"-+r (rsync)", operation.rsync(), engine.sync && !spec.is_metadata()},
           Wish{"-W (file_lock)", operation.file_lock(), has(EngineFeature::kFileLock)},
           Wish{"-+l (record_locks)", operation.record_locks(), has(EngineFeature::kRecordLocks)},
           Wish{"-K (jitter_every)", operation.jitter_every() > 0, has(EngineFeature::kJitter)},
           Wish{"--fadvise", !operation.fadvise().empty(), has(EngineFeature::kFileAdvice)},
           Wish{mmap.sync() == v1::Mmap::ASYNC ? "-D (mmap.sync async)" : "-G (mmap.sync sync)",
                mmap.sync() != v1::Mmap::NEVER, has(EngineFeature::kMapping)},
           Wish{"-+A (mmap.advice)", !mmap.advice().empty(), has(EngineFeature::kMapping)},
           Wish{"-Z (mmap.mix_file_io)", mmap.mix_file_io(), has(EngineFeature::kMapping)},
           Wish{"-m (buffer_bytes)", operation.buffer_bytes() > 0, has(EngineFeature::kBuffers)},
           Wish{"--preallocate", operation.preallocate(), engine.uses_files && engine.mounted},
       }) {
    if (!wish.asked || wish.can) continue;
    return absl::InvalidArgumentError(absl::StrCat(wish.option, " has no meaning for engine ",
                                                   std::string(engine.name), " (", operation.name(),
                                                   "): leave one of the two out"));
  }
  if (!operation.fadvise().empty()) IOBENCH_RETURN_IF_ERROR(FileAdvice(operation.fadvise()).status());
  if (!mmap.advice().empty()) IOBENCH_RETURN_IF_ERROR(MapAdvice(mmap.advice()).status());
  if (operation.file_lock() && operation.record_locks()) {
    return absl::InvalidArgumentError(
        "-W (file_lock) already locks what -+l (record_locks) would lock: use only one of the two");
  }
  return absl::OkStatus();
}

absl::Status CheckOperation(const v1::FileLayout& files, const v1::Operation& operation,
                            const v1::StopRule& stop) {
  auto spec = FindOperation(operation.name());
  if (!spec.ok()) return absl::InvalidArgumentError(spec.status().message());
  IOBENCH_ASSIGN_OR_RETURN(const EngineSpec* const engine, EngineFor(**spec, operation.engine()));
  IOBENCH_RETURN_IF_ERROR(CheckEngineOptions(*engine, **spec, operation));
  IOBENCH_RETURN_IF_ERROR(CheckQueue(*engine, operation));
  IOBENCH_RETURN_IF_ERROR(CheckBetween(operation.between()));
  IOBENCH_RETURN_IF_ERROR(CheckMix(**spec, operation));
  if ((*spec)->is_metadata()) return CheckMetadata(operation, stop);
  if (operation.jitter_every() > 0 && !(*spec)->reads()) {
    return absl::InvalidArgumentError(absl::StrCat("-K (jitter_every) inserts reads between reads, and ",
                                                   operation.name(), " has none: leave it out"));
  }
  const uint64_t record_bytes = operation.record_bytes();
  const uint64_t file_bytes = files.bytes_per_lane() / files.files_per_lane();
  if (record_bytes == 0)
    return absl::InvalidArgumentError(
        "the record size is 0: give -r (record_bytes of a plan) a size such as 64k");
  if (record_bytes > kLargestRecordBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a record of ", ExactBytes(record_bytes),
                                                   " is larger than the max of 1 GiB"));
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
  if (operation.direct() && record_bytes % 512 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "with -I the record size must be a multiple of 512 bytes, and ", record_bytes, " is not"));
  }
  if (operation.preallocate() && !(*spec)->creates_files) {
    return absl::InvalidArgumentError(
        absl::StrCat("--preallocate (preallocate) only applies to operations that create files, and ",
                     operation.name(), " creates none: leave it out"));
  }
  return absl::OkStatus();
}

}  // namespace

bool Writes(const v1::Operation& operation) {
  const OperationSpec* spec = SpecOf(operation);
  return spec != nullptr && spec->writes();
}

bool CreatesFiles(const v1::Operation& operation) {
  const OperationSpec* spec = SpecOf(operation);
  return spec != nullptr && spec->creates_files && !operation.keep_existing() &&
         EngineUsesFiles(operation.engine());
}

bool UsesFiles(const v1::Plan& plan) {
  if (!plan.files().existing_files().empty()) return false;  // the user's files, which are only read
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (EngineUsesFiles(assignment.operation().engine())) return true;
    }
  }
  return false;
}

v1::Stonewall DefaultStonewall(const v1::Operation& operation, const v1::TimedRegion& region) {
  const bool buffered = Writes(operation) && WritesThroughMemory(operation);
  return buffered && (region.close() || region.fsync()) ? v1::STONEWALL_FLUSHED : v1::STONEWALL_RETROACTIVE;
}

void CompletePlan(v1::Plan& plan) {
  if (plan.lanes_per_worker() == 0) plan.set_lanes_per_worker(1);
  if (plan.repetitions() == 0) plan.set_repetitions(1);
  if (plan.files().files_per_lane() == 0) plan.mutable_files()->set_files_per_lane(1);
  if (plan.targets().empty()) plan.add_targets()->set_path(".");
  CompleteData(*plan.mutable_data());
  for (v1::Phase& phase : *plan.mutable_phases()) {
    bool writes = false, buffered_writes = false;
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      assignment.mutable_who();
      v1::Operation& operation = *assignment.mutable_operation();
      if (operation.engine().empty()) operation.set_engine("posix");
      // "posix" may stand for an operation's own engine; CheckPlan reports a wrong combination.
      if (const OperationSpec* spec = SpecOf(operation); spec != nullptr) {
        if (auto engine = EngineFor(*spec, operation.engine()); engine.ok()) {
          operation.set_engine(std::string((*engine)->name));
          CompleteQueue(**engine, operation);
        }
      }
      if (operation.stride_records() == 0) operation.set_stride_records(17);
      if (operation.read_percent() == 0) {
        const OperationSpec* spec = SpecOf(operation);
        operation.set_read_percent(spec == nullptr ? 50 : spec->default_read_percent());
      }
      if (operation.has_between()) CompleteBetween(*operation.mutable_between());
      if (IsMetadata(operation)) CompleteMetadata(operation);
      writes |= Writes(operation);
      buffered_writes |=
          Writes(operation) && WritesThroughMemory(operation) && EngineUsesFiles(operation.engine());
    }
    if (phase.name().empty() && phase.assignments_size() > 0) {
      phase.set_name(phase.assignments(0).operation().name());
    }
    v1::TimedRegion& region = *phase.mutable_region();
    if (!writes) region.set_fsync(false);   // there is nothing to flush
    // Otherwise the next pass overwrites what the last one left in memory, and the headline counts bytes that were
    // never flushed.
    if (buffered_writes && phase.stop().time_s() > 0 && (region.fsync() || region.close())) {
      region.set_flush_passes(true);
    }
    if (IsMetadata(phase)) region.Clear();  // each op opens and closes its own files
    phase.mutable_stop();
    if (phase.stonewall() == v1::STONEWALL_UNSPECIFIED && phase.assignments_size() > 0) {
      phase.set_stonewall(DefaultStonewall(phase.assignments(0).operation(), region));
    }
  }
}

absl::Status CheckPlan(const v1::Plan& plan) {
  if (plan.phases().empty())
    return absl::InvalidArgumentError("the plan has no phases: name operations with -i or --op");
  if (plan.lanes_per_worker() > kMaxLanesPerWorker) {
    return absl::InvalidArgumentError(
        absl::StrCat(plan.lanes_per_worker(), " lanes per worker are more than the max of ", kMaxLanesPerWorker));
  }
  const v1::FileLayout& files = plan.files();
  if (files.bytes_per_lane() == 0 && WorksOnData(plan))
    return absl::InvalidArgumentError(
        "the size is 0: give -s (files.bytes_per_lane of a plan) a size such as 4m");
  if (files.bytes_per_lane() > (uint64_t{1} << 62)) {
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
    const std::string place =
        absl::StrCat("phase ", phase.name().empty() ? "(without a name)" : phase.name(), ": ");
    if (phase.assignments().empty())
      return absl::InvalidArgumentError(absl::StrCat(place, "it has no assignments"));
    const PhaseShape shape = ShapeOf(plan, phase);
    if (absl::Status status = CheckFiles(plan, phase); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(place, status.message()));
    }
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (absl::Status status = CheckOperation(shape.files, assignment.operation(), phase.stop());
          !status.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(place, status.message()));
      }
    }
    if (absl::Status status = CheckStop(phase.stop()); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(place, status.message()));
    }
    if (phase.stonewall() == v1::STONEWALL_FLUSHED && !phase.region().fsync() && !phase.region().close()) {
      return absl::InvalidArgumentError(absl::StrCat(
          place, "a flushed stonewall needs the fsync or the close in the timed region (-e, -c)"));
    }
    const bool writes = std::any_of(phase.assignments().begin(), phase.assignments().end(),
                                    [](const auto& assignment) { return Writes(assignment.operation()); });
    if (phase.region().flush_passes() && !(writes && phase.stop().time_s() > 0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          place,
          "flush_passes only applies to writes that loop over their records for a time (stop.time_s, --time)"));
    }
  }
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
      return absl::InvalidArgumentError(
          absl::StrCat("phase ", phase.name(), ": -+K ", readers, " (reader_lanes) is more than the ",
                       lanes, " lanes in all: use more lanes (-t), or a smaller -+K"));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
