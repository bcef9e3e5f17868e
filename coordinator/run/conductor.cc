#include "coordinator/run/conductor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/start_lead.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/plan/layout.h"
#include "coordinator/plan/metadata_plan.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/run/data_keeper.h"
#include "coordinator/run/data_ledger.h"
#include "coordinator/run/phase_conductor.h"
#include "coordinator/run/tree_ledger.h"
#include "spdlog/spdlog.h"

namespace iobench {

Conductor::Conductor(Transport& transport, RunObserver& observer, const Interrupt& interrupt,
                     const v1::WorkerFacts& coordinator, v1::Plan plan, ConductorOptions options)
    : interrupt_(interrupt),
      observer_(observer),
      plan_(std::move(plan)),
      options_(std::move(options)),
      cluster_(transport, options_.run_id, interrupt, options_.lost_after_ns, options_.clock) {
  record_.set_id(options_.run_name);
  record_.set_run_number(options_.run_id);
  record_.set_command(options_.command);
  record_.set_program_version(options_.version);
  record_.set_transport(transport.name());
  *record_.mutable_plan() = plan_;
  *record_.mutable_coordinator() = coordinator;
}

int Conductor::Run() {
  record_.set_started_at(WallClockIso8601());
  if (absl::Status status = GatherWorkers(); !status.ok()) return Refuse(status);
  ClockSync clocks(
      cluster_, record_.coordinator().boot_id(),
      options_.always_measure_clocks ? ClockSync::Measured::kAllClocks : ClockSync::Measured::kOtherClocks);
  if (absl::Status status = MeetWorkers(clocks); !status.ok()) return Refuse(status);
  const Layout layout(plan_, ClientsOfWorkers());
  DataKeeper data(cluster_, plan_, layout, record_.started_at(), record_.coordinator().host());
  if (absl::Status status = LookAtTargets(data); !status.ok()) return Refuse(status);
  for (const std::string& note : clocks.notes()) record_.mutable_plan()->add_notes(note);
  for (const std::string& note : data.decision().notes) record_.mutable_plan()->add_notes(note);
  report_.Begin(/*newest=*/nullptr);
  if (options_.dry_run) {
    cluster_.Dismiss();
    return kExitOk;
  }
  if (absl::Status status = OpenResults(); !status.ok()) return Refuse(status);
  observer_.RunStarts(report());

  DataLedger ledger(plan_, layout, options_.run_id);
  if (data.decision().uses_kept_data) ledger.TakeOver(data.decision().kept);
  absl::Status status = data.Claim();
  if (status.ok()) status = RunPhases(data, ledger, clocks, layout);
  if (!status.ok() && !absl::IsCancelled(status)) NoteProblem(status);

  // The results are already saved (each phase at its end); the exit code also depends on the removal of the data.
  record_.set_exit_code(Verdict(status));
  if (store_.has_value()) store_->SaveRun(record_).IgnoreError();
  LeaveData(data, ledger);
  cluster_.Dismiss();
  return Finish(Verdict(status));
}

absl::Status Conductor::GatherWorkers() {
  return cluster_.Gather(
      options_.worker_count, options_.join_deadline, options_.version,
      [this](uint32_t joined) { observer_.WorkersJoin(joined, options_.worker_count); }, options_.join_watch);
}

absl::Status Conductor::MeetWorkers(ClockSync& clocks) {
  // First, because it determines which workers share a client.
  IOBENCH_RETURN_IF_ERROR(clocks.Verify());
  for (const Member& member : cluster_.members()) *record_.add_workers() = member.facts;
  UseWorkersPaths();
  return CheckForWorkers(plan_, options_.worker_count);
}

std::vector<uint32_t> Conductor::ClientsOfWorkers() const {
  std::vector<uint32_t> clients;
  for (const Member& member : cluster_.members()) clients.push_back(member.client);
  return clients;
}

absl::Status Conductor::LookAtTargets(DataKeeper& data) {
  const absl::Status inspected = data.Inspect();
  for (const v1::WorkerTargets& facts : data.facts()) *record_.add_targets() = facts;
  IOBENCH_RETURN_IF_ERROR(inspected);
  IOBENCH_RETURN_IF_ERROR(data.Decide(options_.force));
  bytes_needed_ = data.decision().bytes_needed;
  return absl::OkStatus();
}

absl::Status Conductor::OpenResults() {
  if (options_.out_directory.empty()) return absl::OkStatus();
  using EarlierResult = ResultStore::EarlierResult;
  IOBENCH_ASSIGN_OR_RETURN(
      store_, ResultStore::Create(options_.out_directory,
                                  options_.force ? EarlierResult::kReplace : EarlierResult::kRefuse,
                                  [clock = options_.clock] { return clock().ns; }));
  IOBENCH_RETURN_IF_ERROR(store_->SaveRun(record_));
  return SaveReport();  // from now on there is a report in any case
}

void Conductor::LeaveData(DataKeeper& data, const DataLedger& ledger) {
  // The faulty data is evidence.
  const bool keeps_evidence = verification_failed_ && !plan_.keep_data();
  const bool keeps = plan_.keep_data() || keeps_evidence;
  const absl::Status left =
      data.Finish(keeps ? DataKeeper::AtEnd::kKeep : DataKeeper::AtEnd::kRemove, ledger);
  if (!left.ok()) {
    NoteProblem(left);
  } else if (keeps_evidence) {
    NoteProblem(absl::DataLossError(
        absl::StrCat("verification failed, so the data are kept as with -w: ", data.WhereKept())));
  }
}

int Conductor::Finish(int exit_code) {
  record_.set_finished(true);
  record_.set_exit_code(exit_code);
  report_.NoteRun();
  const absl::Status run_saved = store_.has_value() ? store_->SaveRun(record_) : absl::OkStatus();
  for (const absl::Status& saved : {run_saved, SaveReport()}) {
    if (!saved.ok()) spdlog::error("{}", Printable(std::string(saved.message())));
    saved_.Update(saved);
  }
  return exit_code;
}

// Some workers have their path on their own command line, as those of a client list do; the others use the plan's
// paths.
void Conductor::UseWorkersPaths() {
  std::vector<std::string> paths;
  bool any = false;
  for (const Member& member : cluster_.members()) {
    const uint32_t target = TargetOfWorker(plan_, member.number);
    const std::string& own = member.facts.path();
    paths.push_back(own.empty() ? plan_.targets(static_cast<int>(target)).path() : own);
    any |= !own.empty();
  }
  if (!any) return;
  std::vector<v1::Target> targets = TargetsOf(paths);
  plan_.mutable_targets()->Assign(targets.begin(), targets.end());
  *record_.mutable_plan() = plan_;
}

int Conductor::Refuse(absl::Status why) {
  cluster_.Dismiss(absl::StrCat("the coordinator refused the run: ", why.message()));
  refusal_ = std::move(why);
  return interrupt_.raised() ? kExitInterrupted : kExitUsage;
}

absl::Status Conductor::RunPhases(DataKeeper& data, DataLedger& ledger, ClockSync& clocks,
                                  const Layout& layout) {
  StartLead start_lead(options_.in_process ? StartLead::Way::kNone : StartLead::Way::kNetwork,
                       plan_.lanes_per_worker());
  start_lead.NoteRound(clocks.round_ns());
  TreeLedger trees(plan_);
  const uint32_t phase_count = static_cast<uint32_t>(plan_.phases_size()) * plan_.repetitions();
  uint32_t index = 0;
  for (uint32_t repetition = 0; repetition < plan_.repetitions(); ++repetition) {
    for (const v1::Phase& phase : plan_.phases()) {
      if (interrupt_.raised()) return absl::CancelledError("interrupted");
      if (ShapeOf(plan_, phase).files.shared_file() && CreatesFiles(phase.assignments(0).operation())) {
        IOBENCH_RETURN_IF_ERROR(data.RemoveSharedFiles());
      }
      ledger.Begin(phase);
      PhaseConductor conductor({.cluster = cluster_,
                                .clock_sync = clocks,
                                .plan = plan_,
                                .layout = layout,
                                .observer = observer_,
                                .data_must_exist = data.decision().uses_kept_data,
                                .broken_files = broken_files_,
                                .trees = trees,
                                .data = ledger,
                                .keeper = data,
                                .phase_count = phase_count,
                                .start_lead = start_lead},
                               phase, index++, repetition);
      const absl::Status status = conductor.Run();
      ledger.Note(conductor.record());
      // First saves what was measured, whatever ended the phase.
      IOBENCH_RETURN_IF_ERROR(FinishPhase(conductor.record()));
      IOBENCH_RETURN_IF_ERROR(status);
      NoteBrokenFiles(conductor.record(), layout);
      trees.Note(conductor.record(), layout);
      if (cluster_.live_count() == 0) return absl::UnavailableError("every worker was lost");
    }
  }
  return absl::OkStatus();
}

absl::Status Conductor::FinishPhase(const v1::PhaseRecord& record) {
  bool anything = false;
  for (const v1::WorkerPhaseResult& worker : record.workers())
    anything |= worker.lanes_size() > 0 || worker.lost();  // lost: includes a worker that did not end in time
  if (!anything) return absl::OkStatus();
  const v1::PhaseReport phase = report_.Add(record);
  verification_failed_ |= phase.verify().mismatched() > 0;
  io_failed_ |= phase.lanes_failed() > 0 || phase.verify().mismatched() > 0;
  absl::Status status;
  if (store_.has_value()) {
    status = store_->SavePhase(record, options_.run_id);
    if (status.ok()) status = store_->AddPhase(report(), phase);
    if (status.ok() && store_->IsDue()) status = SaveReport();
    saved_.Update(status);
  }
  observer_.PhaseEnds(report(), phase);
  return status;
}

// Saves the report so far, including results over all its phases.
absl::Status Conductor::SaveReport() {
  report_.NoteTotals();
  return store_.has_value() ? store_->SaveReport(report()) : absl::OkStatus();
}

void Conductor::NoteBrokenFiles(const v1::PhaseRecord& record, const Layout& layout) {
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    const v1::Assignment* assignment = AssignmentOf(record.phase(), worker.worker());
    if (assignment == nullptr || MovesNothing(assignment->operation())) continue;
    if (IsMetadata(assignment->operation())) continue;  // tracked by the ledger of trees
    const bool writes = Writes(assignment->operation());
    if (worker.lost() && writes) {  // it is unknown how far its lanes got
      const PhaseShape shape = ShapeOf(plan_, record.phase());
      for (const v1::LanePlan& lane : layout.LanesOf(worker.worker(), assignment->operation(), shape)) {
        broken_files_.insert(lane.file_owner());
      }
    }
    for (const v1::LaneResult& lane : worker.lanes()) {
      if (lane.sat_out()) continue;
      if (lane.problem().code() != 0) {
        broken_files_.insert(lane.file_owner());
      } else if (CreatesFiles(assignment->operation())) {
        broken_files_.erase(lane.file_owner());
      }
    }
  }
}

void Conductor::NoteProblem(const absl::Status& status) {
  spdlog::error("{}", Printable(std::string(status.message())));
  *record_.add_problems() = ToProblem(status);
  if (!absl::IsUnavailable(status)) io_failed_ = true;
}

int Conductor::Verdict(const absl::Status& status) const {
  if (absl::IsCancelled(status)) return kExitInterrupted;
  if (io_failed_) return kExitIo;
  if (cluster_.live_count() < cluster_.members().size()) return kExitPartial;
  return status.ok() ? kExitOk : kExitIo;
}

}  // namespace iobench
