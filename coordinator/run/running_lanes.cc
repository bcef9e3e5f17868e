#include "coordinator/run/running_lanes.h"

#include <algorithm>
#include <utility>

#include "coordinator/analysis/phase/stonewall.h"

namespace iobench {
namespace {

v1::WorkerRequest AdjustRequest(void (v1::Adjust::*set)(bool)) {
  v1::WorkerRequest request;
  (request.mutable_adjust()->*set)(true);
  return request;
}

}  // namespace

RunningLanes::RunningLanes(Cluster& cluster, ClockSync& clock_sync, RunObserver& observer,
                           const v1::Phase& phase, const PhaseProgress& shown, uint32_t lanes_per_worker)
    : cluster_(cluster),
      clock_sync_(clock_sync),
      observer_(observer),
      phase_(phase),
      shown_(shown),
      lanes_per_worker_(lanes_per_worker),
      states_(cluster.members().size()) {}

void RunningLanes::Reset() {
  for (WorkerState& state : states_) state = {};
  stop_sent_ = goal_sent_ = stonewall_noted_ = false;
}

absl::Status RunningLanes::Disarm(const Cluster::Patience& patience) {
  return cluster_.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!TakesPart(member.number)) return std::nullopt;
        return AdjustRequest(&v1::Adjust::set_disarm);
      },
      [](const Member&, const ReceivedEvent&) {}, patience);
}

absl::Status RunningLanes::WaitForEnds() {
  const int64_t display_ns = observer_.progress_interval_ns();
  const int64_t clocks_ns = clock_sync_.poll_interval_ns();
  CoordTime next_display = display_ns > 0 ? start_ + display_ns : CoordTime{INT64_MAX};
  next_clock_poll_ = clocks_ns > 0 ? start_ + clocks_ns : CoordTime{INT64_MAX};
  while (!AllDone()) {
    absl::Status status = cluster_.WaitUntil([this] { return AllDone(); },
                                             {.deadline = std::min(next_display, next_clock_poll_)});
    if (status.ok()) break;
    if (!absl::IsDeadlineExceeded(status)) return status;
    const CoordTime now = cluster_.Now();
    if (now >= next_clock_poll_) PollClocks();
    if (now < next_display) continue;
    PollForDisplay();
    next_display = cluster_.Now() + display_ns;
  }
  return absl::OkStatus();
}

absl::Status RunningLanes::EndEarly() {
  cluster_.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!TakesPart(member.number)) return std::nullopt;
    return AdjustRequest(&v1::Adjust::set_quit);
  });
  return cluster_.WaitUntil([this] { return AllDone(); },
                            {.deadline = cluster_.Now() + kGraceNs, .interruptible = false});
}

bool RunningLanes::AllDone() const {
  for (const Member& member : cluster_.members()) {
    const WorkerState& state = states_[member.number];
    if (state.takes_part && !state.done_at && !member.lost) return false;
  }
  return true;
}

void RunningLanes::OnEvent(const Member& member, const ReceivedEvent& received) {
  WorkerState& state = states_[member.number];
  const v1::WorkerEvent& event = received.event;
  switch (event.body_case()) {
    case v1::WorkerEvent::kLaneEnded:
      NoteStonewall(received.received_at);
      // With a time limit, all lanes end at the same instant on their own. With wear-out, each does as many ops as the
      // fastest. In both cases nothing stops them.
      if (phase_.stop().time_s() > 0 || phase_.stop().wear_out()) break;
      if (StopsLanes(phase_.stonewall())) StopLanes();
      break;
    case v1::WorkerEvent::kDeadlineReached:
      state.at_deadline = true;
      state.max_ops = event.deadline_reached().max_ops();
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kLanesDone:
      if (!state.takes_part || state.done_at) break;
      state.done_at = received.received_at;
      state.ends = event.lanes_done();
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kLost:
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kProgress:
      NoteProgress(member, received);
      break;
    default:
      break;
  }
}

// A poll's answer is also a ping of the worker's clock.
void RunningLanes::NoteProgress(const Member& member, const ReceivedEvent& received) {
  WorkerState& state = states_[member.number];
  if (received.event.call_id() != state.poll_call_id) return;  // from a poll before this phase
  state.poll_call_id = 0;
  state.progress = received.event.progress();
  v1::PingSample sample;
  sample.set_sent_coord_ns(state.poll_sent.ns);
  sample.set_received_worker_ns(state.progress.pong().received_worker_ns());
  sample.set_replied_worker_ns(state.progress.pong().replied_worker_ns());
  sample.set_returned_coord_ns(received.received_at.ns);
  clock_sync_.Note(member, sample);
}

void RunningLanes::StopLanes() {
  if (std::exchange(stop_sent_, true)) return;
  cluster_.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!TakesPart(member.number) || states_[member.number].done_at) return std::nullopt;
    return AdjustRequest(&v1::Adjust::set_stop);
  });
}

void RunningLanes::SendGoalWhenAllWait() {
  if (!phase_.stop().wear_out() || goal_sent_) return;
  uint64_t goal = 0;
  bool any_waits = false;
  for (const Member& member : cluster_.members()) {
    const WorkerState& state = states_[member.number];
    if (!state.takes_part || member.lost) continue;
    // A worker that finished before the deadline counts with its ops; there is nothing to wait for.
    goal = std::max(goal, state.max_ops);
    if (state.done_at) continue;
    if (!state.at_deadline) return;
    any_waits = true;
  }
  if (!any_waits) return;
  goal_sent_ = true;
  cluster_.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!states_[member.number].at_deadline) return std::nullopt;
    v1::WorkerRequest request;
    request.mutable_adjust()->set_ops_goal(goal);
    return request;
  });
}

void RunningLanes::Poll(const Member& member) {
  WorkerState& state = states_[member.number];
  // One poll at a time: a worker that has not answered is not polled again.
  if (!state.takes_part || member.lost || state.poll_call_id != 0) return;
  v1::WorkerRequest request;
  request.mutable_poll();
  state.poll_sent = cluster_.Now();
  state.poll_call_id = cluster_.Ask(member, std::move(request));
}

void RunningLanes::PollForDisplay() {
  for (const Member& member : cluster_.members()) Poll(member);
  PhaseProgress progress = Progress();
  progress.elapsed_s = SecondsFrom(cluster_.Now() - start_);
  observer_.PhaseMoves(progress);
}

// Polls whether or not anyone watches, because clock offsets become less certain with time.
void RunningLanes::PollClocks() {
  const auto takes_part = [this](const Member& member) { return TakesPart(member.number); };
  for (const uint32_t worker : clock_sync_.OneOfEachClock(takes_part)) Poll(cluster_.members()[worker]);
  next_clock_poll_ = cluster_.Now() + clock_sync_.poll_interval_ns();
}

// The first lane has ended: the windows end here, perhaps long before the phase.
void RunningLanes::NoteStonewall(CoordTime at) {
  if (std::exchange(stonewall_noted_, true)) return;
  clock_sync_.KeepAround(at);
  const int64_t clocks_ns = clock_sync_.poll_interval_ns();
  if (clocks_ns > 0 && at - start_ >= clocks_ns) PollClocks();
}

void RunningLanes::ShowPreparing() {
  PhaseProgress progress = Progress();
  progress.lane_count = static_cast<uint32_t>(states_.size()) * lanes_per_worker_;
  observer_.PhasePrepares(progress);
}

PhaseProgress RunningLanes::Progress() const {
  PhaseProgress progress = shown_;
  progress.time_limit_s = std::max(phase_.stop().time_s(), phase_.stop().deadline_s());
  progress.workers_lost = static_cast<uint32_t>(cluster_.members().size()) - cluster_.live_count();
  for (const WorkerState& state : states_) {
    if (!state.takes_part) continue;
    progress.bytes += state.progress.bytes();
    progress.ops += state.progress.ops();
    progress.total_bytes += state.progress.total_bytes();
    progress.total_ops += state.progress.total_ops();
    progress.lanes_running += state.done_at ? 0 : state.progress.lanes_running();
    progress.lane_count += lanes_per_worker_;
  }
  return progress;
}

double RunningLanes::LongestTimedSeconds() const {
  double longest_s = 0;
  for (const WorkerState& state : states_) {
    for (const v1::LaneEnds& ends : state.ends.ends()) {
      if (!ends.took_part()) continue;
      longest_s = std::max(longest_s, SecondsFrom(ends.region_end_worker_ns() - ends.first_op_worker_ns()));
    }
  }
  return longest_s;
}

std::vector<CoordTime> RunningLanes::Instants() const {
  CoordTime last_begin{INT64_MIN}, first_deadline{INT64_MAX};
  std::optional<LaneEnd> stonewall;
  for (const Member& member : cluster_.members()) {
    const ClockMap map = clock_sync_.MapOf(member.number);
    for (const v1::LaneEnds& ends : states_[member.number].ends.ends()) {
      if (!ends.took_part()) continue;
      const CoordTime begin = map.ToCoordinator({ends.first_op_worker_ns()});
      last_begin = std::max(last_begin, begin);
      const LaneEnd end = {.ops_end = map.ToCoordinator({ends.ops_end_worker_ns()}),
                           .stopped = ends.stopped(),
                           .has_ops = ends.has_ops()};
      if (!stonewall || IsStonewallBefore(end, *stonewall)) stonewall = end;
      if (ends.deadline_worker_ns() != 0) {
        first_deadline = std::min(first_deadline, map.ToCoordinator({ends.deadline_worker_ns()}));
      }
    }
  }
  if (!stonewall) return {};
  std::vector<CoordTime> instants = {last_begin, stonewall->ops_end};
  if (phase_.stop().warmup_s() > 0) instants.push_back(start_ + NanosFrom(phase_.stop().warmup_s()));
  if (first_deadline.ns != INT64_MAX) instants.push_back(first_deadline);
  return instants;
}

}  // namespace iobench
