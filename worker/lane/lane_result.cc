// The results of a lane: ends, totals, histograms, the thinned timeline and latencies over time.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/lane/lane.h"

namespace iobench {

static_assert(static_cast<int>(OpKind::kLock) == v1::OP_LOCK && kOpKindCount == v1::OpKind_ARRAYSIZE);

namespace {

constexpr size_t kMaxTimelinePoints = 600;
// A worker sends the results of several lanes in one message.
constexpr size_t kMaxLaneBytes = 64 << 10;

// Converts a lane's times to the worker's clock.
struct LaneTimes {
  const TickScale& scale;
  const WorkerClock& clock;

  WorkerTime At(int64_t monotonic_ns) const { return {monotonic_ns + clock.offset_ns()}; }
  WorkerTime At(Ticks ticks) const { return At(scale.ToMonotonicNs(ticks)); }
};

void AddGaps(const LaneRecorder& recorder, const RegionOutcome& outcome, const LaneTimes& times,
             v1::LaneResult& result) {
  // An open in the timed region precedes the first op, before which the recorder sees nothing.
  if (outcome.open_begin_ns != 0 && outcome.open_ns >= kNanosPerSecond) {
    v1::Gap& gap = *result.add_gaps();
    gap.set_begin_worker_ns(times.At(outcome.open_begin_ns).ns);
    gap.set_end_worker_ns(times.At(outcome.open_begin_ns + outcome.open_ns).ns);
  }
  std::vector<LaneRecorder::Stall> gaps(recorder.gaps().begin(), recorder.gaps().end());
  std::ranges::sort(gaps, {}, &LaneRecorder::Stall::begin);
  for (const LaneRecorder::Stall& stall : gaps) {
    v1::Gap& gap = *result.add_gaps();
    gap.set_begin_worker_ns(times.At(stall.begin).ns);
    gap.set_end_worker_ns(times.At(stall.end).ns);
    gap.set_flushed(stall.flushed);
  }
}

void AddRecord(const LaneRecorder& recorder, const LaneTimes& times, v1::LaneResult& result) {
  result.set_last_op_worker_ns(times.At(recorder.last_end()).ns);
  const LaneRecorder::Stall& stall = recorder.longest_stall();
  result.set_stall_begin_worker_ns(times.At(stall.begin).ns);
  result.set_stall_end_worker_ns(times.At(stall.end).ns);
  result.set_region_bytes(recorder.bytes());
  result.set_region_ops(recorder.ops());
  result.set_bytes(recorder.bytes() + recorder.unmeasured_bytes());
  result.set_ops(recorder.ops() + recorder.unmeasured_ops());
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const Histogram* const histogram = recorder.histogram_of(kind);
    if (histogram == nullptr) continue;
    v1::KindResult& of_kind = *result.add_kinds();
    of_kind.set_kind(static_cast<v1::OpKind>(i));
    of_kind.set_bytes(recorder.bytes_of(kind));
    of_kind.set_ops(recorder.ops_of(kind));
    *of_kind.mutable_latency() = histogram->ToProto();
  }
  for (int i = 0; i < kOpKindCount; ++i) {
    const Histogram* const histogram = recorder.histogram_of_call(static_cast<OpKind>(i));
    if (histogram == nullptr || histogram->count() == 0) continue;
    v1::KindResult& call = *result.add_calls();
    call.set_kind(static_cast<v1::OpKind>(i));
    call.set_ops(histogram->count());
    *call.mutable_latency() = histogram->ToProto();
  }
}

// How far the lane came in its passes, including what it did after the timed region.
void AddPasses(const LaneSetup& setup, v1::LaneResult& result) {
  const uint64_t ops_per_pass = setup.stream().ops_per_pass();
  const uint64_t ops = setup.recorder().ops() + setup.recorder().unmeasured_ops();
  uint64_t passes = setup.context().pass;
  uint64_t pass_ops = ops - std::min(ops, passes * ops_per_pass);
  if (ops_per_pass > 0 && pass_ops >= ops_per_pass) {
    ++passes;
    pass_ops = 0;
  }
  result.set_passes(passes);
  result.set_pass_ops(pass_ops);
  result.set_bytes_per_pass(setup.stream().bytes_per_pass());
}

void AddOutcome(const RegionOutcome& outcome, v1::LaneResult& result) {
  result.set_fsync_s(SecondsFrom(outcome.fsync_ns));
  result.set_close_s(SecondsFrom(outcome.close_ns));
  result.set_cpu_user_s(outcome.cpu_user_s);
  result.set_cpu_system_s(outcome.cpu_system_s);
  if (outcome.run_delay_s >= 0) result.set_run_delay_s(outcome.run_delay_s);
}

// What was done between ops, and the tool's own share of the lane's time.
void AddBetween(const LaneSetup& setup, const RegionOutcome& outcome, const LaneWork& work,
                const TickScale& scale, v1::LaneResult& result) {
  const LaneHook* const hook = setup.hook();
  const TraceHook* const trace = setup.trace();
  const bool between_ops = outcome.hook_ticks > 0;  // also what an engine itself does there
  if (between_ops || hook != nullptr || trace != nullptr || setup.op_log() != nullptr || setup.open_loop() != nullptr) {
    result.set_between_s(SecondsFrom(static_cast<int64_t>(scale.DurationNs(outcome.hook_ticks))));
    result.set_pause_s(SecondsFrom((hook != nullptr ? hook->left_out_ns() : 0) +
                                   (trace != nullptr ? trace->waited_ns() : 0)));
  }
  if (hook != nullptr) {
    result.set_data_s(hook->times_data() ? SecondsFrom(hook->data_ns()) : result.between_s());
    if (hook->checker() != nullptr) {
      *result.mutable_verify() = hook->checker()->Result();
      NamePlaces(work.files, *result.mutable_verify());
    }
  }
  result.set_data_s(result.data_s() + SecondsFrom(outcome.copying_ns));
  result.set_tool_s(static_cast<double>(setup.recorder().ops()) * work.spec.loop_ns / 1e9 + result.data_s());
}

void AddLost(const LostBytes& lost, const FileSet& files, v1::VerifyResult& verify) {
  verify.set_missing_bytes(lost.bytes);
  v1::Mismatch& mismatch = *verify.add_first();
  mismatch.set_what(v1::Mismatch::MISSING);
  mismatch.set_file(files.PathOf(lost.file_index));
  mismatch.set_offset(lost.offset);
  mismatch.set_expected(absl::StrCat("data up to ", lost.end));
  mismatch.set_found(lost.exists ? "the end of the file" : "no file");
}

void AddCounts(const FailedOps& failed, const LaneWork& work,
               google::protobuf::RepeatedPtrField<v1::ErrorCount>& counts) {
  for (const FailedOps::Entry& entry : failed.entries()) {
    v1::ErrorCount& error = *counts.Add();
    error.set_kind(static_cast<v1::OpKind>(entry.first.kind));
    error.set_errno_value(entry.errno_value);
    error.set_count(entry.count);
    if (!work.spec.uses_files || entry.first.object >= work.files.files.size()) continue;
    error.set_file(work.files.PathOf(entry.first.object));
    error.set_offset(entry.first.offset + work.files.files[entry.first.object].extent_offset_bytes);
  }
}

v1::LatencySlices SlicesWithin(size_t max_bytes, const LatencySlices& slices, const LaneTimes& times) {
  const auto slice_ns = static_cast<int64_t>(times.scale.DurationNs(slices.slice_ticks()));
  return slices.ToProto(times.At(slices.begin()), slice_ns, max_bytes);
}

// The slices get the room that the rest of the result leaves; their resolution is only that of a chart. Those of flush
// calls share it equally with those that come after them, the last of which are the ops'.
void AddLatencySlices(const LaneRecorder& recorder, const LaneTimes& times, v1::LaneResult& result) {
  constexpr size_t kTagAndLength = 8;
  const auto room = [&result] {
    return kMaxLaneBytes - std::min(kMaxLaneBytes, result.ByteSizeLong() + kTagAndLength);
  };
  auto to_come = static_cast<size_t>(result.calls_size());
  for (v1::KindResult& call : *result.mutable_calls()) {
    const LatencySlices& slices = *recorder.slices_of_call(static_cast<OpKind>(call.kind()));
    *call.mutable_slices() = SlicesWithin(room() / (1 + to_come--), slices, times);
  }
  *result.mutable_latency_slices() = SlicesWithin(room(), recorder.latency_slices(), times);
}

std::vector<WorkerPoint> TimelineOf(const LaneRecorder& recorder, const RegionOutcome& outcome,
                                    const LaneTimes& times) {
  std::vector<WorkerPoint> points;
  if (outcome.open_begin_ns != 0) points.push_back({times.At(outcome.open_begin_ns), 0, 0});
  for (const LanePoint& point : recorder.timeline().Points()) {
    points.push_back({times.At(point.at), point.bytes, point.ops});
  }
  return points;
}

}  // namespace

Lane::Unfinished Lane::WhatIsUnfinished() const {
  if (!takes_part() || !ran() || !work_.spec.uses_files) return {};
  const uint64_t ops = region_->UnfinishedOps();
  return {.ops = ops, .bytes = work_.metadata ? 0 : ops * work_.spec.shape.op_bytes};
}

bool Lane::HasTail() const {
  if (!ran()) return false;
  const bool settles =
      work_.spec.uses_files && (work_.leaves_unflushed_data() || region_->UnfinishedOps() > 0);
  return settles || work_.writes_trace() || work_.logs_ops();
}

bool Lane::HasShortResult() const {
  constexpr size_t kOtherPoints = 3;  // the origin, an open, and the end
  return !ran() || (!HasTail() && setup_->recorder().ops() + kOtherPoints <= kMaxTimelinePoints);
}

v1::LaneSettled Lane::Settled() const {
  v1::LaneSettled settled;
  settled.set_lane(work_.plan.lane());
  settled.set_settle_s(SecondsFrom(settle_ns_));
  if (problem_) *settled.mutable_problem() = *problem_;
  if (!ran()) return settled;
  const LaneRecorder& recorder = setup_->recorder();
  settled.set_bytes(recorder.bytes() + recorder.unmeasured_bytes());
  settled.set_ops(recorder.ops() + recorder.unmeasured_ops());
  return settled;
}

v1::LaneEnds Lane::EndsOn(const TickScale& scale) const {
  v1::LaneEnds ends;
  ends.set_took_part(takes_part() && ran());
  if (!ran()) return ends;
  const PhaseSpec& spec = work_.spec;
  const LaneTimes times{scale, spec.clock};
  const LaneRecorder& recorder = setup_->recorder();
  const RegionOutcome& outcome = region_->outcome();
  // If the open is in the timed region, the lane's time starts there.
  const WorkerTime begin =
      outcome.open_begin_ns != 0 ? times.At(outcome.open_begin_ns) : times.At(recorder.first_op());
  const WorkerTime ops_end = times.At(recorder.ops_end());
  WorkerTime region_end = ops_end;
  if (!failed() && spec.region.close()) {
    region_end = times.At(outcome.close_end_ns);
  } else if (!failed() && outcome.fsync_end_ns != 0) {
    region_end = times.At(outcome.fsync_end_ns);
  }
  ends.set_first_op_worker_ns(begin.ns);
  ends.set_ops_end_worker_ns(ops_end.ns);
  ends.set_region_end_worker_ns(region_end.ns);
  ends.set_has_ops(recorder.ops() > 0);
  const LaneContext& context = setup_->context();
  if (context.pass > 0) {
    ends.set_first_pass_end_worker_ns(outcome.first_pass_flushed_ns != 0
                                          ? times.At(outcome.first_pass_flushed_ns).ns
                                          : times.At(context.first_pass_ops_end).ns);
  }
  ends.set_stopped(outcome.end.reason == LoopEnd::Reason::kStopped);
  if (outcome.hit_deadline) {
    ends.set_deadline_worker_ns((outcome.start + NanosFrom(spec.stop.deadline_s())).ns);
  }
  return ends;
}

v1::LaneResult Lane::ResultOn(const TickScale& scale, std::span<const WorkerTime> instants) const {
  const RegionOutcome outcome = region_ ? region_->outcome() : RegionOutcome();
  v1::LaneResult result;
  result.set_lane(work_.plan.lane());
  result.set_file_owner(work_.plan.file_owner());
  result.set_sat_out(work_.plan.sits_out());
  result.set_found_items(outcome.found_items);
  result.set_operation(std::string(work_.spec.operation->name));
  result.set_file(work_.FirstFile());
  if (problem_) *result.mutable_problem() = *problem_;
  result.set_open_s(SecondsFrom(preparation_.times.open_ns + outcome.open_ns));  // one of them is 0
  if (preparation_.unstored) {
    result.set_hole_bytes(preparation_.unstored->hole_bytes);
    result.set_compressed_bytes(preparation_.unstored->compressed_bytes);
  }
  result.mutable_places()->Assign(preparation_.places.begin(), preparation_.places.end());
  if (preparation_.resident_bytes) result.set_resident_bytes(*preparation_.resident_bytes);
  if (lost_.bytes > 0) AddLost(lost_, work_.files, *result.mutable_verify());
  if (!outcome.ran) return result;

  const v1::LaneEnds ends = EndsOn(scale);
  result.set_first_op_worker_ns(ends.first_op_worker_ns());
  result.set_ops_end_worker_ns(ends.ops_end_worker_ns());
  result.set_region_end_worker_ns(ends.region_end_worker_ns());
  result.set_stopped(ends.stopped());
  result.set_deadline_worker_ns(ends.deadline_worker_ns());
  result.set_first_pass_end_worker_ns(ends.first_pass_end_worker_ns());
  AddPasses(*setup_, result);
  const LaneTimes times{scale, work_.spec.clock};
  AddRecord(setup_->recorder(), times, result);
  AddGaps(setup_->recorder(), outcome, times, result);
  AddOutcome(outcome, result);
  result.set_settle_s(SecondsFrom(settle_ns_));
  AddCounts(setup_->context().failed_ops, work_, *result.mutable_errors());
  result.set_warmup_errors(setup_->context().warmup_failed_count);
  AddCounts(setup_->context().retried_ops, work_, *result.mutable_retries());
  AddBetween(*setup_, outcome, work_, scale, result);
  if (const OpenLoop* const open_loop = setup_->open_loop(); open_loop != nullptr) {
    *result.mutable_service() = open_loop->service().ToProto();
    *result.mutable_lag() = open_loop->lag().ToProto();
  }
  *result.mutable_timeline() =
      ToProto(Thinned(TimelineOf(setup_->recorder(), outcome, times), instants, kMaxTimelinePoints));
  AddLatencySlices(setup_->recorder(), times, result);
  return result;
}

bool HaveShortResults(std::span<const std::unique_ptr<Lane>> lanes) {
  constexpr size_t kMaxLanes = 4;
  return lanes.size() <= kMaxLanes &&
         std::all_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane->HasShortResult(); });
}

}  // namespace iobench
