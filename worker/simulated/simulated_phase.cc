#include "worker/simulated/simulated_phase.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/live/latency_bins.h"
#include "common/status_util.h"
#include "worker/lane/phase_steps.h"

namespace iobench {

SimulatedPhase::SimulatedPhase(v1::Prepare prepare, const WorkerClock& clock, double loop_ns,
                               EventTaker take_event, SimulationLoop& loop)
    : prepare_(std::move(prepare)),
      clock_(clock),
      loop_ns_(loop_ns),
      take_event_(std::move(take_event)),
      loop_(loop) {}

bool SimulatedPhase::Enter(State from, State to) {
  MutexLock lock(mutex_);
  if (state_ != from) return false;
  state_ = to;
  return true;
}

absl::StatusOr<v1::Prepared> SimulatedPhase::Prepare() {
  IOBENCH_ASSIGN_OR_RETURN(spec_, PhaseSpec::From(prepare_, clock_, loop_ns_));
  if (spec_.uses_files || spec_.stop.time_s() > 0 || spec_.stop.deadline_s() > 0 || spec_.rest_s > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a simulated worker runs only phases of the null engine that end by themselves, not ",
        std::string(spec_.operation->name), " with engine ", spec_.engine, ": they are for selftest"));
  }
  for (const v1::LanePlan& plan : prepare_.lanes()) {
    lanes_.push_back(std::make_unique<Lane>(spec_, plan, /*target=*/"", /*directory=*/nullptr));
    lanes_.back()->MakeReady();
    lanes_.back()->Open();
  }
  steps_ = StepsBefore(spec_, lanes_, /*system_caches=*/absl::OkStatus());
  before_ = loop_.LatestCounters();
  early_pair_ = ReadTickPair(spec_.ticks);
  if (!Enter(State::kNew, State::kPrepared)) return absl::CancelledError("disarmed while it was prepared");
  v1::Prepared answer;
  answer.mutable_steps()->Assign(steps_.begin(), steps_.end());
  return answer;
}

v1::Armed SimulatedPhase::Arm(const v1::Arm& arm, WorkerTime now) {
  v1::Armed answer;
  answer.set_margin_ns(arm.start_worker_ns() - now.ns);
  answer.set_late(answer.margin_ns() < arm.margin_needed_ns() && !arm.start_anyway());
  if (answer.late()) return answer;
  {
    MutexLock lock(mutex_);
    armed_ = true;
  }
  const WorkerTime start{arm.start_worker_ns()};
  loop_.PostAt(start.ns - clock_.offset_ns(), [self = shared_from_this(), start] { self->RunLanes(start); });
  return answer;
}

void SimulatedPhase::RunLanes(WorkerTime start) {
  if (!Enter(State::kPrepared, State::kRan)) return;
  bool any_ended = false;
  for (const auto& lane : lanes_) {
    lane->BeginRegion(start);
    lane->RunOps();
    any_ended |= lane->ended_by_itself();
    lane->EndRegion();
  }
  scale_.emplace(spec_.ticks, early_pair_, ReadTickPair(spec_.ticks));
  if (any_ended) {
    v1::WorkerEvent ended;
    ended.mutable_lane_ended();
    take_event_(std::move(ended));
  }
  v1::WorkerEvent done;
  for (const auto& lane : lanes_) *done.mutable_lanes_done()->add_ends() = lane->EndsOn(*scale_);
  take_event_(std::move(done));
  host_ = HostDeltaBetween(before_.host, loop_.LatestCounters().host);
}

void SimulatedPhase::StopLanes(void (Lane::*stop)()) {
  MutexLock lock(mutex_);
  if (state_ != State::kPrepared && state_ != State::kRan) return;
  for (const auto& lane : lanes_) (lane.get()->*stop)();
}

void SimulatedPhase::Cancel() {
  StopLanes(&Lane::Quit);
  MutexLock lock(mutex_);
  state_ = State::kCancelled;
}

v1::Progress SimulatedPhase::Progress(const v1::Poll& poll) const {
  v1::Progress progress;
  MutexLock lock(mutex_);
  if (state_ != State::kPrepared && state_ != State::kRan) return progress;
  LatencyBins latency;
  for (const auto& lane : lanes_) {
    const LiveCell* const live = lane->live();
    if (live == nullptr) continue;
    progress.set_bytes(progress.bytes() + live->bytes.load(std::memory_order_relaxed));
    progress.set_ops(progress.ops() + live->ops.load(std::memory_order_relaxed));
    progress.set_total_bytes(progress.total_bytes() + lane->bytes_per_pass());
    progress.set_total_ops(progress.total_ops() + lane->ops_per_pass());
    if (poll.latency()) lane->AddLatenciesTo(latency);
  }
  if (poll.latency()) *progress.mutable_latency() = latency.ToProto();
  if (armed_ && state_ == State::kPrepared) {
    progress.set_lanes_running(static_cast<uint32_t>(lanes_.size()));
    // They wait for the thread that all simulated workers share, not for a file system.
    progress.set_activity(static_cast<uint64_t>(MonotonicNowNs()));
  }
  return progress;
}

bool SimulatedPhase::HasShortResults() {
  MutexLock lock(mutex_);
  return state_ == State::kRan && HaveShortResults(lanes_);
}

// Phases without files have nothing to settle.
absl::Status SimulatedPhase::Collect(std::span<const WorkerTime> instants, std::optional<WorkerTime>,
                                     const std::function<void(v1::ResultChunk)>& give) {
  RunLanes(clock_.Now());  // told to quit before the start
  {
    MutexLock lock(mutex_);
    if (state_ != State::kRan) return absl::CancelledError("disarmed before the results were collected");
  }
  v1::ResultChunk chunk;
  for (const auto& lane : lanes_) *chunk.add_lanes() = lane->ResultOn(*scale_, instants);
  chunk.set_measured(true);
  chunk.set_last(true);
  chunk.mutable_steps()->Assign(steps_.begin(), steps_.end());
  *chunk.mutable_host() = host_;
  const rusage& process = loop_.LatestCounters().process;
  chunk.set_process_cpu_user_s(SecondsFrom(process.ru_utime) - SecondsFrom(before_.process.ru_utime));
  chunk.set_process_cpu_system_s(SecondsFrom(process.ru_stime) - SecondsFrom(before_.process.ru_stime));
  give(std::move(chunk));
  return absl::OkStatus();
}

}  // namespace iobench
