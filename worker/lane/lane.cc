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

LaneMix MixFrom(v1::LaneMix mix) {
  switch (mix) {
    case v1::LANE_MIX_READER:
      return LaneMix::kReader;
    case v1::LANE_MIX_WRITER:
      return LaneMix::kWriter;
    default:
      return LaneMix::kPerOp;
  }
}

}  // namespace

Lane::Lane(const PhaseSpec& spec, const v1::LanePlan& plan, const std::string& target,
           const Directory* directory)
    : spec_(spec), plan_(plan), data_(spec_, plan_), target_(target), directory_(directory) {
  if (directory != nullptr) {
    files_.directory_fd = directory->fd();
    files_.directory = directory->path();
  } else if (spec.uses_files) {
    files_.directory = PathBelow(target, kDataDirectoryName);
  }
  if (spec.operation->is_metadata()) {
    metadata_.emplace(*spec.operation, spec.tree, plan.tree(), plan.file_owner(), spec.shape.phase,
                      spec.shape.seed);
    files_.files.push_back({.name = metadata_->names.root_name()});
    return;
  }
  files_.shared = spec.shared_file;
  if (spec.shared_file) {
    LaneFile file{kSharedFileName, plan.extent_offset_bytes(), spec.shape.object_bytes};
    if (spec.interleaved && plan.interleave_count() > 0) {
      file.interleave_count = plan.interleave_count();
      file.record_bytes = spec.shape.record_bytes;
    }
    files_.files.push_back(std::move(file));
    return;
  }
  if (!spec.existing_files.empty()) {
    files_.files.push_back(
        {spec.existing_files[plan.lane() % spec.existing_files.size()], 0, spec.shape.object_bytes});
    return;
  }
  for (uint32_t i = 0; i < spec.shape.object_count; ++i) {
    files_.files.push_back({LaneFileName(plan.file_owner(), i), 0, spec.shape.object_bytes});
  }
}

bool Lane::reads() const {
  return spec_.operation->reads() && plan_.mix() != v1::LANE_MIX_WRITER;
}
bool Lane::writes() const {
  return spec_.operation->writes() && plan_.mix() != v1::LANE_MIX_READER;
}

bool Lane::creates_files() const {
  return spec_.creates_files() || (spec_.uses_files && spec_.truncates && plan_.mix() == v1::LANE_MIX_WRITER);
}
bool Lane::needs_data() const {
  return spec_.needs_data() && !creates_files();
}

bool Lane::data_must_exist() const {
  return spec_.data_must_exist || !spec_.existing_files.empty();
}

OpKinds Lane::kinds() const {
  if (plan_.mix() == v1::LANE_MIX_READER) return OpKind::kRead;
  if (plan_.mix() == v1::LANE_MIX_WRITER) return OpKind::kWrite;
  return spec_.operation->kinds;
}

std::string Lane::FirstFile() const {
  return spec_.uses_files ? files_.PathOf(0) : std::string();
}

void Lane::Fail(const absl::Status& status, const std::string& file, uint64_t offset) {
  if (failed()) return;
  problem_ = ToProblem(status);
  problem_->set_file(file);
  problem_->set_offset(offset);
  problem_->set_operation(std::string(spec_.operation->name));
}

void Lane::FailWith(const LoopEnd& end) {
  if (const std::optional<FailedOp> known = engine_->Explain(end)) return Fail(known->status, known->file);
  const Op& op = end.failed_op;
  const std::string path = spec_.uses_files ? files_.PathOf(op.object) : std::string();
  const uint64_t offset = op.offset + (spec_.uses_files ? files_.files[op.object].extent_offset_bytes : 0);
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
  if (spec_.replayed != nullptr) {
    return MakeReplayed(writes() ? OpKind::kWrite : OpKind::kRead, spec_.replayed);
  }
  if (!metadata_) {
    IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<OpStream> stream, MakeOpStream(*spec_.operation, shape));
    if (!spec_.interleaved) return stream;
    return std::make_unique<Interleaved>(std::move(stream), plan_.interleave_count());
  }
  return MakeMetadataStream(*spec_.operation, metadata_->names,
                            {.item_count = metadata_->item_count,
                             .sizes = metadata_->sizes,
                             .random_order = metadata_->tree.random_order(),
                             .seed = shape.seed,
                             .lane = shape.lane,
                             .phase = shape.phase});
}

// The null engine does not access data.
bool Lane::needs_payload() const {
  if (!spec_.uses_files) return false;
  if (metadata_) return metadata_->writes_data() || PreparesData(*metadata_);
  return writes() || (needs_data() && !data_must_exist());
}

// True for long ops, unless the engine generates their data in its own buffers: those of a queue, or of -m.
bool Lane::makes_data_before_ops() const {
  if (data_.makes_records()) return true;
  const bool is_long = spec_.engine_options.longest_op_bytes >= Payload::kMadeBeforeOpsBytes;
  const auto engine = FindEngine(spec_.engine);
  return writes() && !metadata_ && is_long && data_.varies() && engine.ok() && !(*engine)->has_queue &&
         spec_.engine_options.buffer_bytes == 0;
}

void Lane::TakeOwnDescriptors() {
  const auto engine = FindEngine(spec_.engine);
  if (engine.ok() && (*engine)->shares_threads) return;  // its threads use the process's descriptors
  static_cast<void>(iobench::TakeOwnDescriptors(files_.directory_fd));  // without it, the lane is only slower
}

void Lane::Bind() {
  if (!takes_part() || spec_.binding_slots.empty()) return;
  const absl::Status bound = BindThisThread(spec_.binding_slots.Of(plan_.index_on_client()));
  if (!bound.ok()) Fail(bound, "");
}

void Lane::MakeReady() {
  if (!takes_part()) return;
  StreamShape shape = spec_.shape;
  shape.lane = plan_.lane();
  shape.mix = MixFrom(plan_.mix());
  const std::string first_file = FirstFile();
  auto stream = MakeStream(shape);
  if (!stream.ok()) return Fail(stream.status(), first_file);
  stream_ = *std::move(stream);
  if (spec_.works_on_tree()) {
    engine_ = MakeMetadataEngine(spec_.engine_options, *metadata_);
  } else {
    EngineOptions options = spec_.engine_options;
    if (const auto url = ParseNfsUrl(target_); url.ok()) {
      options.directory = url->Below(kDataDirectoryName).ForLibnfs();
    }
    auto engine = MakeEngine(spec_.engine, options);
    if (!engine.ok()) return Fail(engine.status(), first_file);
    engine_ = *std::move(engine);
  }
  scale_ = CurrentTickScale();
  recorder_ = std::make_unique<LaneRecorder>(kinds(), *scale_);
  if (needs_payload()) {
    auto payload = data_.MakePayload();
    if (!payload.ok()) return Fail(payload.status(), first_file);
    payload_ = *std::move(payload);
  }
  if (spec_.uses_files && reads()) {
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
  if (const absl::Status made = MakeTrace(); !made.ok()) return Fail(made, TraceFile());
  recorder_->SetAskedPause(scale_->DurationTicks(LongestAskedPauseNs()));
  if (const absl::Status ready = engine_->MakeReady(*context_); !ready.ok()) Fail(ready, first_file);
}

int64_t Lane::LongestAskedPauseNs() {
  int64_t longest_ns = between_ && between_->pauses() != nullptr ? between_->pauses()->longest_asked_ns() : 0;
  if (spec_.replayed != nullptr && !spec_.replayed->empty()) {
    const auto longest = std::max_element(
        spec_.replayed->begin(), spec_.replayed->end(),
        [](const TraceOp& a, const TraceOp& b) { return a.delay_us < b.delay_us; });
    longest_ns += int64_t{longest->delay_us} * 1000;
  }
  return longest_ns;
}

absl::Status Lane::MakeHook() {
  IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<Pauses> pauses,
                           Pauses::Create(spec_.between, stop_, RealPauseClock()));
  const bool makes_data = payload_ && makes_data_before_ops();
  const bool checks_data = read_buffer_ && data_.checks();
  if (pauses == nullptr && !makes_data && !checks_data) return absl::OkStatus();
  if (pauses != nullptr) pauses->FlushWith([this] { return engine_->Flush(); });
  between_.emplace(std::move(pauses));
  context_->between = &*between_;
  if (!needs_data()) ReadyDataForOps();
  return absl::OkStatus();
}

absl::Status Lane::MakeTrace() {
  const bool writes_trace = !spec_.trace.write_file().empty();
  if (spec_.replayed == nullptr && !writes_trace) return absl::OkStatus();
  trace_.emplace(context_->between, stop_, RealPauseClock());
  context_->between = &*trace_;
  if (spec_.replayed != nullptr) trace_->Replay(spec_.replayed);
  if (!writes_trace) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(trace_file_, OpenTraceForWriting(TraceFile()));
  const uint64_t max_ops = spec_.max_traced_ops;
  return trace_->Record(loops() ? max_ops : std::min(max_ops, stream_->ops_per_pass()));
}

void Lane::WriteTrace() {
  if (!trace_file_.valid() || !ran_) return;
  const UniqueFd file = std::move(trace_file_);
  const TraceOps ops = trace_->TakeRecorded();
  // An op that failed has begun, but did not complete.
  traced_ops_ = std::min<uint64_t>(ops.size(), recorder_->ops());
  const absl::Status written =
      iobench::WriteTrace(file.get(), TraceFile(), std::span(ops).first(traced_ops_));
  if (!written.ok()) Fail(written, TraceFile());
}

// So far the payload generated the prefill's data; from here on it generates that of the ops.
void Lane::ReadyDataForOps() {
  if (!between_) return;
  if (writes() && payload_ && makes_data_before_ops()) {
    const absl::Status ready = data_.ReadyForOps(*payload_);
    if (!ready.ok()) return Fail(ready, FirstFile());
    between_->PrepareDataOf(*payload_);
  }
  if (read_buffer_ && data_.checks()) between_->CheckWith(data_.MakeChecker(prefilled_bytes_));
}

// Steps before the timed region run in the directory of all lanes, or in the lane's own.
absl::Status Lane::InDirectory(absl::FunctionRef<absl::Status(const Directory&)> step) {
  if (directory_ != nullptr) return step(*directory_);
  if (own_directory_ == nullptr) {
    auto opened = OpenClaimedDirectory(target_, spec_.ClaimOf(plan_));
    if (IsHeldByAnother(opened.status())) lost_claim_ = opened.status();
    if (!opened.ok()) return opened.status();
    own_directory_ = *std::move(opened);
  }
  return step(*own_directory_);
}

void Lane::CreateFiles() {
  if (!takes_part() || !creates_files()) return;
  const Stopwatch watch(step_times_.create_ns);
  const absl::Status created = InDirectory([this](const Directory& directory) {
    return iobench::CreateFiles(
        directory, files_,
        spec_.preallocates ? FileBlocks::kPreallocated : FileBlocks::kAllocatedByWrites,
        spec_.keeps_existing ? OldFiles::kKept : OldFiles::kReplaced);
  });
  if (!created.ok()) Fail(created, FirstFile());
}

void Lane::Prefill() {
  if (!takes_part() || !(needs_data() || spec_.works_on_tree())) return;
  const Stopwatch watch(step_times_.prefill_ns);
  if (metadata_) {
    auto prepared = PrepareTree(files_.directory_fd, files_.directory, *metadata_, context_->payload, quit_);
    if (!prepared.ok()) return Fail(prepared.status(), FirstFile());
    tree_prepared_ = *prepared;
    prefilled_bytes_ = prepared->bytes;
    return;
  }
  if (plan_.leaves_prefill()) return ReadyDataForOps();
  if (data_must_exist()) {
    const absl::Status there =
        InDirectory([this](const Directory& directory) { return CheckDataExist(directory, files_); });
    if (!there.ok()) return Fail(there, FirstFile());
    return ReadyDataForOps();
  }
  const absl::Status filled = InDirectory([this](const Directory& directory) {
    const auto bytes = iobench::Prefill(directory, files_, *payload_, quit_, data_.prefill_bytes());
    if (bytes.ok()) prefilled_bytes_ = *bytes;
    return bytes.status();
  });
  if (!filled.ok()) return Fail(filled, FirstFile());
  if (!writes()) {
    payload_.reset();
    context_->payload = nullptr;
  }
  ReadyDataForOps();
}

void Lane::ForgetPages() {
  if (!takes_part() || !spec_.uses_files || metadata_)
    return;  // for metadata only the whole system's caches can be dropped
  const Stopwatch watch(step_times_.forget_ns);
  const absl::Status forgotten =
      InDirectory([this](const Directory& directory) { return iobench::ForgetPages(directory, files_); });
  if (!forgotten.ok()) Fail(forgotten, FirstFile());
}

OpenMode Lane::ModeFor() const {
  OpenMode mode = spec_.mode;
  mode.read = reads();
  mode.write = writes();
  return mode;
}

void Lane::NoteResidentBytes() {
  if (!takes_part() || !spec_.uses_files || !reads() || metadata_ || spec_.mode.direct) return;
  if (IsNfsUrl(target_)) return;  // nothing is cached
  const absl::Status looked = InDirectory([this](const Directory& directory) {
    const auto bytes = ResidentBytes(directory, files_);
    if (bytes.ok()) resident_bytes_ = *bytes;
    return absl::OkStatus();  // unknown values are not reported
  });
  if (!looked.ok()) Fail(looked, FirstFile());
}

void Lane::Open() {
  NoteResidentBytes();
  own_directory_.reset();  // its connection is no longer needed
  if (!takes_part() || spec_.region.open()) return;
  const absl::Status opened = [&] {
    const Stopwatch watch(step_times_.open_ns);
    return engine_->Open(files_, ModeFor());
  }();
  if (!opened.ok()) Fail(opened, FirstFile());
}

void Lane::BeginRegion(WorkerTime start) {
  if (!takes_part()) return;
  start_ = start;
  const ThreadCpu cpu = ThreadCpu::Now();
  cpu_user_s_ = -cpu.user_s;  // the end is added in EndRegion
  cpu_system_s_ = -cpu.system_s;
  const int64_t start_ns = start.ns - spec_.clock.offset_ns();
  const auto after_start = [&](double seconds) { return scale_->ToTicks(start_ns + NanosFrom(seconds)); };
  LoopRules& rules = context_->rules;
  if (loops()) {
    rules.deadline = after_start(spec_.stop.time_s());
    rules.repeat_passes = true;
    if (flushes_passes() || forgets_passes()) context_->end_pass = [this] { return EndPass(); };
  }
  if (spec_.stop.max_ops() > 0) rules.ops_goal = spec_.stop.max_ops();
  if (spec_.stop.deadline_s() > 0) {
    rules.deadline = std::min(rules.deadline, after_start(spec_.stop.deadline_s()));
  }
  if (rules.deadline != LoopRules::kNever) {
    const int64_t wait_end_ns = WaitEndNs(start_ns, scale_->ToMonotonicNs(rules.deadline));
    if (between_ && between_->pauses() != nullptr) between_->pauses()->EndAt(wait_end_ns);
    if (trace_) trace_->EndAt(wait_end_ns);
  }
  if (spec_.stop.warmup_s() > 0) recorder_->SetWarmupEnd(after_start(spec_.stop.warmup_s()));
  if (!spec_.region.open()) return;
  open_begin_ns_ = MonotonicNowNs();
  const absl::Status opened = engine_->Open(files_, ModeFor());
  step_times_.open_ns = MonotonicNowNs() - open_begin_ns_;
  if (!opened.ok()) Fail(opened, FirstFile());
}

void Lane::Run() {
  end_ = engine_->Run(*context_);
  hook_ticks_ = context_->hook_ticks;
  if (payload_) copying_ns_ = payload_->copying_ns();
  if (between_ && between_->pauses() != nullptr && !between_->pauses()->flush_status().ok()) {
    Fail(Annotate(between_->pauses()->flush_status(), "after a burst"), FirstFile());
  }
  if (!pass_end_status_.ok()) Fail(Annotate(pass_end_status_, "after a pass"), FirstFile());
  if (end_.reason == Reason::kFailed) FailWith(end_);
}

bool Lane::flushes_passes() const {
  return spec_.region.flush_passes() && writes();
}
bool Lane::forgets_passes() const {
  return spec_.drops_caches && reads() && spec_.uses_files && !metadata_;
}

bool Lane::EndPass() {
  const Stopwatch watch(pass_end_ns_);
  if (flushes_passes()) pass_end_status_ = engine_->Flush();
  if (forgets_passes() && pass_end_status_.ok()) {
    pass_end_status_ =
        InDirectory([this](const Directory& directory) { return iobench::ForgetPages(directory, files_); });
  }
  return pass_end_status_.ok();
}

void Lane::RunOps() {
  if (!takes_part()) return;
  ran_ = true;
  Run();
  const bool deadline_rules =
      spec_.stop.deadline_s() > 0 && (!loops() || spec_.stop.deadline_s() <= spec_.stop.time_s());
  if (end_.reason == Reason::kDeadline && deadline_rules) {
    hit_deadline_ = true;
    deadline_ops_ = recorder_->ops();
  }
}

bool Lane::waits_at_deadline() const {
  return takes_part() && spec_.stop.wear_out() && hit_deadline_ && end_.reason == Reason::kDeadline;
}

void Lane::RunToGoal(uint64_t ops_goal) {
  assert(waits_at_deadline());
  context_->rules.deadline = LoopRules::kNever;
  if (trace_) trace_->EndAt(INT64_MAX);
  if (between_ && between_->pauses() != nullptr) between_->pauses()->EndAt(INT64_MAX);
  context_->rules.ops_goal = spec_.stop.max_ops() > 0 ? std::min(ops_goal, spec_.stop.max_ops()) : ops_goal;
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
  if (plan_.sits_out() || engine_ == nullptr) return;
  if (ran_) recorder_->Finish();
  if (!failed() && spec_.region.fsync() && writes()) {
    const absl::Status flushed = [&] {
      const Stopwatch watch(fsync_ns_);
      return engine_->Flush();
    }();
    fsync_end_ns_ = MonotonicNowNs();
    if (!flushed.ok()) Fail(flushed, FirstFile());
  }
  const absl::Status closed = [&] {
    const Stopwatch watch(close_ns_);
    return engine_->Close();
  }();
  close_end_ns_ = MonotonicNowNs();
  found_items_ = engine_->found_items();
  if (!closed.ok()) Fail(closed, FirstFile());
  const ThreadCpu cpu = ThreadCpu::Now();
  cpu_user_s_ += cpu.user_s;
  cpu_system_s_ += cpu.system_s;
}

uint64_t Lane::UnfinishedOps() const {
  if (!ran_ || !spec_.uses_files) return 0;
  const uint64_t done = recorder_->ops();
  if (metadata_ && metadata_->effect.replaces_files)
    return (kOpsPerMixCycle - done % kOpsPerMixCycle) % kOpsPerMixCycle;
  // A deadline determines how many files exist: later phases use those that were created by then.
  const bool may_be_fewer = hit_deadline_ && metadata_ && metadata_->effect.makes.Has(TreePart::kFiles);
  const bool must_be_whole =
      metadata_ ? metadata_->effect.changes_names() && !may_be_fewer : creates_files() && context_->pass == 0;
  return must_be_whole && done < stream_->ops_per_pass() ? stream_->ops_per_pass() - done : 0;
}

void Lane::Settle() {
  const bool quits = quit_.stop.load(std::memory_order_relaxed);
  const uint64_t unfinished_ops = UnfinishedOps();
  const bool wrote = metadata_ ? metadata_->writes_data() : writes() && !spec_.region.fsync();
  if (!takes_part() || !ran_ || !spec_.uses_files || quits || (!wrote && unfinished_ops == 0)) return;
  const Stopwatch watch(settle_ns_);
  absl::Status status = engine_->Open(files_, ModeFor());
  if (!status.ok()) return Fail(Annotate(status, "after the timed region"), FirstFile());
  if (unfinished_ops > 0) FinishOps(unfinished_ops);
  status = engine_->Flush();
  status.Update(engine_->Close());
  if (!status.ok()) Fail(Annotate(status, "after the timed region"), FirstFile());
}

// The op stream continues where it stopped. A separate recorder excludes these ops from all figures but the total.
void Lane::FinishOps(uint64_t op_count) {
  LaneRecorder tail(kinds(), *scale_);
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
  own_directory_.reset();
  if (engine_ != nullptr) engine_->Close().IgnoreError();
  engine_.reset();
  // Nothing was done; an empty file would be in the way of the next run.
  if (trace_file_.valid()) ::unlink(TraceFile().c_str());
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
