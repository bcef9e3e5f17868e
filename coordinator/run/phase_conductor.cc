#include "coordinator/run/phase_conductor.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"
#include "common/status_util.h"
#include "coordinator/analysis/phase/stonewall.h"
#include "coordinator/cluster/crowding.h"
#include "coordinator/plan/metadata_plan.h"

namespace iobench {
namespace {

constexpr int kMaxAttempts = 6;
// After an interrupt, the lanes end their op in flight and their results are collected. mpirun kills one second after
// its Ctrl-C, so both together must take less; nor may a hung mount delay the end.
constexpr int64_t kGraceNs = 350'000'000;
// A worker whose lanes are stuck in the kernel does not answer; the others need not wait for it.
constexpr int64_t kDisarmPatienceNs = 2'000'000'000;

v1::WorkerRequest AdjustRequest(void (v1::Adjust::*set)(bool)) {
  v1::WorkerRequest request;
  (request.mutable_adjust()->*set)(true);
  return request;
}

}  // namespace

PhaseConductor::PhaseConductor(const Context& context, const v1::Phase& phase, uint32_t index,
                               uint32_t repetition)
    : context_(context), phase_(phase), states_(context.cluster.members().size()) {
  record_.set_index(index);
  record_.set_repetition(repetition);
  *record_.mutable_phase() = phase;
  for (const Member& member : context_.cluster.members()) {
    v1::WorkerPhaseResult& worker = *record_.add_workers();
    worker.set_worker(member.number);
  }
}

absl::Status PhaseConductor::Run() {
  const CoordTime begin = context_.cluster.Now();
  context_.clock_sync.StartPhase();
  context_.cluster.set_on_event(
      [this](const Member& member, const ReceivedEvent& received) { OnEvent(member, received); });
  ShowProgress();

  absl::Status status = PrepareAndArm();
  bool ran = false;
  if (status.ok()) {
    context_.cluster.transport().SetLanesRunning(true);
    status = RunLanes();
    ran = true;
    if (absl::IsCancelled(status)) {
      record_.set_interrupted(true);
      EndEarly().IgnoreError();  // workers that do not answer in time are missing in the record
    }
    context_.cluster.transport().SetLanesRunning(false);
  } else {
    // In any case, workers return to a state in which they can perform the run's last steps.
    record_.set_interrupted(absl::IsCancelled(status));
    Disarm({.deadline = context_.cluster.Now() + kDisarmPatienceNs, .interruptible = false}).IgnoreError();
  }
  if (ran && (status.ok() || absl::IsCancelled(status))) {
    if (status.ok()) status = context_.clock_sync.Burst();
    const absl::Status collected = Collect(/*interruptible=*/status.ok());
    if (status.ok()) status = collected;
    if (absl::IsCancelled(collected)) {  // while lanes complete their files: does not wait for that
      record_.set_interrupted(true);
      EndEarly().IgnoreError();
      Collect(/*interruptible=*/false).IgnoreError();
    }
  }
  context_.cluster.set_on_event(nullptr);

  for (const Member& member : context_.cluster.members()) {
    v1::WorkerPhaseResult& worker = *record_.mutable_workers(static_cast<int>(member.number));
    if (member.lost) {
      worker.set_lost(true);
      worker.set_lost_reason(member.lost_reason);
      worker.set_last_known_bytes(states_[member.number].progress.bytes());
    } else if (ran && record_.interrupted() && states_[member.number].takes_part &&
               !states_[member.number].collected) {
      // Its lanes are stuck, perhaps in a call that a server does not answer, so its results may be incomplete.
      worker.clear_lanes();
      worker.set_lost(true);
      worker.set_lost_reason("its lanes had not ended when the run was interrupted");
      worker.set_last_known_bytes(states_[member.number].progress.bytes());
    }
    for (const v1::PingBurst& burst : context_.clock_sync.BurstsOf(member.number))
      *worker.add_bursts() = burst;
  }
  const double wall_s = SecondsFrom(context_.cluster.Now() - begin);
  double timed_s = 0;
  for (const WorkerState& state : states_) {
    for (const v1::LaneEnds& ends : state.ends.ends()) {
      if (ends.took_part()) {
        timed_s = std::max(timed_s, SecondsFrom(ends.region_end_worker_ns() - ends.first_op_worker_ns()));
      }
    }
  }
  record_.set_fixed_cost_s(wall_s - timed_s);
  return status;
}

absl::Status PhaseConductor::PrepareAndArm() {
  for (int attempt = 1;; ++attempt) {
    record_.set_start_attempts(static_cast<uint32_t>(attempt));
    const CoordTime begin = context_.cluster.Now();
    IOBENCH_RETURN_IF_ERROR(PrepareByOwners());
    IOBENCH_RETURN_IF_ERROR(PrepareAroundClientSteps());
    record_.set_prepare_s(record_.prepare_s() + SecondsFrom(context_.cluster.Now() - begin));
    IOBENCH_RETURN_IF_ERROR(context_.clock_sync.Burst());
    bool late = false;
    IOBENCH_RETURN_IF_ERROR(Arm(attempt == kMaxAttempts, late));
    if (!late) context_.start_lead.NotePunctual();
    if (late && attempt == kMaxAttempts) record_.set_start_late(true);
    if (!late || attempt == kMaxAttempts) {
      context_.clock_sync.KeepAround(start_);
      return absl::OkStatus();
    }
    context_.start_lead.NoteLate();
    IOBENCH_RETURN_IF_ERROR(Disarm({}));
    if (context_.cluster.Now() >= start_) record_.set_begun_before(true);
  }
}

v1::Prepare PhaseConductor::PrepareFor(const Member& member, const v1::Assignment& assignment) const {
  v1::Operation operation = assignment.operation();
  if (by_owners_) operation.set_rotate_clients(false);
  v1::Prepare prepare;
  prepare.set_phase_index(record_.index());
  *prepare.mutable_operation() = operation;
  for (const v1::Step& step : phase_.before()) {
    // A repeated start does not rest again.
    if (step.has_rest() && record_.start_attempts() > 1) continue;
    if (!IsClientStep(step) && !before_client_steps_ && !by_owners_) *prepare.add_steps() = step;
  }
  *prepare.mutable_region() = phase_.region();
  *prepare.mutable_stop() = phase_.stop();
  prepare.set_crowded(crowded_[member.number]);
  const PhaseShape shape = ShapeOf(context_.plan, phase_);
  *prepare.mutable_files() = shape.files;
  *prepare.mutable_targets() = context_.plan.targets();
  prepare.set_seed(context_.plan.seed());
  *prepare.mutable_binding() = context_.plan.binding();
  prepare.set_data_must_exist(context_.data_must_exist);
  for (v1::DataClaim& claim : context_.keeper.ClaimsFor(member)) *prepare.add_claims() = std::move(claim);
  const bool creates = CreatesFiles(operation);
  const bool on_tree = IsMetadata(operation) && UsesFiles(operation);
  // Lanes of an attempt that was cancelled after its start may have changed some items.
  const bool begun_before =
      on_tree && record_.begun_before() && EffectOf(*SpecOf(operation)).changes_names();
  for (v1::LanePlan& lane : context_.layout.LanesOf(member.number, operation, shape)) {
    // A lane sits out a phase that needs a file which an earlier phase left broken.
    if (on_tree) {
      *lane.mutable_tree() = context_.trees.StateFor(lane.file_owner(), operation);
      if (begun_before) lane.mutable_tree()->set_unknown(true);
      if (context_.trees.IsBroken(lane.file_owner(), operation)) lane.set_sits_out(true);
    } else if (!creates && context_.broken_files.contains(lane.file_owner())) {
      lane.set_sits_out(true);
    }
    *prepare.add_lanes() = std::move(lane);
  }
  context_.data.Fill(prepare);
  if (const auto wrote = earlier_steps_.find(member.number); wrote != earlier_steps_.end()) {
    // What a cancelled attempt has prepared still exists, but the worker does not know that.
    for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
      v1::DataState& data = *lane.mutable_data();
      data.set_high(std::max(data.high(), prepare.stamp().prefill_generation()));
    }
  }
  return prepare;
}

// Rotated clients read what others have written. If the phase's data is missing, its owners write it too, because the
// writers have it in memory afterwards and the readers must not.
absl::Status PhaseConductor::PrepareByOwners() {
  const bool rotates =
      std::any_of(phase_.assignments().begin(), phase_.assignments().end(),
                  [](const v1::Assignment& each) { return each.operation().rotate_clients(); });
  if (!rotates || owners_prepared_ || context_.data_must_exist || !context_.data.prepares_data()) {
    return absl::OkStatus();
  }
  by_owners_ = true;
  const absl::Status prepared = Prepare();
  by_owners_ = false;
  IOBENCH_RETURN_IF_ERROR(prepared);
  owners_prepared_ = true;
  return Disarm({});
}

// A client's steps are performed when its files are in the state that the phase needs and no worker has them open:
// after a prepare that is cancelled again. The next prepare then finds everything in place and leaves only names in the
// caches.
absl::Status PhaseConductor::PrepareAroundClientSteps() {
  if (!HasClientSteps(phase_) || client_steps_done_) return Prepare();
  before_client_steps_ = true;
  IOBENCH_RETURN_IF_ERROR(Prepare());
  before_client_steps_ = false;
  IOBENCH_RETURN_IF_ERROR(Disarm({}));
  IOBENCH_RETURN_IF_ERROR(RunClientSteps(
      context_.cluster, phase_, [this](uint32_t worker) { return states_[worker].takes_part; },
      client_steps_));
  client_steps_done_ = true;
  return Prepare();
}

// Adds the steps of a worker to the record. Data written in an earlier attempt already existed in the last one.
void PhaseConductor::NoteSteps(uint32_t worker,
                               const google::protobuf::RepeatedPtrField<v1::StepResult>& steps) {
  auto& noted = *record_.mutable_workers(static_cast<int>(worker))->mutable_steps();
  noted.Clear();
  const auto is_rest = [](const v1::StepResult& step) { return step.name() == "rest"; };
  if (std::none_of(steps.begin(), steps.end(), is_rest)) {
    for (const v1::StepResult& step : earlier_steps_[worker]) {
      if (is_rest(step)) *noted.Add() = step;
    }
  }
  for (const v1::StepResult& step : client_steps_[worker]) *noted.Add() = step;
  for (const v1::StepResult& step : steps) {
    const std::vector<v1::StepResult>& earlier = earlier_steps_[worker];
    const auto wrote = std::find_if(earlier.begin(), earlier.end(), [&](const v1::StepResult& candidate) {
      return candidate.name() == step.name() && step.bytes() == 0;
    });
    *noted.Add() = wrote == earlier.end() ? step : *wrote;
  }
}

void PhaseConductor::FindCrowded() {
  std::vector<LanesOnProcessors> workers;
  for (const Member& member : context_.cluster.members()) {
    const bool takes_part = !member.lost && AssignmentOf(phase_, member.number) != nullptr;
    workers.push_back({.client = member.client,
                       .processor_mask = member.facts.processor_mask(),
                       .processors = member.facts.processors(),
                       .lanes = takes_part ? ShapeOf(context_.plan, phase_).lanes_per_worker : 0});
  }
  crowded_ = CrowdedWorkers(workers);
}

absl::Status PhaseConductor::Prepare() {
  for (WorkerState& state : states_) state = {};
  stop_sent_ = goal_sent_ = stonewall_noted_ = false;
  FindCrowded();
  absl::Status first_problem;
  IOBENCH_RETURN_IF_ERROR(context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        const v1::Assignment* assignment = AssignmentOf(phase_, member.number);
        if (assignment == nullptr) return std::nullopt;
        states_[member.number].takes_part = true;
        v1::WorkerRequest request;
        *request.mutable_prepare() = PrepareFor(member, *assignment);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        const absl::Status answer = ToStatus(received.event.problem());
        if (!answer.ok() && first_problem.ok()) first_problem = Annotate(answer, member.Name());
        for (const v1::StepResult& step : received.event.prepared().steps()) {
          if (step.bytes() > 0 || step.name() == "rest") earlier_steps_[member.number].push_back(step);
        }
      },
      {}));
  return first_problem;
}

absl::Status PhaseConductor::Arm(bool last_attempt, bool& late) {
  const ClockSync& clocks = context_.clock_sync;
  record_.set_started_at(WallClockIso8601());
  const CoordTime now = context_.cluster.Now();
  start_ = now + context_.start_lead.Ns(clocks.longest_round_trip_ns());
  const int64_t margin_needed_ns = context_.start_lead.MarginNeededNs();
  record_.set_start_coord_ns(start_.ns);
  late = false;
  absl::Status first_problem;
  IOBENCH_RETURN_IF_ERROR(context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!states_[member.number].takes_part) return std::nullopt;
        v1::WorkerRequest request;
        v1::Arm& arm = *request.mutable_arm();
        arm.set_start_worker_ns(clocks.MapOf(member.number).ToWorker(start_).ns);
        arm.set_margin_needed_ns(margin_needed_ns);
        arm.set_start_anyway(last_attempt);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        const absl::Status answer = ToStatus(received.event.problem());
        if (!answer.ok() && first_problem.ok()) first_problem = Annotate(answer, member.Name());
        if (received.event.armed().late() || received.event.armed().margin_ns() < margin_needed_ns)
          late = true;
      },
      {}));
  context_.start_lead.NoteRound(context_.cluster.Now() - now);
  return first_problem;
}

absl::Status PhaseConductor::Disarm(const Cluster::Patience& patience) {
  return context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!states_[member.number].takes_part) return std::nullopt;
        return AdjustRequest(&v1::Adjust::set_disarm);
      },
      [](const Member&, const ReceivedEvent&) {}, patience);
}

absl::Status PhaseConductor::RunLanes() {
  const int64_t display_ns = context_.observer.progress_interval_ns();
  const int64_t clocks_ns = context_.clock_sync.poll_interval_ns();
  CoordTime next_display = display_ns > 0 ? start_ + display_ns : CoordTime{INT64_MAX};
  next_clock_poll_ = clocks_ns > 0 ? start_ + clocks_ns : CoordTime{INT64_MAX};
  while (!AllDone()) {
    absl::Status status = context_.cluster.WaitUntil(
        [this] { return AllDone(); }, {.deadline = std::min(next_display, next_clock_poll_)});
    if (status.ok()) break;
    if (!absl::IsDeadlineExceeded(status)) return status;
    const CoordTime now = context_.cluster.Now();
    if (now >= next_clock_poll_) PollClocks();
    if (now < next_display) continue;
    PollForDisplay();
    next_display = context_.cluster.Now() + display_ns;
  }
  return absl::OkStatus();
}

absl::Status PhaseConductor::EndEarly() {
  context_.cluster.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!states_[member.number].takes_part) return std::nullopt;
    return AdjustRequest(&v1::Adjust::set_quit);
  });
  return context_.cluster.WaitUntil([this] { return AllDone(); },
                                    {.deadline = context_.cluster.Now() + kGraceNs, .interruptible = false});
}

bool PhaseConductor::AllDone() const {
  for (const Member& member : context_.cluster.members()) {
    const WorkerState& state = states_[member.number];
    if (state.takes_part && !state.done && !member.lost) return false;
  }
  return true;
}

void PhaseConductor::OnEvent(const Member& member, const ReceivedEvent& received) {
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
      if (!state.takes_part || state.done) break;
      state.done = true;
      state.ends = event.lanes_done();
      record_.mutable_workers(static_cast<int>(member.number))->set_done_coord_ns(received.received_at.ns);
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kLost:
      SendGoalWhenAllWait();
      break;
    case v1::WorkerEvent::kProgress: {
      if (event.call_id() != state.poll_call_id) break;  // from a poll before this phase
      state.poll_call_id = 0;
      state.progress = event.progress();
      v1::PingSample sample;
      sample.set_sent_coord_ns(state.poll_sent.ns);
      sample.set_received_worker_ns(event.progress().pong().received_worker_ns());
      sample.set_replied_worker_ns(event.progress().pong().replied_worker_ns());
      sample.set_returned_coord_ns(received.received_at.ns);
      context_.clock_sync.Note(member, sample);
      break;
    }
    default:
      break;
  }
}

void PhaseConductor::StopLanes() {
  if (stop_sent_) return;
  stop_sent_ = true;
  context_.cluster.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!states_[member.number].takes_part || states_[member.number].done) return std::nullopt;
    return AdjustRequest(&v1::Adjust::set_stop);
  });
}

void PhaseConductor::SendGoalWhenAllWait() {
  if (!phase_.stop().wear_out() || goal_sent_) return;
  uint64_t goal = 0;
  bool any_waits = false;
  for (const Member& member : context_.cluster.members()) {
    const WorkerState& state = states_[member.number];
    if (!state.takes_part || member.lost) continue;
    // A worker that finished before the deadline counts with its ops; there is nothing to wait for.
    goal = std::max(goal, state.max_ops);
    if (state.done) continue;
    if (!state.at_deadline) return;
    any_waits = true;
  }
  if (!any_waits) return;
  goal_sent_ = true;
  context_.cluster.Tell([&](const Member& member) -> std::optional<v1::WorkerRequest> {
    if (!states_[member.number].at_deadline) return std::nullopt;
    v1::WorkerRequest request;
    request.mutable_adjust()->set_ops_goal(goal);
    return request;
  });
}

void PhaseConductor::Poll(const Member& member) {
  WorkerState& state = states_[member.number];
  // One poll at a time: a worker that has not answered is not polled again.
  if (!state.takes_part || member.lost || state.poll_call_id != 0) return;
  v1::WorkerRequest request;
  request.mutable_poll();
  state.poll_sent = context_.cluster.Now();
  state.poll_call_id = context_.cluster.Ask(member, std::move(request));
}

void PhaseConductor::PollForDisplay() {
  for (const Member& member : context_.cluster.members()) Poll(member);
  ShowProgress();
}

// Polls whether or not anyone watches, because clock offsets become less certain with time.
void PhaseConductor::PollClocks() {
  const auto takes_part = [this](const Member& member) { return states_[member.number].takes_part; };
  for (const uint32_t worker : context_.clock_sync.OneOfEachClock(takes_part)) {
    Poll(context_.cluster.members()[worker]);
  }
  next_clock_poll_ = context_.cluster.Now() + context_.clock_sync.poll_interval_ns();
}

// The first lane has ended: the windows end here, perhaps long before the phase.
void PhaseConductor::NoteStonewall(CoordTime at) {
  if (std::exchange(stonewall_noted_, true)) return;
  context_.clock_sync.KeepAround(at);
  const int64_t clocks_ns = context_.clock_sync.poll_interval_ns();
  if (clocks_ns > 0 && at - start_ >= clocks_ns) PollClocks();
}

void PhaseConductor::ShowProgress() {
  PhaseProgress progress;
  progress.phase = &phase_;
  progress.index = record_.index();
  progress.phase_count = context_.phase_count;
  progress.time_limit_s = std::max(phase_.stop().time_s(), phase_.stop().deadline_s());
  progress.workers_lost =
      static_cast<uint32_t>(context_.cluster.members().size()) - context_.cluster.live_count();
  for (const WorkerState& state : states_) {
    if (!state.takes_part) continue;
    progress.bytes += state.progress.bytes();
    progress.ops += state.progress.ops();
    progress.total_bytes += state.progress.total_bytes();
    progress.total_ops += state.progress.total_ops();
    progress.lanes_running += state.done ? 0 : state.progress.lanes_running();
    progress.lane_count += ShapeOf(context_.plan, phase_).lanes_per_worker;
  }
  if (start_.ns == 0) {
    progress.lane_count = context_.layout.worker_count() * ShapeOf(context_.plan, phase_).lanes_per_worker;
    context_.observer.PhasePrepares(progress);
  } else {
    progress.elapsed_s = SecondsFrom(context_.cluster.Now() - start_);
    context_.observer.PhaseMoves(progress);
  }
}

// Returns the instants at which analysis needs to know the lanes' progress: possible starts and ends of its windows.
// They are derived only from the lanes' ends, so that lanes can send a thinned timeline that is exact there.
std::vector<CoordTime> PhaseConductor::Instants() const {
  CoordTime last_begin{INT64_MIN}, first_deadline{INT64_MAX};
  std::optional<LaneEnd> stonewall;
  for (const Member& member : context_.cluster.members()) {
    const ClockMap map = context_.clock_sync.MapOf(member.number);
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

absl::Status PhaseConductor::Collect(bool interruptible) {
  const std::vector<CoordTime> instants = Instants();
  absl::Status first_problem;
  Cluster::Patience patience{.interruptible = interruptible};
  if (!interruptible) patience.deadline = context_.cluster.Now() + kGraceNs;
  const absl::Status status = context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!states_[member.number].takes_part || states_[member.number].collected) return std::nullopt;
        record_.mutable_workers(static_cast<int>(member.number))->clear_lanes();
        v1::WorkerRequest request;
        v1::Collect& collect = *request.mutable_collect();
        const ClockMap map = context_.clock_sync.MapOf(member.number);
        for (const CoordTime instant : instants) {
          // The bounds at a window's end are evaluated at the instant and at both ends of its clock error.
          const int64_t error_ns = map.error_ns(instant);
          for (const int64_t shift : {-error_ns, int64_t{0}, error_ns}) {
            collect.add_instants_worker_ns(map.ToWorker(instant + shift).ns);
            if (error_ns == 0) break;
          }
        }
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        const absl::Status answer = ToStatus(received.event.problem());
        if (!answer.ok() && first_problem.ok()) first_problem = Annotate(answer, member.Name());
        if (!received.event.has_chunk()) return;
        const v1::ResultChunk& chunk = received.event.chunk();
        v1::WorkerPhaseResult& worker = *record_.mutable_workers(static_cast<int>(member.number));
        worker.mutable_lanes()->MergeFrom(chunk.lanes());
        if (!chunk.last()) return;
        states_[member.number].collected = true;
        NoteSteps(member.number, chunk.steps());
        *worker.mutable_host() = chunk.host();
        worker.set_process_cpu_user_s(chunk.process_cpu_user_s());
        worker.set_process_cpu_system_s(chunk.process_cpu_system_s());
      },
      patience);
  IOBENCH_RETURN_IF_ERROR(status);
  return first_problem;
}

}  // namespace iobench
