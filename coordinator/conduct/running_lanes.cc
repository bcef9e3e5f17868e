#include "coordinator/conduct/running_lanes.h"

#include <algorithm>
#include <utility>

#include "common/roster/roster.h"
#include "coordinator/analysis/phase/stonewall.h"
#include "coordinator/cluster/interrupt.h"

namespace iobench {
namespace {

v1::WorkerRequest AdjustRequest(void (v1::Adjust::*set)(bool)) {
  v1::WorkerRequest request;
  (request.mutable_adjust()->*set)(true);
  return request;
}

// Times that a clock can show, in the order in which they happen; otherwise the result will be refused.
bool AreInOrder(const v1::LanesDone& done) {
  constexpr int64_t kMaxShownNs = int64_t{1} << 61;
  return std::all_of(done.ends().begin(), done.ends().end(), [](const v1::LaneEnds& ends) {
    return !ends.took_part() ||
           (0 <= ends.first_op_worker_ns() && ends.first_op_worker_ns() <= ends.ops_end_worker_ns() &&
            ends.ops_end_worker_ns() <= ends.region_end_worker_ns() &&
            ends.region_end_worker_ns() <= kMaxShownNs && 0 <= ends.deadline_worker_ns() &&
            ends.deadline_worker_ns() <= kMaxShownNs && 0 <= ends.first_pass_end_worker_ns() &&
            ends.first_pass_end_worker_ns() <= ends.region_end_worker_ns());
  });
}

// LanesDone stands for a LaneEnded that was left out.
bool AnyEndedByItself(const v1::LanesDone& done) {
  return std::any_of(done.ends().begin(), done.ends().end(),
                     [](const v1::LaneEnds& ends) { return ends.took_part() && !ends.stopped(); });
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
  stop_sent_ = goal_sent_ = stonewall_noted_ = show_is_due_ = false;
  polls_pending_ = awaited_count_ = first_busy_ = 0;
}

absl::Status RunningLanes::Disarm(const Cluster::Patience& patience) {
  return cluster_.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!TakesPart(member.number)) return std::nullopt;
        return AdjustRequest(&v1::Adjust::set_disarm);
      },
      [](const Member&, const ReceivedEvent&) {}, patience);
}

absl::Status RunningLanes::WaitForEnds(CoordTime deadline) {
  for (const Member& member : cluster_.members()) {
    if (TakesPart(member.number) && !states_[member.number].done_at) cluster_.BeginLanes(member.number);
  }
  const absl::Status status = WaitWatching(deadline);
  for (const Member& member : cluster_.members()) cluster_.EndLanes(member.number);
  return status;
}

absl::Status RunningLanes::WaitWatching(CoordTime deadline) {
  const int64_t watch_ns = cluster_.watch_interval_ns();
  CoordTime next_watch = start_ + watch_ns;
  const int64_t display_ns = observer_.progress_interval_ns();
  const int64_t clocks_ns = clock_sync_.poll_interval_ns();
  CoordTime next_display = display_ns > 0 ? start_ + display_ns : CoordTime{INT64_MAX};
  next_clock_poll_ = clocks_ns > 0 ? start_ + clocks_ns : CoordTime{INT64_MAX};
  int64_t stood_still_ns = cluster_.stood_still_ns();
  while (!AllDone()) {
    absl::Status status =
        cluster_.WaitUntil([this] { return AllDone(); },
                           {.deadline = std::min({next_display, next_clock_poll_, next_watch, deadline})});
    if (status.ok()) break;
    if (!absl::IsDeadlineExceeded(status)) return status;
    const CoordTime now = cluster_.Now();
    // Lanes are not late because this process could not see them end.
    const int64_t before_ns = std::exchange(stood_still_ns, cluster_.stood_still_ns());
    if (deadline.ns != INT64_MAX) deadline = deadline + (stood_still_ns - before_ns);
    if (now >= deadline) {
      DropLate();
      deadline.ns = INT64_MAX;
    }
    if (now >= next_display) {
      PollForDisplay();
      next_display = cluster_.Now() + display_ns;
      next_watch = cluster_.Now() + watch_ns;
    } else if (now >= next_watch) {
      PollAll();
      next_watch = cluster_.Now() + watch_ns;
    }
    if (now >= next_clock_poll_) PollClocks();
  }
  return absl::OkStatus();
}

absl::Status RunningLanes::EndEarly() {
  cluster_.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!TakesPart(member.number)) return std::nullopt;
    return AdjustRequest(&v1::Adjust::set_quit);
  });
  return cluster_.WaitUntil([this] { return AllDone(); },
                            {.deadline = cluster_.Now() + kInterruptGraceNs, .interruptible = false});
}

// Counted, because it is checked after every event: examining all workers each time would take quadratic time.
void RunningLanes::SetAwaited(uint32_t worker, bool awaited) {
  if (std::exchange(states_[worker].awaited, awaited) == awaited) return;
  awaited_count_ += awaited ? 1 : -1;
}

void RunningLanes::OnEvent(const Member& member, const ReceivedEvent& received) {
  WorkerState& state = states_[member.number];
  const v1::WorkerEvent& event = received.event;
  switch (event.body_case()) {
    case v1::WorkerEvent::kLaneEnded:
      RecordFirstEnd(received.received_at);
      break;
    case v1::WorkerEvent::kDeadlineReached:
      state.at_deadline = true;
      // No worker does more than an op per nanosecond, and the others' lanes would go on until they reach what one
      // claims.
      state.max_ops = std::min(event.deadline_reached().max_ops(),
                               static_cast<uint64_t>(NanosFrom(phase_.stop().deadline_s())));
      cluster_.EndLanes(member.number);  // they wait for the goal
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kLanesDone:
      if (!state.takes_part || state.done_at) break;
      state.done_at = received.received_at;
      SetAwaited(member.number, false);
      if (AreInOrder(event.lanes_done())) state.ends = event.lanes_done();
      cluster_.EndLanes(member.number);
      if (AnyEndedByItself(event.lanes_done())) RecordFirstEnd(received.received_at);
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kLost:
      SetAwaited(member.number, false);
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kProgress:
      RecordProgress(member, received);
      break;
    default:
      break;
  }
}

// The first lane has ended: the windows end there.
void RunningLanes::RecordFirstEnd(CoordTime at) {
  RecordStonewall(at);
  // With a time limit, all lanes end at the same instant on their own. With wear-out, each does as many ops as the
  // fastest. In both cases nothing stops them.
  if (phase_.stop().time_s() > 0 || phase_.stop().wear_out()) return;
  if (StopsLanes(phase_.stonewall())) StopLanes();
}

// A poll's answer is also a ping of the worker's clock.
void RunningLanes::RecordProgress(const Member& member, const ReceivedEvent& received) {
  WorkerState& state = states_[member.number];
  if (received.event.call_id() != state.poll_call_id) return;  // from a poll before this phase
  state.poll_call_id = 0;
  --polls_pending_;
  state.progress = received.event.progress();
  // The worker read its counters about halfway between the poll and its answer.
  state.progress_at_s =
      SecondsFrom(state.poll_sent - start_) + SecondsFrom(received.received_at - state.poll_sent) / 2;
  clock_sync_.Note(member, state.poll_sent, state.progress.pong(), received.received_at);
  if (show_is_due_ && polls_pending_ == 0) Show();
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
  // Checked after every event: the search goes on at the worker that it met last, because nobody begins again.
  for (; first_busy_ < states_.size(); ++first_busy_) {
    const WorkerState& state = states_[first_busy_];
    const bool counts = state.takes_part && !cluster_.members()[first_busy_].lost;
    if (counts && !state.done_at && !state.at_deadline) return;
  }
  uint64_t goal = 0;
  bool any_waits = false;
  for (const Member& member : cluster_.members()) {
    const WorkerState& state = states_[member.number];
    if (!state.takes_part || member.lost) continue;
    // A worker that finished before the deadline counts with its ops; there is nothing to wait for.
    goal = std::max(goal, state.max_ops);
    any_waits |= !state.done_at;
  }
  if (!any_waits) return;
  goal_sent_ = true;
  cluster_.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!states_[member.number].at_deadline) return std::nullopt;
    if (!states_[member.number].done_at) cluster_.BeginLanes(member.number);
    v1::WorkerRequest request;
    request.mutable_adjust()->set_ops_goal(goal);
    return request;
  });
}

void RunningLanes::Poll(const Member& member) {
  WorkerState& state = states_[member.number];
  // One poll at a time: a worker that has not answered is not polled again.
  if (!state.takes_part || member.lost || state.poll_call_id != 0) return;
  v1::WorkerRequest request = cluster_.PollFor(member.number);
  request.mutable_poll()->set_latency(observer_.shows_latency());
  state.poll_sent = cluster_.Now();
  state.poll_call_id = cluster_.Ask(member, std::move(request));
  ++polls_pending_;
}

void RunningLanes::PollForDisplay() {
  if (show_is_due_) Show();  // a worker has not answered the last poll
  PollAll();
  show_is_due_ = true;
}

void RunningLanes::PollAll() {
  for (const Member& member : cluster_.members()) Poll(member);
  // It polled every clock too.
  if (next_clock_poll_.ns != INT64_MAX) next_clock_poll_ = cluster_.Now() + clock_sync_.poll_interval_ns();
}

void RunningLanes::DropLate() {
  for (const Member& member : cluster_.members()) {
    if (!TakesPart(member.number) || states_[member.number].done_at) continue;
    cluster_.Drop(member.number, "its lanes had not ended at the end of --phase-timeout");
  }
}

void RunningLanes::Show() {
  show_is_due_ = false;
  std::vector<ClientProgress> clients;
  PhaseProgress progress = Progress(clients);
  NameClients(clients);
  progress.elapsed_s = SecondsFrom(cluster_.Now() - start_);
  observer_.PhaseMoves(progress);
}

void RunningLanes::NameClients(std::vector<ClientProgress>& clients) {
  if (client_of_worker_.empty()) client_of_worker_ = ClientNamesOf(cluster_.roster());
  for (const Member& member : cluster_.members()) {
    if (member.client >= clients.size()) continue;
    std::string& name = clients[member.client].name;
    if (name.empty()) name = client_of_worker_[member.number];
  }
}

// Polls whether or not anyone watches, because clock offsets become less certain with time.
void RunningLanes::PollClocks() {
  const auto takes_part = [this](const Member& member) { return TakesPart(member.number); };
  for (const uint32_t worker : clock_sync_.OneOfEachClock(takes_part)) Poll(cluster_.members()[worker]);
  next_clock_poll_ = cluster_.Now() + clock_sync_.poll_interval_ns();
}

// The first lane has ended: the windows end here, perhaps long before the phase.
void RunningLanes::RecordStonewall(CoordTime at) {
  if (std::exchange(stonewall_noted_, true)) return;
  clock_sync_.KeepAround(at);
  const int64_t clocks_ns = clock_sync_.poll_interval_ns();
  if (clocks_ns > 0 && at - start_ >= clocks_ns) PollClocks();
}

void RunningLanes::ShowPreparing() {
  PhaseProgress progress = WholeProgress();
  progress.lane_count = static_cast<uint32_t>(states_.size()) * lanes_per_worker_;
  observer_.PhasePrepares(progress);
}

PhaseProgress RunningLanes::WholeProgress() const {
  PhaseProgress progress = shown_;
  progress.time_limit_s = std::max(phase_.stop().time_s(), phase_.stop().deadline_s());
  progress.workers_lost = static_cast<uint32_t>(cluster_.members().size()) - cluster_.live_count();
  return progress;
}

PhaseProgress RunningLanes::Progress(std::vector<ClientProgress>& clients) const {
  PhaseProgress progress = WholeProgress();
  clients.assign(phase_.has_on_servers() ? cluster_.host_count() : cluster_.client_count(), {});
  std::vector<uint32_t> answers(clients.size());
  for (const Member& member : cluster_.members()) {
    const WorkerState& state = states_[member.number];
    if (!state.takes_part || member.client >= clients.size()) continue;
    ClientProgress& client = clients[member.client];
    client.bytes += state.progress.bytes();
    client.ops += state.progress.ops();
    client.lanes_running += state.done_at || member.lost ? 0 : state.progress.lanes_running();
    client.lane_count += lanes_per_worker_;
    client.workers_lost += member.lost ? 1 : 0;
    client.latency.AddProto(state.progress.latency()).IgnoreError();  // best effort: a damaged one is missing
    progress.total_bytes += state.progress.total_bytes();
    progress.total_ops += state.progress.total_ops();
    if (state.progress_at_s == 0) continue;
    client.at_s += state.progress_at_s;
    ++answers[member.client];
  }
  for (size_t i = 0; i < clients.size(); ++i) {
    if (answers[i] > 0) clients[i].at_s /= answers[i];
    progress.bytes += clients[i].bytes;
    progress.ops += clients[i].ops;
    progress.lanes_running += clients[i].lanes_running;
    progress.lane_count += clients[i].lane_count;
  }
  progress.clients = clients;
  return progress;
}

std::optional<v1::ResultChunk> RunningLanes::PopResults(uint32_t worker) {
  WorkerState& state = states_[worker];
  if (!state.takes_part || !state.ends.has_results()) return std::nullopt;
  v1::ResultChunk results = std::move(*state.ends.mutable_results());
  state.ends.clear_results();
  return results;
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
  CoordTime last_begin{INT64_MIN}, first_deadline{INT64_MAX}, first_pass_end{INT64_MAX};
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
      if (ends.first_pass_end_worker_ns() != 0) {
        first_pass_end = std::min(first_pass_end, map.ToCoordinator({ends.first_pass_end_worker_ns()}));
      }
    }
  }
  if (!stonewall) return {};
  std::vector<CoordTime> instants = {last_begin, stonewall->ops_end};
  if (phase_.stop().warmup_s() > 0) instants.push_back(start_ + NanosFrom(phase_.stop().warmup_s()));
  if (first_deadline.ns != INT64_MAX) instants.push_back(first_deadline);
  if (first_pass_end.ns != INT64_MAX) instants.push_back(first_pass_end);
  return instants;
}

}  // namespace iobench
