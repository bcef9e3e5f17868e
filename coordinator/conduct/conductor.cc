#include "coordinator/conduct/conductor.h"

#include <signal.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/model/data_content.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/process/end_of_memory.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/log.h"
#include "common/text/shell_word.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/summarize.h"
#include "coordinator/cluster/samplers.h"
#include "coordinator/cluster/start_lead.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/conduct/data/broken_files.h"
#include "coordinator/conduct/data/client_steps.h"
#include "coordinator/conduct/data/data_ledger.h"
#include "coordinator/plan/files_of_owner.h"
#include "coordinator/conduct/data/tree_ledger.h"
#include "coordinator/conduct/phase_conductor.h"
#include "coordinator/conduct/resumption.h"
#include "coordinator/saved_run/finished_phases.h"

namespace iobench {
namespace {

// Adds steps before those that the record has.
void AddFirst(const StepsOfWorkers& steps, v1::PhaseRecord& record) {
  for (const auto& [worker, its_steps] : steps) {
    auto& list = *record.mutable_workers(static_cast<int>(worker))->mutable_steps();
    google::protobuf::RepeatedPtrField<v1::StepResult> all(its_steps.begin(), its_steps.end());
    all.MergeFrom(list);
    list.Swap(&all);
  }
}

bool HasResults(const v1::PhaseRecord& record) {
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    // lost: includes a worker that did not end in time
    if (worker.lanes_size() > 0 || worker.lost() || !worker.refused_reason().empty()) return true;
  }
  return false;
}

}  // namespace

Conductor::Conductor(Transport& transport, RunObserver& observer, const Interrupt& interrupt,
                     const v1::WorkerFacts& coordinator, v1::Plan plan, ConductorOptions options)
    : interrupt_(interrupt),
      observer_(observer),
      coordinator_(coordinator),
      plan_(std::move(plan)),
      options_(std::move(options)),
      cluster_(transport, options_.run_id, interrupt, options_.patience, options_.clock),
      assembly_(cluster_, options_, coordinator_, plan_) {
  met_.set_transport(transport.name());
  if (options_.resume.has_value()) {
    record_ = ResumedRecord(*options_.resume, WallClockIso8601(), options_.run_id, options_.max_duration_s);
    return;
  }
  record_.set_id(options_.run_name);
  record_.set_run_number(options_.run_id);
  record_.set_command(options_.command);
  record_.set_program_version(options_.version);
  record_.set_label(options_.label);
  record_.set_max_duration_s(options_.max_duration_s);
  if (options_.iozone.has_value()) *record_.mutable_iozone() = *options_.iozone;
  record_.set_transport(transport.name());
  *record_.mutable_coordinator() = coordinator;
}

int Conductor::Run() {
  const std::string now = WallClockIso8601();
  met_.set_started_at(now);
  if (!options_.resume.has_value()) record_.set_started_at(now);
  if (absl::Status status = assembly_.Gather(observer_); !status.ok()) return Refuse(status);
  // A validation does without the comparison of --per-client, and decides about data when its phases run (Measure).
  const bool validates = options_.examine != nullptr;
  auto look = assembly_.InspectWorkers(now, /*allows_one_client=*/validates);
  if (!look.ok()) return Refuse(look.status());
  if (absl::Status status = validates ? absl::OkStatus() : assembly_.DecideAboutData(**look); !status.ok()) {
    return Refuse(status);
  }
  RecordWorkers(**look);
  if (options_.preflight_only) {
    if (options_.examine) {
      options_.examine({.cluster = cluster_,
                        .clocks = *(*look)->clocks,
                        .plan = plan_,
                        .targets = (*look)->data->facts(),
                        .preflight = preflight(),
                        .measure = [&] { return Measure(**look); }});
    }
    cluster_.Dismiss();
    return FaultCount(preflight()) > 0 ? kExitUsage : kExitOk;
  }
  ClockSync& clocks = *(*look)->clocks;
  DataKeeper& data = *(*look)->data;
  RecordNotes(clocks.notes());
  RecordNotes(data.decision().notes);
  uses_kept_data_ = data.decision().uses_kept_data;
  bytes_needed_ = data.decision().bytes_needed;
  if (absl::Status status = CheckResumed(); !status.ok()) return Refuse(status);
  for (const Member& sampler : cluster_.samplers()) *record_.add_samplers() = sampler.facts;
  report_.Begin(/*newest=*/nullptr);
  if (options_.dry_run) {
    cluster_.Dismiss();
    return kExitOk;
  }
  if (options_.before_phases != nullptr) {
    if (absl::Status status = options_.before_phases(cluster_); !status.ok()) return Refuse(status);
  }
  if (absl::Status status = OpenResults(); !status.ok()) return Refuse(status);
  observer_.RunStarts(report());
  if (absl::Status status = AdoptPhases(); !status.ok()) return Refuse(status);

  EndClearlyWithoutMemory(kExitIo);  // from now on, something has been written
  DataLedger ledger(plan_, *(*look)->layout, options_.run_id);
  const absl::Status status = ClaimAndRun(**look, ledger);
  if (!status.ok() && !absl::IsCancelled(status)) RecordProblem(status);

  // The results are already saved (each phase at its end); the exit code also depends on the removal of the data.
  if (store_.has_value()) store_->SaveRun(record_).status().IgnoreError();
  // Nothing is being measured now, and removing data waits for the file system.
  std::future<std::string> digest;
  if (options_.program_digest) digest = DoConcurrently(options_.program_digest);
  LeaveData(data, ledger);
  cluster_.Dismiss();
  if (digest.valid()) record_.set_program_sha256(digest.get());
  return Finish(Verdict(status));
}

// A resumed run keeps its plan, and the workers that began it.
void Conductor::RecordWorkers(const Look& look) {
  for (const v1::LeftOutClient& client : assembly_.left_out()) *record_.add_left_out() = client;
  if (!options_.resume.has_value()) *record_.mutable_plan() = plan_;
  for (const Member& member : cluster_.members()) *MetRecord().add_workers() = member.facts;
  for (const v1::WorkerTargets& facts : look.data->facts()) *MetRecord().add_targets() = facts;
}

absl::Status Conductor::OpenResults() {
  if (options_.out_directory.empty()) return absl::OkStatus();
  using EarlierResult = ResultStore::EarlierResult;
  IOBENCH_ASSIGN_OR_RETURN(store_, ResultStore::Create(options_.out_directory,
                                                       options_.resume.has_value() ? EarlierResult::kContinue
                                                       : options_.force            ? EarlierResult::kReplace
                                                                                   : EarlierResult::kRefuse,
                                                       [clock = options_.clock] { return clock().ns; }));
  IOBENCH_RETURN_IF_ERROR(SaveRun());
  if (options_.resume.has_value()) return store_->RemovePhase(options_.resume->first_phase);
  return SaveReport();  // from now on there is a report in any case
}

absl::Status Conductor::CheckResumed() {
  if (!options_.resume.has_value()) return absl::OkStatus();
  *met_.mutable_plan()->mutable_targets() = plan_.targets();
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> differences,
                           DifferencesSince(options_.resume->run, met_));
  v1::Resumption& resumption = *record_.mutable_resumptions(record_.resumptions_size() - 1);
  resumption.mutable_differences()->Assign(differences.begin(), differences.end());
  return absl::OkStatus();
}

// Adds the finished phases of a run that is resumed to the report, as they are saved.
absl::Status Conductor::AdoptPhases() {
  if (!options_.resume.has_value()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(options_.out_directory));
  FinishedPhases finished(saved, {});
  CoordTime attended_at = options_.clock();
  while (std::optional<v1::FinishedPhase> next = finished.Next()) {
    const v1::FileDigest file = next->file();
    const v1::PhaseReport phase = report_.Add(*std::move(next));
    report_.AddFile(file);
    RecordOutcome(phase);
    lost_before_ |= phase.workers_lost() > 0;
    IOBENCH_RETURN_IF_ERROR(store_->AddPhase(report(), phase));
    observer_.PhaseEnds(report(), phase);
    if (options_.clock() - attended_at < kNanosPerSecond) continue;
    cluster_.Attend();  // or workers would leave for want of pings
    attended_at = options_.clock();
  }
  if (!saved.warnings().empty()) return absl::DataLossError(saved.warnings().front());
  return SaveReport();
}

// Adds notes to the plan; that of a resumed run may have them already.
void Conductor::RecordNotes(const std::vector<std::string>& notes) {
  auto& all = *record_.mutable_plan()->mutable_notes();
  std::set<std::string> known(all.begin(), all.end());  // there may be one for each worker's path
  for (const std::string& note : notes) {
    if (known.insert(note).second) *all.Add() = note;
  }
}

void Conductor::RecordOutcome(const v1::PhaseReport& phase) {
  io_failed_ |= HasFailed(phase);
}

void Conductor::LeaveData(DataKeeper& data, const DataLedger& ledger) {
  // The faulty data is evidence.
  const bool keeps_evidence = verification_failed_ && !plan_.keep_data();
  const bool keeps = plan_.keep_data() || keeps_evidence;
  const absl::Status left =
      data.Finish(keeps ? DataKeeper::AtEnd::kKeep : DataKeeper::AtEnd::kRemove, ledger);
  if (!left.ok()) {
    RecordProblem(left);
  } else if (keeps_evidence) {
    RecordProblem(absl::DataLossError(
        absl::StrCat("verification failed, so the data are kept as with -w: ", data.WhereKept())));
  }
}

int Conductor::Finish(int exit_code) {
  record_.set_finished(true);
  report_.UpdateTotals();
  if (exit_code == kExitOk && !MeetsCriteria()) exit_code = kExitThreshold;
  record_.set_exit_code(exit_code);
  report_.UpdateRun();
  const absl::Status run_saved = SaveRun();
  for (const absl::Status& saved : {run_saved, SaveReport()}) {
    if (!saved.ok()) LogError(saved.message());
    saved_.Update(saved);
  }
  return exit_code;
}

int Conductor::Refuse(absl::Status why) {
  cluster_.Dismiss(absl::StrCat("the coordinator refused the run: ", why.message()));
  refusal_ = std::move(why);
  if (interrupt_.raised()) return kExitInterrupted;
  // If none of the workers that this program has started joins, the address that it gave them is wrong.
  const bool gave_wrong_address = options_.join_watch.check != nullptr && !assembly_.any_joined();
  const bool workers_missing = absl::IsDeadlineExceeded(refusal_) && !gave_wrong_address;
  const bool workers_lost = cluster_.live_count() < cluster_.members().size();
  return workers_missing || workers_lost ? kExitPartial : kExitUsage;
}

// mpirun ends the ranks with SIGTERM, on its own or when it gets one itself.
bool Conductor::EndedByLauncher() const {
  return interrupt_.signal() == SIGTERM && cluster_.transport_name() == "mpi";
}

absl::Status Conductor::ClaimAndRun(Look& look, DataLedger& ledger) {
  if (look.data->decision().uses_kept_data) ledger.TakeOver(look.data->decision().kept);
  IOBENCH_RETURN_IF_ERROR(look.data->Claim());
  return RunPhases(*look.data, ledger, *look.clocks, *look.layout);
}

// For ConductorOptions.examine. Nothing is saved.
absl::StatusOr<const v1::RunReport*> Conductor::Measure(Look& look) {
  IOBENCH_RETURN_IF_ERROR(FirstLoss());
  // A run would replace data that an earlier one has kept and that does not fit.
  for (const Member& member : cluster_.members()) {
    const v1::WorkerTargets& seen = look.data->facts()[member.number];
    for (int i = 0; i < seen.targets_size(); ++i) {
      if (seen.targets(i).manifest().state() != v1::Manifest::KEPT) continue;
      const v1::Target& target = plan_.targets(static_cast<int>(NumberOfSeen(seen, i)));
      return absl::FailedPreconditionError(
          absl::StrCat(DataAt(member, target),
                       " has data that a run has kept (-w): use another directory, or "
                       "remove them with `cluster-iobench clean ",
                       ShellWord(target.path()), "`"));
    }
  }
  IOBENCH_RETURN_IF_ERROR(look.data->Decide(options_.force));
  report_.Begin(/*newest=*/nullptr);
  observer_.RunStarts(report());
  DataLedger ledger(plan_, *look.layout, options_.run_id);
  absl::Status status = ClaimAndRun(look, ledger);
  status.Update(look.data->Finish(DataKeeper::AtEnd::kRemove, ledger));
  IOBENCH_RETURN_IF_ERROR(status);
  IOBENCH_RETURN_IF_ERROR(FirstLoss());
  report_.UpdateTotals();
  return &report();
}

absl::Status Conductor::FirstLoss() const {
  for (const Member& member : cluster_.members()) {
    if (member.lost)
      return absl::UnavailableError(absl::StrCat(member.Name(), " was lost: ", member.lost_reason));
  }
  return absl::OkStatus();
}

// What all phases of a run share.
struct Conductor::PhaseLoop {
  DataKeeper& data;
  DataLedger& ledger;
  ClockSync& clocks;
  const Layout& layout;
  StartLead start_lead;
  Samplers samplers;
  BrokenFiles broken_files;
  TreeLedger trees;
  PhaseHooks hooks;
  CoordTime begin;
  uint32_t first_phase = 0;
};

absl::Status Conductor::RunPhases(DataKeeper& data, DataLedger& ledger, ClockSync& clocks,
                                  const Layout& layout) {
  PhaseLoop loop{
      .data = data,
      .ledger = ledger,
      .clocks = clocks,
      .layout = layout,
      .start_lead = StartLead(options_.in_process ? StartLead::Way::kNone : StartLead::Way::kNetwork,
                              plan_.lanes_per_worker()),
      .samplers =
          Samplers(cluster_, static_cast<uint32_t>(record_.samplers_size() - cluster_.samplers().size()),
                   options_.sample_interval_ns),
      .broken_files = BrokenFiles(plan_, layout),
      .trees = TreeLedger(plan_),
      .hooks = PhaseHooks(options_.hooks, options_.out_directory, cluster_),
      .begin = cluster_.Now(),
      .first_phase = options_.resume.has_value() ? options_.resume->first_phase : 0};
  loop.start_lead.AddRound(clocks.round_ns());
  uint32_t index = 0;
  for (uint32_t repetition = 0;; ++repetition) {
    IOBENCH_ASSIGN_OR_RETURN(const bool begins, BeginsRound(loop.begin, repetition));
    if (!begins) break;
    for (int place = 0; place < plan_.phases_size(); ++place) {
      if (index < loop.first_phase) {
        ++index;
        continue;
      }
      IOBENCH_ASSIGN_OR_RETURN(const bool ran, RunPhase(loop, place, index, repetition));
      if (ran) ++index;
    }
  }
  while (options_.next_phase && last_phase_.has_value()) {
    std::optional<v1::Phase> next =
        options_.next_phase({.newest = *last_phase_, .plan = plan_, .members = cluster_.members()});
    if (!next.has_value()) break;
    v1::Phase& planned = *plan_.add_phases();
    planned = *std::move(next);
    *record_.mutable_plan()->add_phases() = planned;
    report_.UpdateRun();
    IOBENCH_RETURN_IF_ERROR(SaveRun());  // a phase on disk is in the plan on disk
    IOBENCH_ASSIGN_OR_RETURN(const bool ran, RunPhase(loop, plan_.phases_size() - 1, index++, 0));
    if (!ran) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Conductor::RunPhase(PhaseLoop& loop, int place, uint32_t index, uint32_t repetition) {
  if (interrupt_.raised()) return absl::CancelledError("interrupted");
  const v1::Phase& planned = plan_.phases(place);
  v1::Phase phase;
  if (!HasTimeFor(planned, loop.begin, phase)) return false;
  if (const std::set<uint32_t> targets = TargetsOfNewSharedFiles(plan_, phase, loop.layout);
      !targets.empty()) {
    IOBENCH_RETURN_IF_ERROR(loop.data.RemoveSharedFiles(targets));
    loop.ledger.ForgetShared(targets);
    loop.broken_files.ForgetShared(targets);
  }
  IOBENCH_ASSIGN_OR_RETURN(const StepsOfWorkers fill_steps,
                           FillSpace(loop.data, index == loop.first_phase, planned));
  loop.ledger.Begin(phase);
  const LaterNeeds later = NeedsAfter(loop.layout, place, repetition);
  PhaseConductor conductor({.cluster = cluster_,
                            .clock_sync = loop.clocks,
                            .plan = plan_,
                            .layout = loop.layout,
                            .observer = observer_,
                            .data_must_exist = loop.data.decision().uses_kept_data,
                            .later = later,
                            .settle_until = EndOfDuration(loop.begin),
                            .broken_files = loop.broken_files,
                            .trees = loop.trees,
                            .data = loop.ledger,
                            .keeper = loop.data,
                            .timeout_ns = options_.phase_timeout_ns,
                            .ended_by_launcher = [this] { return EndedByLauncher(); },
                            .phase_count = static_cast<uint32_t>(plan_.phases_size()) *
                                           (plan_.soak_s() > 0 ? repetition + 1 : plan_.repetitions()),
                            .start_lead = loop.start_lead,
                            .samplers = loop.samplers},
                           phase, index, repetition);
  IOBENCH_RETURN_IF_ERROR(loop.hooks.Before(plan_, conductor.record()));
  const double cpu_begin_s = ProcessCpuSeconds();
  absl::Status status = conductor.Run();
  AddFirst(fill_steps, conductor.record());
  PhaseCost& cost = phase_costs_.emplace_back(conductor.cost());
  if (loop.hooks.has_after()) {
    // A second Ctrl-C ends the program while the command runs. FinishPhase replaces the file and reports errors.
    if (store_.has_value() && HasResults(conductor.record())) {
      store_->SavePhase(conductor.record(), record_.run_number()).status().IgnoreError();
    }
    const v1::PhaseReport report = SummarizePhase(record_, conductor.record(), Charts::kLeftOut);
    status.Update(loop.hooks.After(plan_, report, status, conductor.record()));
  }
  loop.ledger.Note(conductor.record());
  // First saves what was measured, whatever ended the phase.
  const absl::Status finished = FinishPhase(conductor.record(), cost);
  cost.cpu_s = ProcessCpuSeconds() - cpu_begin_s;
  IOBENCH_RETURN_IF_ERROR(finished);
  // Also if a command after the phase has failed: the phase is saved.
  if (HasResults(conductor.record())) RecordIfShortened(planned, conductor.record());
  IOBENCH_RETURN_IF_ERROR(status);
  loop.broken_files.Note(conductor.record());
  loop.trees.Note(conductor.record(), loop.layout);
  if (cluster_.live_count() == 0) return absl::UnavailableError("every worker was lost");
  return true;
}

// Phases that a resumed run skips have filled the file system too.
absl::StatusOr<StepsOfWorkers> Conductor::FillSpace(DataKeeper& data, bool is_first, const v1::Phase& phase) {
  uint32_t percent = FillPercent(phase);
  if (is_first && options_.resume.has_value()) {
    const uint32_t skipped = options_.resume->first_phase;
    for (uint32_t i = 0; i < std::min(skipped, static_cast<uint32_t>(plan_.phases_size())); ++i) {
      percent = std::max(percent, FillPercent(plan_.phases(static_cast<int>(i))));
    }
  }
  StepsOfWorkers steps;
  if (percent == 0) return steps;
  IOBENCH_RETURN_IF_ERROR(data.Fill(
      percent, [&](uint64_t bytes) { observer_.SpaceFills(percent, bytes); }, steps));
  return steps;
}

absl::Status Conductor::FinishPhase(const v1::PhaseRecord& record, PhaseCost& cost) {
  if (!HasResults(record)) return absl::OkStatus();
  const CoordTime analyse_begin = options_.clock();
  v1::PhaseReport phase = report_.Add(record);
  const CoordTime save_begin = options_.clock();
  cost.analyse_s = SecondsFrom(save_begin - analyse_begin);
  for (const v1::WorkerPhaseResult& worker : record.workers()) io_failed_ |= !worker.refused_reason().empty();
  verification_failed_ |= FoundBadData(phase.verify());
  RecordOutcome(phase);
  absl::Status status;
  if (store_.has_value()) {
    const absl::StatusOr<v1::FileDigest> file = store_->SavePhase(record, record_.run_number());
    if (file.ok()) report_.AddFile(*file);
    status = file.status();
    if (status.ok()) record_.set_phase_count(record.index() + 1);
    if (status.ok()) status = store_->AddPhase(report(), phase);
    if (status.ok() && store_->IsDue()) {
      status = SaveRun();  // with the number of phases, so that a later loss of their files shows
      if (status.ok()) status = SaveReport();
    }
    saved_.Update(status);
  }
  cost.save_s = SecondsFrom(options_.clock() - save_begin);
  observer_.PhaseEnds(report(), phase);
  if (options_.next_phase) last_phase_ = std::move(phase);
  return status;
}

absl::Status Conductor::SaveRun() {
  if (!store_.has_value()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const v1::FileDigest file, store_->SaveRun(record_));
  report_.AddFile(file);
  return absl::OkStatus();
}

// Saves the report so far, including results over all its phases.
absl::Status Conductor::SaveReport() {
  report_.UpdateTotals();
  return store_.has_value() ? store_->SaveReport(report()) : absl::OkStatus();
}

void Conductor::RecordProblem(const absl::Status& status) {
  LogError(status.message());
  *record_.add_problems() = ToProblem(status);
  if (!absl::IsUnavailable(status) && !absl::IsAborted(status)) io_failed_ = true;
}

bool Conductor::MeetsCriteria() const {
  const auto& criteria = report().criteria();
  return std::all_of(criteria.begin(), criteria.end(),
                     [](const v1::CriterionReport& each) { return each.met(); });
}

int Conductor::Verdict(const absl::Status& status) const {
  const bool lost = lost_before_ || cluster_.live_count() < cluster_.members().size();
  // mpirun ends the job because a rank has died, not because the user interrupted it.
  if (absl::IsCancelled(status)) return cluster_.found_dead() ? kExitPartial : kExitInterrupted;
  if (io_failed_) return kExitIo;
  if (lost) return kExitPartial;
  return status.ok() ? kExitOk : kExitIo;
}

}  // namespace iobench
