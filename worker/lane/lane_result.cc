// The results of a lane: ends, totals, histograms and the thinned timeline.
#include <vector>

#include "worker/lane/lane.h"

namespace iobench {

static_assert(static_cast<int>(OpKind::kFind) == v1::OP_FIND && kOpKindCount == v1::OpKind_ARRAYSIZE);

namespace {

constexpr size_t kMaxTimelinePoints = 600;

}  // namespace

WorkerTime Lane::EndOfOps(const TickScale& scale) const {
  return ToWorker(scale.ToMonotonicNs(recorder_->ops_end()));
}

WorkerTime Lane::EndOfRegion(const TickScale& scale) const {
  if (!failed()) {
    if (work_.spec.region.close()) return ToWorker(close_end_ns_);
    if (fsync_end_ns_ != 0) return ToWorker(fsync_end_ns_);
  }
  return EndOfOps(scale);
}

v1::LaneEnds Lane::EndsOn(const TickScale& scale) const {
  v1::LaneEnds ends;
  ends.set_lane(work_.plan.lane());
  ends.set_took_part(takes_part() && ran_);
  if (!ran_) return ends;
  // If the open is in the timed region, the lane's time starts there.
  ends.set_first_op_worker_ns(open_begin_ns_ != 0 ? ToWorker(open_begin_ns_).ns
                                                  : ToWorker(scale.ToMonotonicNs(recorder_->first_op())).ns);
  ends.set_ops_end_worker_ns(EndOfOps(scale).ns);
  ends.set_region_end_worker_ns(EndOfRegion(scale).ns);
  ends.set_has_ops(recorder_->ops() > 0);
  ends.set_stopped(end_.reason == LoopEnd::Reason::kStopped);
  if (hit_deadline_) ends.set_deadline_worker_ns((start_ + NanosFrom(work_.spec.stop.deadline_s())).ns);
  return ends;
}

v1::LaneResult Lane::ResultOn(const TickScale& scale, std::span<const WorkerTime> instants) const {
  v1::LaneResult result;
  result.set_lane(work_.plan.lane());
  result.set_file_owner(work_.plan.file_owner());
  result.set_sat_out(work_.plan.sits_out());
  result.set_found_items(found_items_);
  result.set_operation(std::string(work_.spec.operation->name));
  result.set_file(work_.FirstFile());
  if (problem_) *result.mutable_problem() = *problem_;
  result.set_open_s(SecondsFrom(step_times_.open_ns));
  if (resident_bytes_) result.set_resident_bytes(*resident_bytes_);
  if (!ran_) return result;

  const v1::LaneEnds ends = EndsOn(scale);
  result.set_first_op_worker_ns(ends.first_op_worker_ns());
  result.set_ops_end_worker_ns(ends.ops_end_worker_ns());
  result.set_region_end_worker_ns(ends.region_end_worker_ns());
  result.set_last_op_worker_ns(ToWorker(scale.ToMonotonicNs(recorder_->last_end())).ns);
  const LaneRecorder::Stall& stall = recorder_->longest_stall();
  result.set_stall_begin_worker_ns(ToWorker(scale.ToMonotonicNs(stall.begin)).ns);
  result.set_stall_end_worker_ns(ToWorker(scale.ToMonotonicNs(stall.end)).ns);
  result.set_region_bytes(recorder_->bytes());
  result.set_region_ops(recorder_->ops());
  result.set_bytes(recorder_->bytes() + recorder_->unmeasured_bytes());
  result.set_ops(recorder_->ops() + recorder_->unmeasured_ops());
  result.set_warmup_bytes(recorder_->warmup_bytes());
  result.set_warmup_ops(recorder_->warmup_ops());
  result.set_fsync_s(SecondsFrom(fsync_ns_));
  result.set_close_s(SecondsFrom(close_ns_));
  result.set_settle_s(SecondsFrom(settle_ns_));
  result.set_stopped(ends.stopped());
  result.set_hit_deadline(hit_deadline_);
  result.set_deadline_ops(deadline_ops_);
  result.set_deadline_worker_ns(ends.deadline_worker_ns());
  result.set_cpu_user_s(cpu_user_s_);
  result.set_cpu_system_s(cpu_system_s_);
  result.set_tool_s(static_cast<double>(recorder_->ops()) * work_.spec.loop_ns / 1e9);
  if (between_ || trace_) {
    result.set_between_s(SecondsFrom(static_cast<int64_t>(scale.DurationNs(hook_ticks_))));
    result.set_pause_s(
        SecondsFrom((between_ ? between_->left_out_ns() : 0) + (trace_ ? trace_->waited_ns() : 0)));
  }
  if (between_) {
    const bool is_data = between_->only_makes_data() && !trace_;
    result.set_data_s(is_data ? result.between_s() : SecondsFrom(between_->data_ns()));
    if (between_->checker() != nullptr) {
      *result.mutable_verify() = between_->checker()->Result();
      NamePlaces(work_.files, *result.mutable_verify());
    }
  }
  result.set_data_s(result.data_s() + SecondsFrom(copying_ns_));
  result.set_tool_s(result.tool_s() + result.data_s());

  std::vector<WorkerPoint> points;
  if (open_begin_ns_ != 0) points.push_back({ToWorker(open_begin_ns_), 0, 0});
  for (const LanePoint& point : recorder_->timeline().Points()) {
    points.push_back({ToWorker(scale.ToMonotonicNs(point.at)), point.bytes, point.ops});
  }
  *result.mutable_timeline() = ToProto(Thinned(points, instants, kMaxTimelinePoints));

  for (int i = 0; i < kOpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const Histogram* const histogram = recorder_->histogram_of(kind);
    if (histogram == nullptr) continue;
    v1::KindResult& of_kind = *result.add_kinds();
    of_kind.set_kind(static_cast<v1::OpKind>(i));
    of_kind.set_bytes(recorder_->bytes_of(kind));
    of_kind.set_ops(recorder_->ops_of(kind));
    *of_kind.mutable_latency() = histogram->ToProto();
  }
  return result;
}

}  // namespace iobench
