#include "coordinator/run/phase_conductor.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"
#include "common/status_util.h"
#include "coordinator/cluster/crowding.h"
#include "coordinator/plan/metadata_plan.h"

namespace iobench {
namespace {

constexpr int kMaxAttempts = 6;
// A worker whose lanes are stuck in the kernel does not answer; the others need not wait for it.
constexpr int64_t kDisarmPatienceNs = 2'000'000'000;

}  // namespace

PhaseConductor::PhaseConductor(const Context& context, const v1::Phase& phase, uint32_t index,
                               uint32_t repetition)
    : context_(context),
      phase_(phase),
      shape_(ShapeOf(context.plan, phase)),
      lanes_(context.cluster, context.clock_sync, context.observer, phase_,
             {.phase = &phase_, .index = index, .phase_count = context.phase_count}, shape_.lanes_per_worker),
      collected_(context.cluster.members().size(), false) {
  record_.set_index(index);
  record_.set_repetition(repetition);
  *record_.mutable_phase() = phase;
  for (const Member& member : context_.cluster.members()) record_.add_workers()->set_worker(member.number);
}

absl::Status PhaseConductor::Run() {
  const CoordTime begin = context_.cluster.Now();
  context_.clock_sync.StartPhase();
  context_.cluster.set_on_event(
      [this](const Member& member, const ReceivedEvent& received) { lanes_.OnEvent(member, received); });
  lanes_.ShowPreparing();

  absl::Status status = PrepareAndArm();
  const bool lanes_run = status.ok();
  if (lanes_run) {
    status = RunAndCollect();
  } else {
    // In any case, workers return to a state in which they can perform the run's last steps.
    record_.set_interrupted(absl::IsCancelled(status));
    lanes_.Disarm({.deadline = context_.cluster.Now() + kDisarmPatienceNs, .interruptible = false})
        .IgnoreError();
  }
  context_.cluster.set_on_event(nullptr);

  NoteHowWorkersEnded(lanes_run);
  record_.set_fixed_cost_s(SecondsFrom(context_.cluster.Now() - begin) - lanes_.LongestTimedSeconds());
  return status;
}

absl::Status PhaseConductor::RunAndCollect() {
  context_.cluster.transport().SetLanesRunning(true);
  absl::Status status = lanes_.WaitForEnds();
  if (absl::IsCancelled(status)) {
    record_.set_interrupted(true);
    lanes_.EndEarly().IgnoreError();  // workers that do not answer in time are missing in the record
  }
  context_.cluster.transport().SetLanesRunning(false);
  if (!status.ok() && !absl::IsCancelled(status)) return status;

  if (status.ok()) status = context_.clock_sync.Burst();
  const absl::Status collected = Collect(status.ok() ? Answers::kAwaited : Answers::kBrieflyAwaited);
  status.Update(collected);
  if (absl::IsCancelled(collected)) {  // while lanes complete their files: does not wait for that
    record_.set_interrupted(true);
    lanes_.EndEarly().IgnoreError();
    Collect(Answers::kBrieflyAwaited).IgnoreError();
  }
  return status;
}

void PhaseConductor::NoteHowWorkersEnded(bool lanes_ran) {
  for (const Member& member : context_.cluster.members()) {
    v1::WorkerPhaseResult& worker = ResultOf(member.number);
    if (const std::optional<CoordTime> done_at = lanes_.DoneAt(member.number)) {
      worker.set_done_coord_ns(done_at->ns);
    }
    if (member.lost) {
      worker.set_lost(true);
      worker.set_lost_reason(member.lost_reason);
      worker.set_last_known_bytes(lanes_.LastKnownBytes(member.number));
    } else if (lanes_ran && record_.interrupted() && lanes_.TakesPart(member.number) &&
               !collected_[member.number]) {
      // Its lanes are stuck, perhaps in a call that a server does not answer, so its results may be incomplete.
      worker.clear_lanes();
      worker.set_lost(true);
      worker.set_lost_reason("its lanes had not ended when the run was interrupted");
      worker.set_last_known_bytes(lanes_.LastKnownBytes(member.number));
    }
    for (const v1::PingBurst& burst : context_.clock_sync.BurstsOf(member.number))
      *worker.add_bursts() = burst;
  }
}

absl::Status PhaseConductor::PrepareAndArm() {
  for (int attempt = 1;; ++attempt) {
    const bool is_last = attempt == kMaxAttempts;
    record_.set_start_attempts(static_cast<uint32_t>(attempt));
    const CoordTime begin = context_.cluster.Now();
    IOBENCH_RETURN_IF_ERROR(PrepareByOwners());
    IOBENCH_RETURN_IF_ERROR(PrepareAroundClientSteps());
    record_.set_prepare_s(record_.prepare_s() + SecondsFrom(context_.cluster.Now() - begin));
    IOBENCH_RETURN_IF_ERROR(context_.clock_sync.Burst());
    IOBENCH_ASSIGN_OR_RETURN(const Start start, Arm(is_last ? IfLate::kStartAnyway : IfLate::kTryAgain));
    const bool late = start == Start::kLate;
    if (!late) context_.start_lead.NotePunctual();
    if (late && is_last) record_.set_start_late(true);
    if (!late || is_last) {
      context_.clock_sync.KeepAround(lanes_.start());
      return absl::OkStatus();
    }
    context_.start_lead.NoteLate();
    IOBENCH_RETURN_IF_ERROR(lanes_.Disarm({}));
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
    if (!IsClientStep(step) && purpose == Purpose::kPhase) *prepare.add_steps() = step;
  }
  *prepare.mutable_region() = phase_.region();
  *prepare.mutable_stop() = phase_.stop();
  prepare.set_crowded(crowded_[member.number]);
  *prepare.mutable_files() = shape_.files;
  *prepare.mutable_targets() = context_.plan.targets();
  prepare.set_seed(context_.plan.seed());
  *prepare.mutable_binding() = context_.plan.binding();
  prepare.set_data_must_exist(context_.data_must_exist);
  for (v1::DataClaim& claim : context_.keeper.ClaimsFor(member)) *prepare.add_claims() = std::move(claim);
  AddLanes(member, operation, prepare);
  return prepare;
}

void PhaseConductor::AddLanes(const Member& member, const v1::Operation& operation,
                              v1::Prepare& prepare) const {
  const bool creates = CreatesFiles(operation);
  const bool on_tree = IsMetadata(operation) && UsesFiles(operation);
  // Lanes of an attempt that was cancelled after its start may have changed some items.
  const bool begun_before = on_tree && record_.begun_before() && EffectOf(*SpecOf(operation)).changes_names();
  for (v1::LanePlan& lane : context_.layout.LanesOf(member.number, operation, shape_)) {
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
  return lanes_.Disarm({});
}

// A client's steps are performed when its files are in the state that the phase needs and no worker has them open:
// after a prepare that is cancelled again. The next prepare then finds everything in place and leaves only names in the
// caches.
absl::Status PhaseConductor::PrepareAroundClientSteps() {
  if (HasClientSteps(phase_) && !client_steps_done_) {
    IOBENCH_RETURN_IF_ERROR(Prepare(Purpose::kBeforeClientSteps));
    IOBENCH_RETURN_IF_ERROR(lanes_.Disarm({}));
    IOBENCH_RETURN_IF_ERROR(RunClientSteps(
        context_.cluster, phase_, [this](uint32_t worker) { return lanes_.TakesPart(worker); },
        client_steps_));
    client_steps_done_ = true;
  }
  return Prepare(Purpose::kPhase);
}

// Adds the steps of a worker to the record. Data written in an earlier attempt already existed in the last one.
void PhaseConductor::NoteSteps(uint32_t worker,
                               const google::protobuf::RepeatedPtrField<v1::StepResult>& steps) {
  auto& noted = *ResultOf(worker).mutable_steps();
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
                       .lanes = takes_part ? shape_.lanes_per_worker : 0});
  }
  crowded_ = CrowdedWorkers(workers);
}

absl::Status PhaseConductor::Prepare(Purpose purpose) {
  lanes_.Reset();
  FindCrowded();
  return context_.cluster.CallAndCheck(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        const v1::Assignment* assignment = AssignmentOf(phase_, member.number);
        if (assignment == nullptr) return std::nullopt;
        lanes_.Expect(member.number);
        v1::WorkerRequest request;
        *request.mutable_prepare() = PrepareFor(member, *assignment, purpose);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        for (const v1::StepResult& step : received.event.prepared().steps()) {
          if (step.bytes() > 0 || step.name() == "rest") earlier_steps_[member.number].push_back(step);
        }
      },
      {});
}

absl::StatusOr<PhaseConductor::Start> PhaseConductor::Arm(IfLate if_late) {
  const ClockSync& clocks = context_.clock_sync;
  record_.set_started_at(WallClockIso8601());
  const CoordTime now = context_.cluster.Now();
  lanes_.StartAt(now + context_.start_lead.Ns(clocks.longest_round_trip_ns()));
  const int64_t margin_needed_ns = context_.start_lead.MarginNeededNs();
  record_.set_start_coord_ns(lanes_.start().ns);
  Start start = Start::kInTime;
  IOBENCH_RETURN_IF_ERROR(context_.cluster.CallAndCheck(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!lanes_.TakesPart(member.number)) return std::nullopt;
        v1::WorkerRequest request;
        v1::Arm& arm = *request.mutable_arm();
        arm.set_start_worker_ns(clocks.MapOf(member.number).ToWorker(lanes_.start()).ns);
        arm.set_margin_needed_ns(margin_needed_ns);
        arm.set_start_anyway(if_late == IfLate::kStartAnyway);
        return request;
      },
      [&](const Member&, const ReceivedEvent& received) {
        const v1::Armed& armed = received.event.armed();
        if (armed.late() || armed.margin_ns() < margin_needed_ns) start = Start::kLate;
      },
      {}));
  context_.start_lead.NoteRound(context_.cluster.Now() - now);
  return start;
}

absl::Status PhaseConductor::Collect(Answers answers) {
  const std::vector<CoordTime> instants = lanes_.Instants();
  Cluster::Patience patience;
  if (answers == Answers::kBrieflyAwaited) {
    patience = {.deadline = context_.cluster.Now() + RunningLanes::kGraceNs, .interruptible = false};
  }
  return context_.cluster.CallAndCheck(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        if (!lanes_.TakesPart(member.number) || collected_[member.number]) return std::nullopt;
        ResultOf(member.number).clear_lanes();
        v1::WorkerRequest request;
        *request.mutable_collect() = CollectFrom(member, instants);
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        if (received.event.has_chunk()) NoteChunk(member, received.event.chunk());
      },
      patience);
}

v1::Collect PhaseConductor::CollectFrom(const Member& member, const std::vector<CoordTime>& instants) const {
  v1::Collect collect;
  const ClockMap map = context_.clock_sync.MapOf(member.number);
  for (const CoordTime instant : instants) {
    // The bounds at a window's end are evaluated at the instant and at both ends of its clock error.
    const int64_t error_ns = map.error_ns(instant);
    for (const int64_t shift : {-error_ns, int64_t{0}, error_ns}) {
      collect.add_instants_worker_ns(map.ToWorker(instant + shift).ns);
      if (error_ns == 0) break;
    }
  }
  return collect;
}

void PhaseConductor::NoteChunk(const Member& member, const v1::ResultChunk& chunk) {
  v1::WorkerPhaseResult& worker = ResultOf(member.number);
  worker.mutable_lanes()->MergeFrom(chunk.lanes());
  if (!chunk.last()) return;
  collected_[member.number] = true;
  NoteSteps(member.number, chunk.steps());
  *worker.mutable_host() = chunk.host();
  worker.set_process_cpu_user_s(chunk.process_cpu_user_s());
  worker.set_process_cpu_system_s(chunk.process_cpu_system_s());
}

}  // namespace iobench
