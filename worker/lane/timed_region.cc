#include "worker/lane/timed_region.h"

#include <sys/resource.h>

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <span>

#include "common/model/metadata_operation.h"
#include "common/proc_file.h"
#include "common/status_util.h"
#include "worker/metadata/metadata_stream.h"
#include "worker/pattern/several_sizes.h"

namespace iobench {
namespace {

using Reason = LoopEnd::Reason;

// CPU time of the calling thread.
struct ThreadCpu {
  double user_s = 0, system_s = 0;
  static ThreadCpu Now() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {SecondsFrom(usage.ru_utime), SecondsFrom(usage.ru_stime)};
  }
};

// How long the calling thread has been ready to run, but without a processor: because others ran there, or because a
// quota of its control groups was used up. The second number of schedstat.
std::optional<double> RunDelaySeconds(bool has_run) {
  const std::optional<std::string> text = ReadWholeFile("/proc/thread-self/schedstat");
  if (!text) return std::nullopt;
  uint64_t on_processor_ns = 0, delayed_ns = 0;
  if (std::sscanf(text->c_str(), "%" SCNu64 " %" SCNu64, &on_processor_ns, &delayed_ns) != 2) return std::nullopt;
  // Without CONFIG_SCHED_INFO all numbers are 0, although the thread has run. At its beginning, they may be 0 anyway.
  if (has_run && on_processor_ns == 0 && delayed_ns == 0) return std::nullopt;
  return static_cast<double>(delayed_ns) / 1e9;
}

// Waits between ops use the system's clock, but the loop uses its own. If a wait ended at the deadline by one clock and
// just before it by the other, an op would begin too late. 10 ppm are more than the two can drift apart.
int64_t WaitEndNs(int64_t start_ns, int64_t deadline_ns) {
  constexpr int64_t kReadingsDifferNs = 100'000;
  return deadline_ns + kReadingsDifferNs + std::max<int64_t>(0, deadline_ns - start_ns) / 100'000;
}

}  // namespace

void TimedRegion::RecordBefore() {
  run_delay_before_s_ = RunDelaySeconds(/*has_run=*/false);
}

absl::Status TimedRegion::Begin(WorkerTime start) {
  outcome_.start = start;
  const ThreadCpu cpu = ThreadCpu::Now();
  outcome_.cpu_user_s = -cpu.user_s;  // Close adds the end
  outcome_.cpu_system_s = -cpu.system_s;
  SetRules(start);
  setup_.BeginTimedCalls();
  if (!work_.spec.region.open()) return absl::OkStatus();
  outcome_.open_begin_ns = MonotonicNowNs();
  absl::Status opened = setup_.engine().Open(work_.files, work_.Mode());
  outcome_.open_ns = MonotonicNowNs() - outcome_.open_begin_ns;
  return opened;
}

void TimedRegion::SetRules(WorkerTime start) {
  const v1::StopRule& stop = work_.spec.stop;
  const TickScale& scale = setup_.scale();
  const int64_t start_ns = start.ns - work_.spec.clock.offset_ns();
  const auto after_start = [&](double seconds) { return scale.ToTicks(start_ns + NanosFrom(seconds)); };
  LoopRules& rules = setup_.context().rules;
  if (work_.loops()) {
    rules.repeat_passes = true;
    if (stop.whole_passes()) {
      last_pass_begins_ns_ = start_ns + NanosFrom(stop.time_s());
    } else {
      rules.deadline = after_start(stop.time_s());
    }
    if (stop.whole_passes() || work_.flushes_passes() || work_.forgets_passes() || work_.separates_passes()) {
      setup_.context().end_pass = [this] { return EndPass(); };
    }
  }
  if (stop.max_ops() > 0) rules.ops_goal = stop.max_ops();
  if (stop.deadline_s() > 0) rules.deadline = std::min(rules.deadline, after_start(stop.deadline_s()));
  if (rules.deadline != LoopRules::kNever) {
    setup_.EndWaitsAt(WaitEndNs(start_ns, scale.ToMonotonicNs(rules.deadline)));
  }
  if (stop.warmup_s() > 0) {
    setup_.recorder().SetWarmupEnd(after_start(stop.warmup_s()));
    if (setup_.open_loop() != nullptr) setup_.open_loop()->SetWarmupEnd(after_start(stop.warmup_s()));
  }
}

std::optional<LaneFailure> TimedRegion::RunOps() {
  outcome_.ran = true;
  const std::optional<LaneFailure> failure = Run();
  const v1::StopRule& stop = work_.spec.stop;
  const bool deadline_rules = stop.deadline_s() > 0 && (!work_.loops() || stop.deadline_s() <= stop.time_s());
  outcome_.hit_deadline = outcome_.end.reason == Reason::kDeadline && deadline_rules;
  return failure;
}

std::optional<LaneFailure> TimedRegion::Run() {
  LaneContext& context = setup_.context();
  outcome_.end = setup_.engine().Run(context);
  context.resume_after_wait = false;
  while (GoesOnAfterFailure()) {
    if (IsAfterDeadline()) {  // the loop compares only ops that succeed with it
      setup_.recorder().RecordWaitedUntil(ReadTickPair(work_.spec.ticks).ticks);
      outcome_.end = {.reason = Reason::kDeadline};
      break;
    }
    context.resume = true;
    outcome_.end = setup_.engine().Run(context);
  }
  outcome_.hook_ticks = context.hook_ticks;
  if (setup_.payload() != nullptr) outcome_.copying_ns = setup_.payload()->copying_ns();
  if (const absl::Status flushed = setup_.FlushStatus(); !flushed.ok()) {
    return LaneFailure{flushed, work_.FirstFile()};
  }
  if (!pass_end_status_.ok()) {
    return LaneFailure{Annotate(pass_end_status_, "after a pass"), work_.FirstFile()};
  }
  if (outcome_.end.reason == Reason::kFailed) return setup_.FailureOf(outcome_.end);
  return std::nullopt;
}

// With --max-errors. A failed op is not repeated: its bytes are missing, and its time is in no latency, but in the
// lane's ops time.
bool TimedRegion::GoesOnAfterFailure() {
  const LoopEnd& end = outcome_.end;
  LaneContext& context = setup_.context();
  if (end.reason != Reason::kFailed || context.failed_ops.total() > work_.spec.stop.max_errors())
    return false;
  Op skipped;
  if (end.put_back) context.stream.Fill(std::span(&skipped, 1));
  setup_.LeaveFailedOpOut();
  return true;
}

bool TimedRegion::IsAfterDeadline() const {
  const Ticks deadline = setup_.context().rules.deadline;
  return deadline != LoopRules::kNever && setup_.scale().ToTicks(MonotonicNowNs()) >= deadline;
}

bool TimedRegion::EndPass() {
  if (MonotonicNowNs() >= last_pass_begins_ns_) return false;
  const Stopwatch watch(outcome_.pass_end_ns);
  if (work_.flushes_passes()) {
    pass_end_status_ = setup_.engine().Flush();
    setup_.RecordFlushed();
  }
  if (work_.flushes_passes() && setup_.context().pass == 0) outcome_.first_pass_flushed_ns = MonotonicNowNs();
  if (work_.forgets_passes() && pass_end_status_.ok()) {
    setup_.engine().ReleasePages();
    pass_end_status_ =
        directory_.Use([this](const Directory& directory) { return ForgetPages(directory, work_.files); });
  }
  return pass_end_status_.ok();
}

bool TimedRegion::waits_at_deadline() const {
  return work_.spec.stop.wear_out() && outcome_.hit_deadline && outcome_.end.reason == Reason::kDeadline;
}

std::optional<LaneFailure> TimedRegion::RunToGoal(uint64_t ops_goal) {
  assert(waits_at_deadline());
  const uint64_t max_ops = work_.spec.stop.max_ops();
  LaneContext& context = setup_.context();
  context.rules.deadline = LoopRules::kNever;
  setup_.EndWaitsAt(INT64_MAX);
  context.rules.ops_goal = max_ops > 0 ? std::min(ops_goal, max_ops) : ops_goal;
  context.resume = context.resume_after_wait = true;
  return Run();
}

void TimedRegion::RecordStoppedAtDeadline() {
  outcome_.end.reason = Reason::kStopped;
}

void TimedRegion::EndOps() {
  if (outcome_.ran) setup_.recorder().Finish();
}

absl::Status TimedRegion::Flush() {
  if (!work_.spec.region.fsync() || !work_.writes()) return absl::OkStatus();
  absl::Status flushed = [&] {
    const Stopwatch watch(outcome_.fsync_ns);
    return setup_.engine().Flush();
  }();
  outcome_.fsync_end_ns = MonotonicNowNs();
  return flushed;
}

absl::Status TimedRegion::Close() {
  absl::Status closed = [&] {
    const Stopwatch watch(outcome_.close_ns);
    return setup_.engine().Close();
  }();
  outcome_.close_end_ns = MonotonicNowNs();
  setup_.EndTimedCalls();
  outcome_.found_items = setup_.engine().found_items();
  outcome_.mpi_io = setup_.engine().mpi_io_facts();
  const ThreadCpu cpu = ThreadCpu::Now();
  outcome_.cpu_user_s += cpu.user_s;
  outcome_.cpu_system_s += cpu.system_s;
  if (const std::optional<double> now_s = RunDelaySeconds(/*has_run=*/true); now_s && run_delay_before_s_) {
    outcome_.run_delay_s = std::max(0.0, *now_s - *run_delay_before_s_);
  }
  return closed;
}

uint64_t TimedRegion::UnfinishedOps() const {
  if (!outcome_.ran || !work_.spec.uses_files) return 0;
  const std::optional<MetadataWork>& metadata = work_.metadata;
  const uint64_t done = setup_.recorder().ops();
  const uint64_t of_cycle = metadata ? MetadataSpecOf(*metadata->operation).cycle.size() : 0;
  if (of_cycle > 0) {
    if (work_.plan.has_finish_bytes() && work_.plan.finish_bytes() == 0) return 0;
    return (of_cycle - done % of_cycle) % of_cycle;
  }
  // A deadline determines how many files exist: later phases use those that were created by then.
  const bool may_be_fewer = outcome_.hit_deadline && metadata && metadata->effect.makes.Has(TreePart::kFiles);
  const bool must_be_whole = metadata ? metadata->effect.changes_names() && !may_be_fewer
                                      : work_.creates_files() && setup_.context().pass == 0;
  const uint64_t ops = must_be_whole ? OpsToFinish() : 0;
  return done < ops ? ops - done : 0;
}

// The number of ops of a pass after which the lane has created what later phases need.
uint64_t TimedRegion::OpsToFinish() const {
  const uint64_t ops_per_pass = setup_.stream().ops_per_pass();
  if (!work_.plan.has_finish_bytes()) return ops_per_pass;
  const uint64_t bytes = work_.plan.finish_bytes();
  if (bytes == 0) return 0;
  // In any other order than that of the files, the last op may write their beginning.
  const bool in_order = !work_.metadata && work_.spec.replayed == nullptr && work_.spec.operation->is_sequential();
  if (!in_order) return ops_per_pass;
  if (!work_.spec.shape.records.empty()) return SizedOpsThatMove(bytes, work_.Shape());
  const uint64_t op_bytes = std::max<uint64_t>(1, work_.spec.shape.op_bytes);
  return std::min(ops_per_pass, (bytes + op_bytes - 1) / op_bytes);
}

}  // namespace iobench
