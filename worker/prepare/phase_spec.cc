#include "worker/prepare/phase_spec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/offset_latency_file.h"
#include "common/model/phase_check.h"
#include "common/model/plan_traits.h"
#include "common/mpi_io/mpi_session_files.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "worker/client/client_settings.h"
#include "worker/op_log/op_log.h"
#include "worker/prepare/prepare_check.h"

namespace iobench {
namespace {

// Of one call of preadv() or pwritev().
uint64_t VectorBytes(uint64_t record_bytes) {
  if (record_bytes == 0) return 0;  // refused elsewhere with a better message
  return record_bytes * std::clamp<uint64_t>(kMaxVectorBytes / record_bytes, 1, kMaxRecordsPerVector);
}

StreamShape StreamShapeOf(const v1::Prepare& prepare, Call call) {
  const v1::Operation& operation = prepare.operation();
  StreamShape shape = GridOf(call, operation.record_bytes(), prepare.files().bytes_per_lane(),
                             std::max(1u, prepare.files().files_per_lane()));
  if (operation.stride_records() > 0) shape.stride_records = operation.stride_records();
  shape.records = RecordSharesOf(operation);
  if (operation.has_burst_records()) shape.burst_records = operation.burst_records();
  shape.read_percent = operation.read_percent();
  shape.seed = prepare.seed();
  shape.phase = prepare.phase_index();
  return shape;
}

}  // namespace

StreamShape GridOf(Call call, uint64_t record_bytes, uint64_t bytes_per_lane, uint32_t object_count) {
  StreamShape shape;
  shape.object_count = object_count;
  shape.object_bytes = bytes_per_lane / object_count;
  shape.op_bytes = static_cast<uint32_t>(record_bytes);
  if (call == Call::kVector) {
    shape.op_bytes = static_cast<uint32_t>(std::min(VectorBytes(record_bytes), shape.object_bytes));
  }
  return shape;
}

std::shared_ptr<RanksTogether> RanksTogetherFor(const v1::Operation& operation) {
  const auto spec = FindOperation(operation.name());
  if (!operation.mpi_io().collective() || !spec.ok() || !CheckMpiFiles().ok()) return nullptr;
  const uint64_t flush_every = operation.between().flush_every_ops();
  return std::make_shared<RanksTogether>(
      TheMpiFiles(), (*spec)->writes() ? OpKind::kWrite : OpKind::kRead,
      flush_every == 0 ? RanksTogether::kMaxRound : static_cast<uint32_t>(std::min<uint64_t>(flush_every, RanksTogether::kMaxRound)));
}

ArrivalRate ArrivalRateOf(const v1::Prepare& prepare) {
  const v1::Arrivals& arrivals = prepare.operation().arrivals();
  const double share = prepare.arrival_share();
  const bool is_ramp = arrivals.end_ops_per_s() > 0;
  return {.begin_per_s = arrivals.ops_per_s() * share,
          .end_per_s = arrivals.end_ops_per_s() * share,
          .ramp_s = is_ramp ? prepare.stop().time_s() : 0,
          .burst_s = arrivals.burst_s(),
          .burst_every_s = arrivals.burst_every_s(),
          .poisson = !arrivals.even(),
          .first_gap = prepare.first_arrival_gap()};
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
  spec.shape = StreamShapeOf(prepare, spec.operation->call);
  IOBENCH_ASSIGN_OR_RETURN(spec.shape.access, ParseAccess(operation.access()));
  spec.ReadFiles(prepare);
  spec.ReadOperation(operation);
  spec.data = prepare.data();
  spec.stamp = prepare.stamp();
  spec.region = prepare.region();
  spec.flush_calls = FlushCallsOf(operation, spec.region);
  spec.stop = prepare.stop();
  for (const v1::Step& step : prepare.steps()) {
    spec.drops_caches |= step.has_drop_caches();
    spec.verifies_cold |= step.drop_caches().verify();
    spec.rest_s += step.rest().seconds();
  }
  IOBENCH_ASSIGN_OR_RETURN(spec.binding_slots, BindingSlotsFor(prepare.binding()));
  IOBENCH_RETURN_IF_ERROR(spec.ReadTrace(prepare, *engine));
  spec.clock = clock;
  spec.ticks = ChosenTickSource();
  spec.ReadArrivals(prepare);
  spec.engine_options = spec.EngineOptionsFor(operation);
  spec.loop_ns = loop_ns;
  return spec;
}

void PhaseSpec::ReadFiles(const v1::Prepare& prepare) {
  const v1::FileLayout& files = prepare.files();
  shared_file = files.shared_file();
  interleaved = files.interleaved();
  block_bytes = files.has_block_bytes() ? files.block_bytes() : prepare.operation().record_bytes();
  existing_files.assign(files.existing_files().begin(), files.existing_files().end());
  data_must_exist = prepare.data_must_exist();
  needed_bytes = prepare.needed_bytes();
  leaves_unflushed = prepare.leaves_unflushed();
  claims.assign(prepare.claims().begin(), prepare.claims().end());
}

void PhaseSpec::ReadOperation(const v1::Operation& asked) {
  mode.direct = asked.direct();
  mode.sync = asked.sync();
  mode.dsync = asked.dsync();
  mode.rsync = asked.rsync();
  preallocates = asked.preallocate();
  keeps_existing = asked.keep_existing();
  truncates = asked.truncate();
  tree = asked.tree();
  between = asked.between();
}

void PhaseSpec::ReadArrivals(const v1::Prepare& prepare) {
  if (!prepare.operation().has_arrivals()) return;
  // Different for every worker, phase and repetition, and the same in a run with the same seed.
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  const uint64_t number = (uint64_t{prepare.phase_index()} << 32) + prepare.lanes(0).lane() + 1;
  arrivals = std::make_shared<Arrivals>(ArrivalRateOf(prepare), prepare.seed() ^ (number * kGolden),
                                        CurrentTickScale(), NanosFrom(prepare.stop().warmup_s()));
}

EngineOptions PhaseSpec::EngineOptionsFor(const v1::Operation& asked) const {
  // A trace accesses arbitrary offsets, which calls at the file's position cannot follow.
  const bool follows_trace = replayed != nullptr && operation->call == Call::kStream;
  return {.call = follows_trace ? Call::kPositional : operation->call,
          .ticks = ticks,
          .record_bytes = static_cast<uint32_t>(asked.record_bytes()),
          .longest_op_bytes = shape.op_bytes,
          .replays_trace = replayed != nullptr,
          .depth = std::max(1u, asked.depth()),
          .copy = asked.copy(),
          .mmap = asked.mmap(),
          .record_locks = asked.record_locks(),
          .file_lock = asked.file_lock(),
          .jitter_every = asked.jitter_every(),
          .libc_calls = asked.libc_calls() || !PreloadedLibraries().empty(),
          .advice = asked.fadvise(),
          .buffer_bytes = asked.buffer_bytes(),
          .simulated = asked.simulated(),
          .simulated_key = shape.seed,
          .mpi_io = asked.mpi_io()};
}

absl::Status PhaseSpec::ReadTrace(const v1::Prepare& prepare, const EngineSpec& used_engine) {
  trace = prepare.operation().trace();
  old_traces = prepare.replaces_traces() ? OldTrace::kReplaced : OldTrace::kRefused;
  max_traced_ops = kMaxTraceOps / static_cast<size_t>(prepare.lanes_size());
  IOBENCH_RETURN_IF_ERROR(
      Annotate(CheckTrace(*operation, prepare.files(), prepare.data(), trace), operation->name));
  if (!trace.write_file().empty()) {
    for (const v1::LanePlan& lane : prepare.lanes()) {
      IOBENCH_RETURN_IF_ERROR(CheckNewTrace(TraceFileOf(trace, lane), old_traces));
    }
  }
  only_lane = prepare.only_lane();
  lane_count = static_cast<uint32_t>(prepare.lanes_size());
  if (trace.offset_latency()) {
    for (const v1::LanePlan& lane : prepare.lanes()) {
      IOBENCH_RETURN_IF_ERROR(CheckOpLog(OffsetLatencyFile(operation->name, lane.lane(), only_lane)));
    }
  }
  if (trace.read_file().empty()) return absl::OkStatus();
  const uint64_t memory_limit_bytes = MemoryLimitBytes();  // before the trace takes a part of it
  IOBENCH_ASSIGN_OR_RETURN(replayed, LoadTrace(trace.read_file(), shape.object_bytes));
  for (const TraceOp& op : *replayed) shape.op_bytes = std::max(shape.op_bytes, op.length);
  return Annotate(CheckNeeds(NeedsOf(prepare, *operation, used_engine, *replayed), memory_limit_bytes),
                  absl::StrCat("trace ", trace.read_file(), " with ops of up to ",
                               FormatBytes(static_cast<double>(shape.op_bytes))));
}

}  // namespace iobench
