#include "worker/lane/lane.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/time.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_names.h"
#include "worker/lane/lane_files.h"
#include "worker/lane/own_descriptors.h"
#include "worker/metadata/metadata_engine.h"
#include "worker/metadata/metadata_stream.h"
#include "worker/pattern/interleaved.h"
#include "worker/pattern/replayed.h"

namespace iobench {
namespace {

using Reason = LoopEnd::Reason;

// Adds its lifetime to a sum of nanoseconds.
class Stopwatch {
 public:
  explicit Stopwatch(int64_t& sum_ns) : sum_ns_(sum_ns), begin_ns_(MonotonicNowNs()) {}
  ~Stopwatch() { sum_ns_ += MonotonicNowNs() - begin_ns_; }

 private:
  int64_t& sum_ns_;
  const int64_t begin_ns_;
};

// CPU time of the calling thread.
struct ThreadCpu {
  double user_s = 0, system_s = 0;
  static ThreadCpu Now() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {SecondsFrom(usage.ru_utime), SecondsFrom(usage.ru_stime)};
  }
};

// Waits between ops use the system's clock, but the loop uses its own. If a wait ended at the deadline by one clock and
// just before it by the other, an op would begin too late. 10 ppm are more than the two can drift apart.
int64_t WaitEndNs(int64_t start_ns, int64_t deadline_ns) {
  constexpr int64_t kReadingsDifferNs = 100'000;
  return deadline_ns + kReadingsDifferNs + std::max<int64_t>(0, deadline_ns - start_ns) / 100'000;
}

}  // namespace

Lane::Lane(const PhaseSpec& spec, const v1::LanePlan& plan, const std::string& target,
           const Directory* directory)
    : work_(spec, plan, target, directory), directory_(directory, target, spec.ClaimOf(plan)) {}

void Lane::Fail(const absl::Status& status, const std::string& file, uint64_t offset) {
  if (failed()) return;
  problem_ = ToProblem(status);
  problem_->set_file(file);
  problem_->set_offset(offset);
  problem_->set_operation(std::string(work_.spec.operation->name));
}

void Lane::FailWith(const LoopEnd& end) {
  if (const std::optional<FailedOp> known = engine_->Explain(end)) return Fail(known->status, known->file);
  const Op& op = end.failed_op;
  const std::string path = work_.spec.uses_files ? work_.files.PathOf(op.object) : std::string();
  const uint64_t offset = op.offset + (work_.spec.uses_files ? work_.files.files[op.object].extent_offset_bytes : 0);
  const std::string what = absl::StrCat(NameOf(op.kind), " ", path, " at offset ", offset);
  if (end.errno_value != 0) {
    Fail(ErrnoStatus(what, end.errno_value), path, offset);
  } else {
    Fail(absl::DataLossError(
             absl::StrCat(what, ": short transfer, ", end.transferred, " of ", op.length, " bytes",
                          op.kind == OpKind::kWrite ? "; is the file system full, or was the file cut short?"
                                                    : "; the file is shorter than its lane wrote it")),
         path, offset);
  }
}

absl::StatusOr<std::unique_ptr<OpStream>> Lane::MakeStream(const StreamShape& shape) const {
  if (work_.spec.replayed != nullptr) {
    return MakeReplayed(work_.writes() ? OpKind::kWrite : OpKind::kRead, work_.spec.replayed);
  }
  if (!work_.metadata) {
    IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<OpStream> stream, MakeOpStream(*work_.spec.operation, shape));
    if (!work_.spec.interleaved) return stream;
    return std::make_unique<Interleaved>(std::move(stream), work_.plan.interleave_count());
  }
  return MakeMetadataStream(*work_.spec.operation, work_.metadata->names,
                            {.item_count = work_.metadata->item_count,
                             .sizes = work_.metadata->sizes,
                             .random_order = work_.metadata->tree.random_order(),
                             .seed = shape.seed,
                             .lane = shape.lane,
                             .phase = shape.phase});
}

void Lane::TakeOwnDescriptors() {
  const auto engine = FindEngine(work_.spec.engine);
  if (engine.ok() && (*engine)->shares_threads) return;  // its threads use the process's descriptors
  static_cast<void>(iobench::TakeOwnDescriptors(work_.files.directory_fd));  // without it, the lane is only slower
}

void Lane::Bind() {
  if (!takes_part() || work_.spec.binding_slots.empty()) return;
  const absl::Status bound = BindThisThread(work_.spec.binding_slots.Of(work_.plan.index_on_client()));
  if (!bound.ok()) Fail(bound, "");
}

void Lane::MakeReady() {
  if (!takes_part()) return;
  const StreamShape shape = work_.Shape();
  const std::string first_file = work_.FirstFile();
  auto stream = MakeStream(shape);
  if (!stream.ok()) return Fail(stream.status(), first_file);
  stream_ = *std::move(stream);
  if (work_.spec.works_on_tree()) {
    engine_ = MakeMetadataEngine(work_.spec.engine_options, *work_.metadata);
  } else {
    EngineOptions options = work_.spec.engine_options;
    if (const auto url = ParseNfsUrl(work_.target); url.ok()) {
      options.directory = url->Below(kDataDirectoryName).ForLibnfs();
    }
    auto engine = MakeEngine(work_.spec.engine, options);
    if (!engine.ok()) return Fail(engine.status(), first_file);
    engine_ = *std::move(engine);
  }
  scale_ = CurrentTickScale();
  recorder_ = std::make_unique<LaneRecorder>(work_.kinds(), *scale_);
  if (work_.needs_payload()) {
    auto payload = work_.data.MakePayload();
    if (!payload.ok()) return Fail(payload.status(), first_file);
    payload_ = *std::move(payload);
  }
  if (work_.needs_read_buffer()) {
    auto buffer = AlignedBuffer::Allocate(shape.record_bytes);
    if (!buffer.ok()) return Fail(buffer.status(), first_file);
    read_buffer_ = *std::move(buffer);
  }
  context_.emplace(LaneContext{.stream = *stream_,
                               .payload = payload_ ? &*payload_ : nullptr,
                               .read_buffer = read_buffer_ ? read_buffer_->data() : nullptr,
                               .stop = stop_,
                               .recorder = *recorder_});
  if (const absl::Status made = MakeHook(); !made.ok()) return Fail(made, first_file);
  if (const absl::Status made = MakeTrace(); !made.ok()) return Fail(made, work_.TraceFile());
  recorder_->SetAskedPause(scale_->DurationTicks(LongestAskedPauseNs()));
  if (const absl::Status ready = engine_->MakeReady(*context_); !ready.ok()) Fail(ready, first_file);
}

int64_t Lane::LongestAskedPauseNs() {
  int64_t longest_ns = between_ && between_->pauses() != nullptr ? between_->pauses()->longest_asked_ns() : 0;
  if (work_.spec.replayed != nullptr && !work_.spec.replayed->empty()) {
    const auto longest = std::max_element(
        work_.spec.replayed->begin(), work_.spec.replayed->end(),
        [](const TraceOp& a, const TraceOp& b) { return a.delay_us < b.delay_us; });
    longest_ns += int64_t{longest->delay_us} * 1000;
  }
  return longest_ns;
}

absl::Status Lane::MakeHook() {
  IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<Pauses> pauses,
                           Pauses::Create(work_.spec.between, stop_, RealPauseClock()));
  const bool makes_data = payload_ && work_.makes_data_before_ops();
  const bool checks_data = read_buffer_ && work_.data.checks();
  if (pauses == nullptr && !makes_data && !checks_data) return absl::OkStatus();
  if (pauses != nullptr) pauses->FlushWith([this] { return engine_->Flush(); });
  between_.emplace(std::move(pauses));
  context_->between = &*between_;
  if (!work_.needs_data()) ReadyDataForOps();
  return absl::OkStatus();
}

absl::Status Lane::MakeTrace() {
  const bool writes_trace = work_.writes_trace();
  if (work_.spec.replayed == nullptr && !writes_trace) return absl::OkStatus();
  trace_.emplace(context_->between, stop_, RealPauseClock());
  context_->between = &*trace_;
  if (work_.spec.replayed != nullptr) trace_->Replay(work_.spec.replayed);
  if (!writes_trace) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(trace_file_, OpenTraceForWriting(work_.TraceFile()));
  const uint64_t max_ops = work_.spec.max_traced_ops;
  return trace_->Record(work_.loops() ? max_ops : std::min(max_ops, stream_->ops_per_pass()));
}

void Lane::WriteTrace() {
  if (!trace_file_.valid() || !ran_) return;
  const UniqueFd file = std::move(trace_file_);
  const TraceOps ops = trace_->TakeRecorded();
  // An op that failed has begun, but did not complete.
  traced_ops_ = std::min<uint64_t>(ops.size(), recorder_->ops());
  const absl::Status written =
      iobench::WriteTrace(file.get(), work_.TraceFile(), std::span(ops).first(traced_ops_));
  if (!written.ok()) Fail(written, work_.TraceFile());
}

// So far the payload generated the prefill's data; from here on it generates that of the ops.
void Lane::ReadyDataForOps() {
  if (!between_) return;
  if (work_.writes() && payload_ && work_.makes_data_before_ops()) {
    const absl::Status ready = work_.data.ReadyForOps(*payload_);
    if (!ready.ok()) return Fail(ready, work_.FirstFile());
    between_->PrepareDataOf(*payload_);
  }
  if (read_buffer_ && work_.data.checks()) between_->CheckWith(work_.data.MakeChecker(prefilled_bytes_));
}

void Lane::CreateFiles() {
  if (!takes_part() || !work_.creates_files()) return;
  const Stopwatch watch(step_times_.create_ns);
  const absl::Status created = directory_.Use([this](const Directory& directory) {
    return iobench::CreateFiles(
        directory, work_.files,
        work_.spec.preallocates ? FileBlocks::kPreallocated : FileBlocks::kAllocatedByWrites,
        work_.spec.keeps_existing ? OldFiles::kKept : OldFiles::kReplaced);
  });
  if (!created.ok()) Fail(created, work_.FirstFile());
}

void Lane::Prefill() {
  if (!takes_part() || !(work_.needs_data() || work_.spec.works_on_tree())) return;
  const Stopwatch watch(step_times_.prefill_ns);
  if (work_.metadata) {
    auto prepared = PrepareTree(work_.files.directory_fd, work_.files.directory, *work_.metadata, context_->payload, quit_);
    if (!prepared.ok()) return Fail(prepared.status(), work_.FirstFile());
    tree_prepared_ = *prepared;
    prefilled_bytes_ = prepared->bytes;
    return;
  }
  if (work_.plan.leaves_prefill()) return ReadyDataForOps();
  if (work_.data_must_exist()) {
    const absl::Status there =
        directory_.Use([this](const Directory& directory) { return CheckDataExist(directory, work_.files); });
    if (!there.ok()) return Fail(there, work_.FirstFile());
    return ReadyDataForOps();
  }
  const absl::Status filled = directory_.Use([this](const Directory& directory) {
    const auto bytes = iobench::Prefill(directory, work_.files, *payload_, quit_, work_.data.prefill_bytes());
    if (bytes.ok()) prefilled_bytes_ = *bytes;
    return bytes.status();
  });
  if (!filled.ok()) return Fail(filled, work_.FirstFile());
  if (!work_.writes()) {
    payload_.reset();
    context_->payload = nullptr;
  }
  ReadyDataForOps();
}

void Lane::ForgetPages() {
  if (!takes_part() || !work_.spec.uses_files || work_.metadata)
    return;  // for metadata only the whole system's caches can be dropped
  const Stopwatch watch(step_times_.forget_ns);
  const absl::Status forgotten =
      directory_.Use([this](const Directory& directory) { return iobench::ForgetPages(directory, work_.files); });
  if (!forgotten.ok()) Fail(forgotten, work_.FirstFile());
}

void Lane::NoteResidentBytes() {
  if (!takes_part() || !work_.spec.uses_files || !work_.reads() || work_.metadata || work_.spec.mode.direct) return;
  if (IsNfsUrl(work_.target)) return;  // nothing is cached
  const absl::Status looked = directory_.Use([this](const Directory& directory) {
    const auto bytes = ResidentBytes(directory, work_.files);
    if (bytes.ok()) resident_bytes_ = *bytes;
    return absl::OkStatus();  // unknown values are not reported
  });
  if (!looked.ok()) Fail(looked, work_.FirstFile());
}

void Lane::Open() {
  NoteResidentBytes();
  directory_.CloseOwn();  // its connection is no longer needed
  if (!takes_part() || work_.spec.region.open()) return;
  const absl::Status opened = [&] {
    const Stopwatch watch(step_times_.open_ns);
    return engine_->Open(work_.files, work_.Mode());
  }();
  if (!opened.ok()) Fail(opened, work_.FirstFile());
}

void Lane::BeginRegion(WorkerTime start) {
  if (!takes_part()) return;
  start_ = start;
  const ThreadCpu cpu = ThreadCpu::Now();
  cpu_user_s_ = -cpu.user_s;  // the end is added in EndRegion
  cpu_system_s_ = -cpu.system_s;
  const int64_t start_ns = start.ns - work_.spec.clock.offset_ns();
  const auto after_start = [&](double seconds) { return scale_->ToTicks(start_ns + NanosFrom(seconds)); };
  LoopRules& rules = context_->rules;
  if (work_.loops()) {
    rules.deadline = after_start(work_.spec.stop.time_s());
    rules.repeat_passes = true;
    if (work_.flushes_passes() || work_.forgets_passes()) context_->end_pass = [this] { return EndPass(); };
  }
  if (work_.spec.stop.max_ops() > 0) rules.ops_goal = work_.spec.stop.max_ops();
  if (work_.spec.stop.deadline_s() > 0) {
    rules.deadline = std::min(rules.deadline, after_start(work_.spec.stop.deadline_s()));
  }
  if (rules.deadline != LoopRules::kNever) {
    const int64_t wait_end_ns = WaitEndNs(start_ns, scale_->ToMonotonicNs(rules.deadline));
    if (between_ && between_->pauses() != nullptr) between_->pauses()->EndAt(wait_end_ns);
    if (trace_) trace_->EndAt(wait_end_ns);
  }
  if (work_.spec.stop.warmup_s() > 0) recorder_->SetWarmupEnd(after_start(work_.spec.stop.warmup_s()));
  if (!work_.spec.region.open()) return;
  open_begin_ns_ = MonotonicNowNs();
  const absl::Status opened = engine_->Open(work_.files, work_.Mode());
  step_times_.open_ns = MonotonicNowNs() - open_begin_ns_;
  if (!opened.ok()) Fail(opened, work_.FirstFile());
}

void Lane::Run() {
  end_ = engine_->Run(*context_);
  hook_ticks_ = context_->hook_ticks;
  if (payload_) copying_ns_ = payload_->copying_ns();
  if (between_ && between_->pauses() != nullptr && !between_->pauses()->flush_status().ok()) {
    Fail(Annotate(between_->pauses()->flush_status(), "after a burst"), work_.FirstFile());
  }
  if (!pass_end_status_.ok()) Fail(Annotate(pass_end_status_, "after a pass"), work_.FirstFile());
  if (end_.reason == Reason::kFailed) FailWith(end_);
}

bool Lane::EndPass() {
  const Stopwatch watch(pass_end_ns_);
  if (work_.flushes_passes()) pass_end_status_ = engine_->Flush();
  if (work_.forgets_passes() && pass_end_status_.ok()) {
    pass_end_status_ =
        directory_.Use([this](const Directory& directory) { return iobench::ForgetPages(directory, work_.files); });
  }
  return pass_end_status_.ok();
}

void Lane::RunOps() {
  if (!takes_part()) return;
  ran_ = true;
  Run();
  const bool deadline_rules =
      work_.spec.stop.deadline_s() > 0 && (!work_.loops() || work_.spec.stop.deadline_s() <= work_.spec.stop.time_s());
  if (end_.reason == Reason::kDeadline && deadline_rules) {
    hit_deadline_ = true;
    deadline_ops_ = recorder_->ops();
  }
}

bool Lane::waits_at_deadline() const {
  return takes_part() && work_.spec.stop.wear_out() && hit_deadline_ && end_.reason == Reason::kDeadline;
}

void Lane::RunToGoal(uint64_t ops_goal) {
  assert(waits_at_deadline());
  context_->rules.deadline = LoopRules::kNever;
  if (trace_) trace_->EndAt(INT64_MAX);
  if (between_ && between_->pauses() != nullptr) between_->pauses()->EndAt(INT64_MAX);
  context_->rules.ops_goal = work_.spec.stop.max_ops() > 0 ? std::min(ops_goal, work_.spec.stop.max_ops()) : ops_goal;
  context_->resume = true;
  Run();
}

void Lane::NoteStoppedAtDeadline() {
  end_.reason = Reason::kStopped;
}

bool Lane::ended_by_itself() const {
  return takes_part() && ran_ && !waits_at_deadline() && end_.reason != Reason::kStopped;
}

uint64_t Lane::ops() const {
  return recorder_ == nullptr ? 0 : recorder_->ops();
}

void Lane::EndRegion() {
  if (work_.plan.sits_out() || engine_ == nullptr) return;
  if (ran_) recorder_->Finish();
  if (!failed() && work_.spec.region.fsync() && work_.writes()) {
    const absl::Status flushed = [&] {
      const Stopwatch watch(fsync_ns_);
      return engine_->Flush();
    }();
    fsync_end_ns_ = MonotonicNowNs();
    if (!flushed.ok()) Fail(flushed, work_.FirstFile());
  }
  const absl::Status closed = [&] {
    const Stopwatch watch(close_ns_);
    return engine_->Close();
  }();
  close_end_ns_ = MonotonicNowNs();
  found_items_ = engine_->found_items();
  if (!closed.ok()) Fail(closed, work_.FirstFile());
  const ThreadCpu cpu = ThreadCpu::Now();
  cpu_user_s_ += cpu.user_s;
  cpu_system_s_ += cpu.system_s;
}

uint64_t Lane::UnfinishedOps() const {
  if (!ran_ || !work_.spec.uses_files) return 0;
  const uint64_t done = recorder_->ops();
  if (work_.metadata && work_.metadata->effect.replaces_files)
    return (kOpsPerMixCycle - done % kOpsPerMixCycle) % kOpsPerMixCycle;
  // A deadline determines how many files exist: later phases use those that were created by then.
  const bool may_be_fewer = hit_deadline_ && work_.metadata && work_.metadata->effect.makes.Has(TreePart::kFiles);
  const bool must_be_whole =
      work_.metadata ? work_.metadata->effect.changes_names() && !may_be_fewer : work_.creates_files() && context_->pass == 0;
  return must_be_whole && done < stream_->ops_per_pass() ? stream_->ops_per_pass() - done : 0;
}

void Lane::Settle() {
  const bool quits = quit_.stop.load(std::memory_order_relaxed);
  const uint64_t unfinished_ops = UnfinishedOps();
  if (!takes_part() || !ran_ || !work_.spec.uses_files || quits ||
      (!work_.leaves_unflushed_data() && unfinished_ops == 0)) return;
  const Stopwatch watch(settle_ns_);
  absl::Status status = engine_->Open(work_.files, work_.Mode());
  if (!status.ok()) return Fail(Annotate(status, "after the timed region"), work_.FirstFile());
  if (unfinished_ops > 0) FinishOps(unfinished_ops);
  status = engine_->Flush();
  status.Update(engine_->Close());
  if (!status.ok()) Fail(Annotate(status, "after the timed region"), work_.FirstFile());
}

// The op stream continues where it stopped. A separate recorder excludes these ops from all figures but the total.
void Lane::FinishOps(uint64_t op_count) {
  LaneRecorder tail(work_.kinds(), *scale_);
  LaneContext rest{.stream = *stream_,
                   .payload = context_->payload,
                   .read_buffer = context_->read_buffer,
                   .stop = quit_,
                   .recorder = tail,
                   .rules = {.ops_goal = op_count},
                   .between = context_->between};
  if (between_) between_->EndPausesAndChecks();
  if (trace_) trace_->EndMeasured();
  const LoopEnd end = engine_->Run(rest);
  recorder_->AddUnmeasured(tail.bytes(), tail.ops());
  if (end.reason == Reason::kFailed) FailWith(end);
}

// Called by the lane's thread, because a descriptor number means another file in other threads.
void Lane::Release() {
  directory_.CloseOwn();
  if (engine_ != nullptr) engine_->Close().IgnoreError();
  engine_.reset();
  // Nothing was done; an empty file would be in the way of the next run.
  if (trace_file_.valid()) ::unlink(work_.TraceFile().c_str());
  trace_file_ = UniqueFd();
  context_.reset();
  read_buffer_.reset();
  payload_.reset();
}

void Lane::Quit() {
  Stop();
  quit_.stop.store(true, std::memory_order_relaxed);
}

}  // namespace iobench
