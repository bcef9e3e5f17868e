#include "worker/lane/phase_spec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/phase_check.h"
#include "common/status_util.h"
#include "worker/lane/prepare_check.h"

namespace iobench {
namespace {

// The whole vector is one op. Only a single record may be longer than this.
constexpr uint64_t kMaxVectorBytes = uint64_t{1} << 30;

uint64_t VectorBytes(uint64_t record_bytes) {
  if (record_bytes == 0) return 0;  // refused elsewhere with a better message
  return record_bytes * std::clamp<uint64_t>(kMaxVectorBytes / record_bytes, 1, kMaxRecordsPerVector);
}

}  // namespace

absl::Status PhaseSpec::TakeTrace(const v1::Prepare& prepare) {
  trace = prepare.operation().trace();
  max_traced_ops = kMaxTraceOps / static_cast<size_t>(prepare.lanes_size());
  IOBENCH_RETURN_IF_ERROR(Annotate(CheckTrace(*operation, prepare.files(), trace), operation->name));
  if (!trace.write_file().empty()) {
    for (const v1::LanePlan& lane : prepare.lanes()) {
      IOBENCH_RETURN_IF_ERROR(CheckNewTrace(TraceFileOf(trace, lane)));
    }
  }
  if (trace.read_file().empty()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(replayed, LoadTrace(trace.read_file(), shape.object_bytes));
  for (const TraceOp& op : *replayed) shape.record_bytes = std::max(shape.record_bytes, op.length);
  return absl::OkStatus();
}

absl::StatusOr<PhaseSpec> PhaseSpec::From(const v1::Prepare& prepare, const WorkerClock& clock,
                                          double loop_ns) {
  PhaseSpec spec;
  const v1::Operation& operation = prepare.operation();
  IOBENCH_ASSIGN_OR_RETURN(spec.operation, FindOperation(operation.name()));
  IOBENCH_ASSIGN_OR_RETURN(const EngineSpec* const engine, EngineFor(*spec.operation, operation.engine()));
  spec.engine = std::string(engine->name);
  spec.uses_files = engine->uses_files;
  IOBENCH_RETURN_IF_ERROR(CheckPrepare(prepare, *spec.operation, *engine));
  const uint32_t files_per_lane = std::max(1u, prepare.files().files_per_lane());
  spec.shared_file = prepare.files().shared_file();
  spec.shape.object_count = files_per_lane;
  spec.shape.object_bytes = prepare.files().bytes_per_lane() / files_per_lane;
  spec.shape.record_bytes = static_cast<uint32_t>(operation.record_bytes());
  if (spec.operation->call == Call::kVector) {
    spec.shape.record_bytes =
        static_cast<uint32_t>(std::min(VectorBytes(operation.record_bytes()), spec.shape.object_bytes));
  }
  if (operation.stride_records() > 0) spec.shape.stride_records = operation.stride_records();
  spec.shape.read_percent = operation.read_percent();
  spec.shape.seed = prepare.seed();
  spec.claims.assign(prepare.claims().begin(), prepare.claims().end());
  spec.shape.phase = prepare.phase_index();
  spec.mode.direct = operation.direct();
  spec.mode.sync = operation.sync();
  spec.mode.dsync = operation.dsync();
  spec.mode.rsync = operation.rsync();
  spec.preallocates = operation.preallocate();
  spec.keeps_existing = operation.keep_existing();
  spec.truncates = operation.truncate();
  spec.existing_files.assign(prepare.files().existing_files().begin(),
                             prepare.files().existing_files().end());
  spec.interleaved = prepare.files().interleaved();
  spec.tree = operation.tree();
  spec.data = prepare.data();
  spec.stamp = prepare.stamp();
  spec.between = operation.between();
  spec.region = prepare.region();
  spec.stop = prepare.stop();
  for (const v1::Step& step : prepare.steps()) {
    spec.drops_caches |= step.has_drop_caches();
    spec.rest_s += step.rest().seconds();
  }
  spec.data_must_exist = prepare.data_must_exist();
  IOBENCH_ASSIGN_OR_RETURN(spec.binding_slots, BindingSlotsFor(prepare.binding()));
  IOBENCH_RETURN_IF_ERROR(spec.TakeTrace(prepare));
  spec.clock = clock;
  spec.ticks = ChosenTickSource();
  // A trace accesses any offset, which calls at the file's position could not follow.
  const bool follows_trace = spec.replayed != nullptr && spec.operation->call == Call::kStream;
  spec.engine_options = {.call = follows_trace ? Call::kPositional : spec.operation->call,
                         .ticks = spec.ticks,
                         .record_bytes = static_cast<uint32_t>(operation.record_bytes()),
                         .longest_op_bytes = spec.shape.record_bytes,
                         .depth = std::max(1u, operation.depth()),
                         .copy = operation.copy(),
                         .mmap = operation.mmap(),
                         .record_locks = operation.record_locks(),
                         .file_lock = operation.file_lock(),
                         .jitter_every = operation.jitter_every(),
                         .advice = operation.fadvise(),
                         .buffer_bytes = operation.buffer_bytes()};
  spec.loop_ns = loop_ns;
  return spec;
}

}  // namespace iobench
