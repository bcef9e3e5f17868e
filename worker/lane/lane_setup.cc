#include "worker/lane/lane_setup.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "worker/metadata/metadata_engine.h"
#include "worker/metadata/metadata_stream.h"
#include "worker/pattern/interleaved.h"
#include "worker/pattern/replayed.h"

namespace iobench {
namespace {

absl::StatusOr<std::unique_ptr<OpStream>> StreamFor(const LaneWork& work) {
  const PhaseSpec& spec = work.spec;
  if (spec.replayed != nullptr) {
    return MakeReplayed(work.writes() ? OpKind::kWrite : OpKind::kRead, spec.replayed);
  }
  const StreamShape shape = work.Shape();
  if (!work.metadata) {
    IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<OpStream> stream, MakeOpStream(*spec.operation, shape));
    if (!spec.interleaved) return stream;
    return std::make_unique<Interleaved>(std::move(stream), spec.InterleaveOf(work.plan));
  }
  return MakeMetadataStream(*spec.operation, work.metadata->names,
                            {.item_count = work.metadata->item_count,
                             .sizes = work.metadata->sizes,
                             .random_order = work.metadata->tree.random_order(),
                             .seed = shape.seed,
                             .lane = shape.lane,
                             .phase = shape.phase});
}

absl::StatusOr<std::unique_ptr<IoEngine>> EngineOf(const LaneWork& work) {
  EngineOptions options = work.spec.engine_options;
  if (work.spec.works_on_tree()) return MakeMetadataEngine(options, *work.metadata);
  if (const auto url = ParseNfsUrl(work.target); url.ok()) {
    options.directory = url->Below(kDataDirectoryName).ForLibnfs();
  }
  return MakeEngine(work.spec.engine, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LaneSetup>> LaneSetup::Create(const LaneWork& work, StopCell& stop) {
  IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<OpStream> stream, StreamFor(work));
  IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<IoEngine> engine, EngineOf(work));
  stream = engine->OrderOf(std::move(stream));
  std::unique_ptr<LaneSetup> setup(
      new LaneSetup(work, stop, std::move(stream), std::move(engine), CurrentTickScale()));
  IOBENCH_RETURN_IF_ERROR(setup->MakeBuffers());
  IOBENCH_RETURN_IF_ERROR(setup->MakeHook());
  setup->JoinOpenLoop();
  setup->recorder_.SetAskedPause(setup->scale_.DurationTicks(setup->LongestAskedPauseNs()));
  return setup;
}

LaneSetup::LaneSetup(const LaneWork& work, StopCell& stop, std::unique_ptr<OpStream> stream,
                     std::unique_ptr<IoEngine> engine, const TickScale& scale)
    : work_(work),
      stop_(stop),
      stream_(std::move(stream)),
      engine_(std::move(engine)),
      scale_(scale),
      recorder_(work.kinds(), scale, work.flush_calls()),
      call_timer_(recorder_, work.spec.ticks),
      context_{.stream = *stream_,
               .payload = nullptr,
               .read_buffer = nullptr,
               .stop = stop,
               .recorder = recorder_} {}

absl::Status LaneSetup::MakeBuffers() {
  if (work_.needs_payload()) {
    IOBENCH_ASSIGN_OR_RETURN(payload_, work_.data.MakePayload());
    if (work_.repeats_places()) payload_->NumberWrites();
    context_.payload = &*payload_;
  }
  if (work_.needs_read_buffer()) {
    IOBENCH_ASSIGN_OR_RETURN(read_buffer_, AlignedBuffer::AllocateForOps(work_.spec.shape.op_bytes));
    context_.read_buffer = read_buffer_->data();
  }
  return absl::OkStatus();
}

absl::Status LaneSetup::MakeHook() {
  IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<Pauses> pauses,
                           Pauses::Create(work_.spec.between, stop_, RealPauseClock()));
  const bool makes_data = payload_ && work_.makes_data_before_ops();
  const bool checks_data = read_buffer_ && work_.data.checks();
  const bool flushes_often = work_.flushes_between_ops();
  if (pauses == nullptr && !makes_data && !checks_data && !flushes_often) return absl::OkStatus();
  if (pauses != nullptr) {
    pauses->FlushWith([this] {
      absl::Status flushed = engine_->Flush();
      RecordFlushed();
      return flushed;
    });
  }
  hook_.emplace(std::move(pauses));
  context_.between = &*hook_;
  if (flushes_often) {
    hook_->FlushWith(std::make_unique<PeriodicFlush>(
        work_.spec.between.flush_every_ops(), work_.files.files.size(),
        [this, call = FlushCallOf(work_.spec.between)](uint32_t object) {
          absl::Status flushed = engine_->FlushFile(object, call);
          RecordFlushed();
          // The flush after the last op belongs to the ops' time like the others, though no op ends after it.
          recorder_.RecordWaitedUntil(scale_.ToTicks(MonotonicNowNs()));
          return flushed;
        }));
  }
  return work_.needs_data() ? absl::OkStatus() : ReadyDataForOps(/*prefilled_bytes=*/0);
}

void LaneSetup::JoinOpenLoop() {
  if (work_.spec.arrivals == nullptr) return;
  open_loop_.emplace(work_.spec.arrivals, scale_, [&clock = RealPauseClock()](int64_t ns) {
    if (ns > 0) clock.SleepUntilNs(clock.NowNs() + ns);
  });
  context_.open_loop = &*open_loop_;
  if (hook_) hook_->TimeDataSeparately();
}

void LaneSetup::RecordFlushed() {
  recorder_.RecordFlushedUntil(scale_.ToTicks(MonotonicNowNs()));
}

absl::Status LaneSetup::FlushStatus() const {
  if (!hook_) return absl::OkStatus();
  if (hook_->pauses() != nullptr && !hook_->pauses()->flush_status().ok())
    return Annotate(hook_->pauses()->flush_status(), "after a burst");
  return hook_->periodic_flush() == nullptr ? absl::OkStatus()
                                            : Annotate(hook_->periodic_flush()->status(), "after a write");
}

int64_t LaneSetup::LongestAskedPauseNs() const {
  if (open_loop_) {
    // Gaps of a Poisson process are rarely longer than this (one in 5 * 10^8), and a lane gets one op in every
    // lane_count.
    constexpr double kLongestGap = 20;
    const double longest_ns = work_.spec.arrivals->LongestNs(kLongestGap * work_.spec.lane_count);
    return std::llround(std::min(longest_ns, 1e18));
  }
  int64_t longest_ns = pauses() != nullptr ? pauses()->longest_asked_ns() : 0;
  const TraceOps* const replayed = work_.spec.replayed.get();
  if (replayed != nullptr && !replayed->empty()) {
    const auto longest =
        std::max_element(replayed->begin(), replayed->end(),
                         [](const TraceOp& a, const TraceOp& b) { return a.delay_us < b.delay_us; });
    longest_ns += int64_t{longest->delay_us} * 1000;
  }
  return longest_ns;
}

absl::Status LaneSetup::MakeTrace() {
  if (work_.spec.replayed == nullptr && !work_.writes_trace()) return absl::OkStatus();
  trace_.emplace(context_.between, stop_, RealPauseClock());
  context_.between = &*trace_;
  if (hook_) hook_->TimeDataSeparately();
  if (work_.spec.replayed != nullptr) trace_->Replay(work_.spec.replayed);
  if (!work_.writes_trace()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(trace_file_, OpenTraceForWriting(work_.TraceFile(), work_.spec.old_traces));
  return trace_->Record(MostLoggedOps());
}

absl::Status LaneSetup::MakeOpLog() {
  if (!work_.logs_ops()) return absl::OkStatus();
  op_log_.emplace(context_.between, scale_);
  context_.between = &*op_log_;
  return op_log_->Reserve(MostLoggedOps());
}

size_t LaneSetup::MostLoggedOps() const {
  const uint64_t max_ops = work_.spec.max_traced_ops;
  return work_.loops() ? max_ops : std::min(max_ops, stream_->ops_per_pass());
}

absl::Status LaneSetup::ReadyDataForOps(uint64_t prefilled_bytes) {
  if (payload() != nullptr) payload()->BeginPass(0);
  if (!hook_) return absl::OkStatus();
  if (work_.writes() && payload_ && work_.makes_data_before_ops()) {
    IOBENCH_RETURN_IF_ERROR(work_.data.ReadyForOps(*payload_));
    hook_->PrepareDataOf(*payload_);
  }
  if (read_buffer_ && work_.data.checks()) hook_->CheckWith(work_.data.MakeChecker(prefilled_bytes));
  return absl::OkStatus();
}

void LaneSetup::DropPayload() {
  payload_.reset();
  context_.payload = nullptr;
}

void LaneSetup::EndWaitsAt(int64_t monotonic_ns) {
  if (hook_ && hook_->pauses() != nullptr) hook_->pauses()->EndAt(monotonic_ns);
  if (trace_) trace_->EndAt(monotonic_ns);
}

std::optional<LaneFailure> LaneSetup::RunUnmeasured(uint64_t op_count, StopCell& stop) {
  LaneRecorder tail(work_.kinds(), scale_);
  LaneContext rest{.stream = *stream_,
                   .payload = context_.payload,
                   .read_buffer = context_.read_buffer,
                   .stop = stop,
                   .recorder = tail,
                   .rules = {.ops_goal = op_count},
                   .between = context_.between};
  if (hook_) hook_->EndPausesAndChecks();
  if (trace_) trace_->EndMeasured();
  if (op_log_) op_log_->EndMeasured();
  const LoopEnd end = engine_->Run(rest);
  recorder_.AddUnmeasured(tail.bytes(), tail.ops());
  if (end.reason != LoopEnd::Reason::kFailed) return std::nullopt;
  return FailureOf(end);
}

LaneFailure LaneSetup::FailureOf(const LoopEnd& end) const {
  if (const std::optional<FailedOp> known = engine_->Explain(end)) return {known->status, known->file};
  const Op& op = end.failed_op;
  const bool uses_files = work_.spec.uses_files;
  const std::string path = uses_files ? work_.files.PathOf(op.object) : std::string();
  const uint64_t offset = op.offset + (uses_files ? work_.files.files[op.object].extent_offset_bytes : 0);
  const std::string what = absl::StrCat(NameOf(op.kind), " ", path, " at offset ", offset);
  if (end.errno_value != 0) return {ErrnoStatus(what, end.errno_value), path, offset};
  const char* const likely_cause = op.kind == OpKind::kWrite
                                       ? "; is the file system full, or was the file cut short?"
                                       : "; the file is shorter than its lane wrote it";
  return {absl::DataLossError(absl::StrCat(what, ": short transfer, ", end.transferred, " of ", op.length,
                                           " bytes", likely_cause)),
          path, offset};
}

absl::Status LaneSetup::WriteTrace() {
  if (!trace_file_.valid()) return absl::OkStatus();
  const UniqueFd file = std::move(trace_file_);
  const TraceOps ops = trace_->PopRecorded();
  // The op whose failure ended the lane has begun, but did not complete.
  traced_ops_ = std::min<uint64_t>(ops.size(), recorder_.ops());
  return iobench::WriteTrace(file.get(), work_.TraceFile(), std::span(ops).first(traced_ops_));
}

absl::Status LaneSetup::WriteOpLog(const LoggedTimes& times) {
  if (!op_log_) return absl::OkStatus();
  logged_ops_ = op_log_->ops().size();
  absl::Status written = AppendOpLog(work_.OpLogFile(), op_log_->ops(),
                                     work_.spec.only_lane ? std::optional(times) : std::nullopt);
  op_log_->Clear();
  return written;
}

void LaneSetup::Release() {
  if (engine_ != nullptr) engine_->Close().IgnoreError();
  engine_.reset();
  if (trace_file_.valid()) RemoveTrace(work_.TraceFile());
  trace_file_ = UniqueFd();
  context_.read_buffer = nullptr;
  context_.payload = nullptr;
  read_buffer_.reset();
  payload_.reset();
}

}  // namespace iobench
