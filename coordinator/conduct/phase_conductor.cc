#include "coordinator/conduct/phase_conductor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "common/text/phase_name.h"
#include "coordinator/cluster/crowding.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/plan/check/metadata_plan.h"

namespace iobench {
namespace {

constexpr int kMaxAttempts = 6;
// A worker whose lanes are stuck in the kernel does not answer; the others need not wait for it. After an interrupt,
// the wait is no longer than for running lanes.
constexpr int64_t kDisarmPatienceNs = 2'000'000'000;
// A rank that answers a ping this late is not dead. mpirun kills one second after its SIGTERM.
constexpr int64_t kDeadAfterNs = 250'000'000;
// With so many workers that a request to each of them counts, those whose lanes ran no longer than this report at once,
// without being asked. That saves the ping after the phase, too: while they ran, a clock drifted by 0.5 ms at most.
constexpr int64_t kReportUpToNs = kNanosPerSecond;

// The run ends here: the user interrupted it, or a worker was lost with --on-lost abort.
bool EndsEarly(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsAborted(status);
}

}  // namespace

PhaseConductor::PhaseConductor(const Context& context, const v1::Phase& phase, uint32_t index,
                               uint32_t repetition)
    : context_(context),
      phase_(phase),
      assignments_(phase_, context.cluster.members().size()),
      shape_(ShapeOf(context.plan, phase)),
      lanes_(
          context.cluster, context.clock_sync, context.observer, phase_,
          {.phase = &phase_,
           .name = NameInRun(phase.name(), repetition, context.plan.repetitions(), RunsInRounds(context.plan)),
           .index = index,
           .phase_count = context.phase_count},
          shape_.lanes_per_worker),
      notes_(context.cluster.members().size()) {
  record_.set_index(index);
  record_.set_repetition(repetition);
  *record_.mutable_phase() = phase;
  for (const Member& member : context_.cluster.members()) {
    record_.add_workers()->set_worker(member.number);
    notes_[member.number].reconnects_before = member.reconnects;
  }
}

Cluster::Patience PhaseConductor::PatienceFor(const char* work) const {
  return {.deadline = deadline_,
          .stall_after_ns = 0,
          .work = work,
          .drop_late = deadline_.ns == INT64_MAX
                           ? std::string()
                           : absl::StrCat("it still had to ", work, " at the end of --phase-timeout")};
}

Cluster::Patience PhaseConductor::PatienceToStart(const char* work) {
  RenewDeadline();
  return PatienceFor(work);
}

void PhaseConductor::RenewDeadline() {
  const CoordTime now = context_.cluster.Now();
  if (now >= deadline_) deadline_ = now + context_.timeout_ns;
}

absl::Status PhaseConductor::Run() {
  const CoordTime begin = context_.cluster.Now();
  if (context_.timeout_ns > 0) deadline_ = begin + context_.timeout_ns;
  context_.clock_sync.StartPhase();
  // Those between phases change no figure.
  context_.cluster.TakeStills();
  context_.cluster.TakeStandstills();
  context_.cluster.set_on_event(
      [this](const Member& member, const ReceivedEvent& received) { lanes_.OnEvent(member, received); });
  lanes_.ShowPreparing();

  absl::Status status = PrepareAndArm();
  const bool lanes_run = status.ok();
  if (lanes_run) {
    status = RunAndCollect();
  } else {
    // In any case, workers return to a state in which they can perform the run's last steps.
    record_.set_interrupted(EndsEarly(status));
    DropDeadRanks(status);
    const int64_t patience_ns = EndsEarly(status) ? kInterruptGraceNs : kDisarmPatienceNs;
    lanes_
        .Disarm({.deadline = context_.cluster.Now() + patience_ns,
                 .interruptible = false,
                 .drop_late = "its preparation did not end when the phase was given up"})
        .IgnoreError();
  }
  context_.cluster.set_on_event(nullptr);

  const CoordTime check_begin = context_.cluster.Now();
  RecordHowWorkersEnded(lanes_run);
  RecordStandstills(lanes_run);
  RefuseImpossibleResults();
  cost_.check_s = SecondsFrom(context_.cluster.Now() - check_begin);
  record_.set_fixed_cost_s(SecondsFrom(context_.cluster.Now() - begin) - lanes_.LongestTimedSeconds());
  return status;
}

absl::Status PhaseConductor::RunAndCollect() {
  context_.cluster.transport().SetLanesRunning(true);
  RenewDeadline();
  absl::Status status = Timed(&PhaseCost::wait_s, [this] { return lanes_.WaitForEnds(deadline_); });
  cost_.wait_s -= lanes_.LongestTimedSeconds();
  if (EndsEarly(status)) {
    record_.set_interrupted(true);
    EndLanesEarly(status);
  }
  RecordReported();
  context_.cluster.transport().SetLanesRunning(false);
  for (v1::ServerRecord& server : context_.samplers.End()) *record_.add_servers() = std::move(server);
  if (!status.ok() && !EndsEarly(status)) return status;

  if (status.ok() && context_.clock_sync.pings_ride()) {
    status = Timed(&PhaseCost::collect_s, [this] { return CollectWithPings(); });
  } else if (status.ok()) {
    status = Timed(&PhaseCost::clocks_s, [this] { return context_.clock_sync.Burst(); });
  }
  if (EndsEarly(status) && !record_.interrupted()) EndLanesEarly(status);  // while clocks were pinged
  const Answers answers = status.ok() ? Answers::kAwaited : Answers::kBrieflyAwaited;
  const absl::Status collected = Timed(&PhaseCost::collect_s, [&] { return Collect(answers); });
  status.Update(collected);
  if (EndsEarly(collected)) {  // while lanes settle: does not wait for that
    EndLanesEarly(collected);
    Collect(Answers::kBrieflyAwaited).IgnoreError();
  }
  return status;
}

// Workers that do not answer in time are missing in the record.
void PhaseConductor::EndLanesEarly(const absl::Status& why) {
  ended_early_ = true;
  DropDeadRanks(why);
  lanes_.EndEarly().IgnoreError();
}

// If one of its ranks dies, mpirun ends all others with SIGTERM. A rank that was told to end by the user still answers.
void PhaseConductor::DropDeadRanks(const absl::Status& status) {
  if (!absl::IsCancelled(status) || !context_.ended_by_launcher()) return;
  context_.cluster.DropDead(kDeadAfterNs, "it does not answer, and mpirun ended the job");
}

void PhaseConductor::RecordHowWorkersEnded(bool lanes_ran) {
  for (const Member& member : context_.cluster.members()) {
    // Its lanes are stuck, perhaps in a call that a server does not answer.
    if (lanes_ran && ended_early_ && AwaitsResultOf(member.number)) {
      context_.cluster.Drop(member.number, "its lanes had not ended when the run was interrupted");
    }
    v1::WorkerPhaseResult& worker = ResultOf(member.number);
    if (const std::optional<CoordTime> done_at = lanes_.DoneAt(member.number)) {
      worker.set_done_coord_ns(done_at->ns);
    }
    // Nobody takes over the share of a worker that has refused the phase since the rate was divided.
    if (lanes_ran && lanes_.TakesPart(member.number)) {
      worker.set_rate_share_count(notes_[member.number].rate_share_count);
    }
    // If no worker took part, the phase did not happen.
    if (lanes_ran && refused_.contains(member.number)) {
      AddRefusedLanes(member);
    } else if (member.lost) {
      if (!IsMeasured(member.number)) worker.clear_lanes();  // incomplete
      worker.set_lost(true);
      worker.set_lost_reason(member.lost_reason);
      worker.set_lost_in_phase(lanes_.TakesPart(member.number));
      worker.set_last_known_bytes(lanes_.LastKnownBytes(member.number));
    }
    worker.set_reconnects(member.reconnects - notes_[member.number].reconnects_before);
    if (context_.plan.soak_s() > 0) {  // a server may have stood still meanwhile
      v1::StepResult& prepare = *worker.add_steps();
      prepare.set_name(kPrepareStep);
      prepare.set_seconds(notes_[member.number].prepare_s);
    }
    RecordBursts(member.number);
  }
}

void PhaseConductor::RecordStandstills(bool lanes_ran) {
  for (StallWatch::Still& still : context_.cluster.TakeStills()) {
    v1::StillWork& work = *ResultOf(still.worker).add_still_work();
    work.set_begin_coord_ns(still.begin.ns);
    work.set_end_coord_ns(still.end.ns);
    work.set_preparing(!lanes_ran || still.begin < lanes_.start());
    work.set_what(std::move(still.where));
  }
  for (v1::Standstill& standstill : context_.cluster.TakeStandstills())
    *record_.add_standstills() = std::move(standstill);
}

void PhaseConductor::RecordBursts(uint32_t worker) {
  const std::vector<v1::PingBurst>& bursts = context_.clock_sync.BurstsOf(worker);
  ResultOf(worker).mutable_bursts()->Assign(bursts.begin(), bursts.end());
}

absl::Status PhaseConductor::PrepareAndArm() {
  for (int attempt = 1;; ++attempt) {
    const bool is_last = attempt == kMaxAttempts;
    record_.set_start_attempts(static_cast<uint32_t>(attempt));
    const CoordTime begin = context_.cluster.Now();
    IOBENCH_RETURN_IF_ERROR(PrepareByOwners());
    IOBENCH_RETURN_IF_ERROR(PrepareAroundClientSteps());
    if (DropsCaches(phase_)) IOBENCH_RETURN_IF_ERROR(context_.samplers.DropCaches());
    record_.set_prepare_s(record_.prepare_s() + SecondsFrom(context_.cluster.Now() - begin));
    cost_.prepare_s = record_.prepare_s();
    IOBENCH_RETURN_IF_ERROR(context_.samplers.Begin());
    IOBENCH_RETURN_IF_ERROR(Timed(&PhaseCost::clocks_s, [this] { return context_.clock_sync.Burst(); }));
    const IfLate if_late = is_last ? IfLate::kStartAnyway : IfLate::kTryAgain;
    IOBENCH_ASSIGN_OR_RETURN(const Start start, Timed(&PhaseCost::arm_s, [&] { return Arm(if_late); }));
    const bool late = start == Start::kLate;
    if (!late) context_.start_lead.RecordPunctual();
    if (late && is_last) record_.set_start_late(true);
    if (!late || is_last) {
      context_.clock_sync.KeepAround(lanes_.start());
      return absl::OkStatus();
    }
    context_.start_lead.RecordLate();
    IOBENCH_RETURN_IF_ERROR(lanes_.Disarm(PatienceToStart("end a late start")));
    if (context_.cluster.Now() >= lanes_.start()) record_.set_begun_before(true);
  }
}

v1::Prepare PhaseConductor::PrepareFor(const Member& member, const v1::Assignment& assignment,
                                       Purpose purpose) const {
  v1::Operation operation = assignment.operation();
  if (purpose == Purpose::kOwnersFiles) operation.set_rotate_clients(false);
  v1::Prepare prepare;
  prepare.set_phase_index(record_.index());
  *prepare.mutable_operation() = operation;
  for (const v1::Step& step : phase_.before()) {
    // A repeated start does not rest again.
    if (step.has_rest() && record_.start_attempts() > 1) continue;
    if (step.rest().not_first() && record_.index() == 0) continue;
    if (!IsClientStep(step) && !step.has_fill() && purpose == Purpose::kPhase) *prepare.add_steps() = step;
  }
  *prepare.mutable_region() = phase_.region();
  *prepare.mutable_stop() = phase_.stop();
  prepare.set_crowded(crowded_[member.number]);
  prepare.set_only_lane(IsOnlyLane(context_.plan, context_.cluster.members().size()));
  *prepare.mutable_files() = shape_.files;
  prepare.set_seed(context_.plan.seed());
  *prepare.mutable_binding() = context_.plan.binding();
  prepare.set_data_must_exist(context_.data_must_exist);
  prepare.set_leaves_unflushed(context_.later.nothing);
  if (operation.has_arrivals()) {
    prepare.set_arrival_share(notes_[member.number].arrival_share);
    prepare.set_first_arrival_gap(notes_[member.number].first_arrival_gap);
  }
  AddLanes(member, operation, prepare);
  context_.keeper.AddTargets(member, prepare);
  return prepare;
}

void PhaseConductor::AddLanes(const Member& member, const v1::Operation& operation,
                              v1::Prepare& prepare) const {
  const LaterNeeds& later = context_.later;
  const bool creates = CreatesFiles(operation);
  const bool on_tree = IsMetadata(operation) && UsesFiles(operation);
  // Lanes of an attempt that was cancelled after its start may have changed some items.
  const bool begun_before = on_tree && record_.begun_before() && EffectOf(*SpecOf(operation)).changes_names();
  for (v1::LanePlan& lane : context_.layout.LanesOf(member.number, operation, shape_)) {
    // A lane sits out a phase that needs a file which an earlier phase left broken.
    if (on_tree) {
      *lane.mutable_tree() = context_.trees.StateFor(phase_.only_target(), lane.file_owner(), operation);
      if (begun_before) lane.mutable_tree()->set_unknown(true);
      if (context_.trees.IsBroken(phase_.only_target(), lane.file_owner(), operation))
        lane.set_sits_out(true);
    } else if (!creates && context_.broken_files.Contains(FilesOf(lane, shape_))) {
      lane.set_sits_out(true);
    }
    lane.set_finish_bytes(on_tree ? (later.trees ? 1 : 0) : later.BytesOf(FilesOf(lane, shape_)));
    *prepare.add_lanes() = std::move(lane);
  }
  context_.data.Fill(prepare);
  if (!earlier_steps_.contains(member.number)) return;
  // What a cancelled attempt has prepared still exists, but the worker does not know that.
  for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
    v1::DataState& data = *lane.mutable_data();
    data.set_high(std::max(data.high(), prepare.stamp().prefill_generation()));
  }
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
  IOBENCH_RETURN_IF_ERROR(Prepare(Purpose::kOwnersFiles));
  owners_prepared_ = true;
  return lanes_.Disarm(PatienceToStart("close its files"));
}

// A client's steps are performed when its files are in the state that the phase needs and no worker has them open:
// after a prepare that is cancelled again. The next prepare then finds everything in place and leaves only names in the
// caches.
absl::Status PhaseConductor::PrepareAroundClientSteps() {
  if (HasClientSteps(phase_) && !client_steps_done_) {
    IOBENCH_RETURN_IF_ERROR(Prepare(Purpose::kBeforeClientSteps));
    IOBENCH_RETURN_IF_ERROR(lanes_.Disarm(PatienceToStart("close its files")));
    IOBENCH_RETURN_IF_ERROR(RunClientSteps(
        context_.cluster, phase_, [this](uint32_t worker) { return lanes_.TakesPart(worker); }, client_steps_,
        PatienceToStart("remount")));
    client_steps_done_ = true;
  }
  IOBENCH_RETURN_IF_ERROR(Prepare(Purpose::kPhase));
  if (remounted_for_cold_ || !AnyToRemount(context_.cluster, coldness_)) return absl::OkStatus();
  remounted_for_cold_ = true;
  IOBENCH_RETURN_IF_ERROR(lanes_.Disarm(PatienceToStart("close its files")));
  IOBENCH_RETURN_IF_ERROR(
      RemountForCold(context_.cluster, coldness_, client_steps_, PatienceToStart("remount")));
  return Prepare(Purpose::kPhase);
}

void PhaseConductor::FindCrowded() {
  std::vector<LanesOnProcessors> workers;
  for (const Member& member : context_.cluster.members()) {
    const bool takes_part = !member.lost && assignments_.Of(member.number) != nullptr;
    workers.push_back({.client = member.client,
                       .processor_mask = member.facts.processor_mask(),
                       .processors = member.facts.processors(),
                       .lanes = takes_part ? shape_.lanes_per_worker : 0});
  }
  crowded_ = CrowdedWorkers(workers);
}

// Divides the rate of all lanes among the workers that are there; if ops are evenly spaced, the workers take turns.
void PhaseConductor::ShareArrivals() {
  std::map<const v1::Assignment*, std::vector<uint32_t>> workers;
  for (const Member& member : context_.cluster.members()) {
    const v1::Assignment* const assignment = assignments_.Of(member.number);
    const bool takes_part = !member.lost && !refused_.contains(member.number);
    if (takes_part && assignment != nullptr) workers[assignment].push_back(member.number);
  }
  for (const auto& [assignment, numbers] : workers) {
    const auto count = static_cast<double>(numbers.size());
    const bool per_lane = assignment->operation().arrivals().per_lane();
    const bool divides = assignment->operation().has_arrivals() && !per_lane;
    for (size_t i = 0; i < numbers.size(); ++i) {
      WorkerNotes& notes = notes_[numbers[i]];
      notes.arrival_share = per_lane ? shape_.lanes_per_worker : 1 / count;
      notes.first_arrival_gap = static_cast<double>(i) / count;
      notes.rate_share_count = divides ? static_cast<uint32_t>(numbers.size()) : 0;
    }
  }
}

absl::Status PhaseConductor::Prepare(Purpose purpose) {
  lanes_.Reset();
  FindCrowded();
  ShareArrivals();
  const CoordTime begin = context_.cluster.Now();
  IOBENCH_RETURN_IF_ERROR(context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        const v1::Assignment* assignment = assignments_.Of(member.number);
        if (assignment == nullptr || refused_.contains(member.number)) return std::nullopt;
        lanes_.Expect(member.number);
        v1::WorkerRequest request;
        *request.mutable_prepare() = PrepareFor(member, *assignment, purpose);
        const auto& lanes = request.prepare().lanes();
        notes_[member.number].lanes.assign(lanes.begin(), lanes.end());
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        notes_[member.number].prepare_s += SecondsFrom(context_.cluster.Now() - begin);
        for (const v1::StepResult& step : received.event.prepared().steps()) {
          if (step.bytes() > 0 || step.name() == "rest") earlier_steps_[member.number].push_back(step);
        }
        if (received.event.prepared().has_cold()) coldness_[member.number] = received.event.prepared().cold();
        RecordRefusal(member, received);
      },
      PatienceToStart("prepare the phase")));
  return GoOnWithoutRefused();
}

void PhaseConductor::RecordRefusal(const Member& member, const ReceivedEvent& received) {
  if (received.event.problem().code() == 0) return;
  refused_.emplace(member.number, received.event.problem());
  const absl::Status problem = ProblemOf(member, received);
  first_refusal_.Update(problem);
  lanes_.Exclude(member.number);
  unsaid_refusals_.push_back(member.number);
}

// One line for all workers that say the same. If none can take part, the phase ends with the first refusal as its error.
absl::Status PhaseConductor::GoOnWithoutRefused() {
  std::map<std::string, std::vector<uint32_t>> workers_of;  // by message
  for (const uint32_t worker : std::exchange(unsaid_refusals_, {})) workers_of[refused_.at(worker).message()].push_back(worker);
  const bool goes_on = AnyTakesPart();
  if (!goes_on && workers_of.size() == 1) return first_refusal_;
  for (const auto& [message, workers] : workers_of) {
    LogWarning(absl::StrCat(context_.cluster.members()[workers.front()].Name(),
                            workers.size() > 1 ? absl::StrCat(" and ", workers.size() - 1, " more") : "", ": ", message,
                            goes_on ? "; the phase goes on without " : "",
                            !goes_on ? "" : workers.size() > 1 ? "these workers" : "this worker"));
  }
  return goes_on ? absl::OkStatus() : first_refusal_;
}

// OK also if those that could take part were lost.
bool PhaseConductor::AnyTakesPart() const {
  const std::vector<Member>& members = context_.cluster.members();
  return refused_.empty() || std::any_of(members.begin(), members.end(), [this](const Member& member) {
           return !member.lost && lanes_.TakesPart(member.number);
         });
}

// The lanes of a worker that refused the phase have failed with its problem.
void PhaseConductor::AddRefusedLanes(const Member& member) {
  v1::WorkerPhaseResult& worker = ResultOf(member.number);
  worker.clear_lanes();
  const v1::Operation& operation = assignments_.Of(member.number)->operation();
  for (const v1::LanePlan& plan : context_.layout.LanesOf(member.number, operation, shape_)) {
    v1::LaneResult& lane = *worker.add_lanes();
    lane.set_lane(plan.lane());
    lane.set_file_owner(plan.file_owner());
    lane.set_operation(operation.name());
    *lane.mutable_problem() = refused_.at(member.number);
    if (lane.problem().operation().empty()) lane.mutable_problem()->set_operation("prepare");
  }
}

absl::StatusOr<PhaseConductor::Start> PhaseConductor::Arm(IfLate if_late) {
  const ClockSync& clocks = context_.clock_sync;
  record_.set_started_at(WallClockIso8601());
  const CoordTime now = context_.cluster.Now();
  lanes_.StartAt(now + context_.start_lead.Ns(clocks.longest_round_trip_ns()));
  const int64_t margin_needed_ns = context_.start_lead.MarginNeededNs();
  record_.set_start_coord_ns(lanes_.start().ns);
  Start start = Start::kInTime;
  PingRide pings(context_.clock_sync, context_.cluster,
                 [this](const Member& member) { return lanes_.TakesPart(member.number); });
  IOBENCH_RETURN_IF_ERROR(context_.cluster.Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!lanes_.TakesPart(member.number)) return std::nullopt;
        v1::WorkerRequest request;
        v1::Arm& arm = *request.mutable_arm();
        const ClockMap map = clocks.MapOf(member.number);
        arm.set_start_worker_ns(map.ToWorker(lanes_.start()).ns);
        notes_[member.number].start_error_ns = map.error_ns(lanes_.start());
        arm.set_margin_needed_ns(margin_needed_ns);
        arm.set_start_anyway(if_late == IfLate::kStartAnyway);
        arm.set_ping(pings.Takes(member.number));
        if (clocks.pings_ride()) arm.set_report_up_to_ns(kReportUpToNs);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        if (received.event.problem().code() != 0) return RecordRefusal(member, received);
        const v1::Armed& armed = received.event.armed();
        if (armed.has_pong()) pings.Note(member, armed.pong(), received.received_at);
        if (armed.late() || armed.margin_ns() < margin_needed_ns) start = Start::kLate;
      },
      {.at_a_time = pings.at_a_time()}));
  context_.start_lead.AddRound(context_.cluster.Now() - now);
  IOBENCH_RETURN_IF_ERROR(GoOnWithoutRefused());
  return start;
}

}  // namespace iobench
