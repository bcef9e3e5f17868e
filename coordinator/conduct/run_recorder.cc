#include "coordinator/conduct/run_recorder.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/model/data_content.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/conduct/resumption.h"
#include "coordinator/process/failure.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/saved_run/finished_phases.h"

namespace iobench {
namespace {

bool MeetsCriteria(const v1::RunReport& report) {
  const auto& criteria = report.criteria();
  return std::all_of(criteria.begin(), criteria.end(), [](const v1::CriterionReport& each) { return each.met(); });
}

// The plan of a resumed run may have them already.
void AddNotes(std::span<const std::string> notes, v1::Plan& plan) {
  auto& all = *plan.mutable_notes();
  std::set<std::string> known(all.begin(), all.end());  // there may be one for each worker's path
  for (const std::string& note : notes) {
    if (known.insert(note).second) *all.Add() = note;
  }
}

}  // namespace

bool HasResults(const v1::PhaseRecord& record) {
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    // lost: includes a worker that did not end in time
    if (worker.lanes_size() > 0 || worker.lost() || !worker.refused_reason().empty()) return true;
  }
  return false;
}

RunRecorder::RunRecorder(const ConductorOptions& options, const v1::WorkerFacts& coordinator, v1::Plan plan,
                         const std::string& transport)
    : options_(options) {
  const std::string now = WallClockIso8601();
  met_.set_started_at(now);
  met_.set_transport(transport);
  if (options.resume.has_value()) {
    record_ = ResumedRecord(*options.resume, now, options.run_id, options.max_duration_s);
  } else {
    record_.set_id(options.run_name);
    record_.set_run_number(options.run_id);
    record_.set_command(options.command);
    record_.set_program_version(options.version);
    record_.set_label(options.label);
    record_.set_max_duration_s(options.max_duration_s);
    if (options.iozone.has_value()) *record_.mutable_iozone() = *options.iozone;
    record_.set_transport(transport);
    *record_.mutable_coordinator() = coordinator;
    record_.set_started_at(now);
  }
  *record_.mutable_plan() = std::move(plan);
}

absl::Status RunRecorder::Begin(const Assembly& assembly, const Cluster& cluster, const Look& look) {
  v1::RunRecord& met = options_.resume.has_value() ? met_ : record_;
  for (const v1::LeftOutClient& client : assembly.left_out()) *record_.add_left_out() = client;
  for (const Member& member : cluster.members()) *met.add_workers() = member.facts;
  for (const v1::WorkerTargets& facts : look.data->facts()) *met.add_targets() = facts;
  AddNotes(look.clocks->notes(), plan());
  AddNotes(look.data->decision().notes, plan());
  if (options_.resume.has_value()) {
    *met_.mutable_plan()->mutable_targets() = plan().targets();
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> differences, DifferencesSince(options_.resume->run, met_));
    v1::Resumption& resumption = *record_.mutable_resumptions(record_.resumptions_size() - 1);
    resumption.mutable_differences()->Assign(differences.begin(), differences.end());
  }
  for (const Member& sampler : cluster.samplers()) *record_.add_samplers() = sampler.facts;
  report_.Begin(/*newest=*/nullptr);
  return absl::OkStatus();
}

absl::StatusOr<bool> RunRecorder::Open() {
  if (options_.out_directory.empty()) return false;
  using EarlierResult = ResultStore::EarlierResult;
  const EarlierResult earlier = options_.resume.has_value() ? EarlierResult::kContinue
                                : options_.force            ? EarlierResult::kReplace
                                                            : EarlierResult::kRefuse;
  IOBENCH_ASSIGN_OR_RETURN(taken_, ResultStore::Create(options_.out_directory, earlier,
                                                       [clock = options_.clock] { return clock().ns; },
                                                       options_.results_lock));
  if (options_.resume.has_value()) {
    IOBENCH_RETURN_IF_ERROR(taken_->lock().CheckHeld());
    IOBENCH_RETURN_IF_ERROR(CheckUnchanged(*options_.resume));
    // The run recognises its data by this id, also if this process is killed as soon as it has claimed them.
    v1::RunRecord claiming = options_.resume->run;
    claiming.add_resumed_run_ids(options_.run_id);
    IOBENCH_RETURN_IF_ERROR(SaveRawRun(options_.out_directory, claiming).status());
  }
  IOBENCH_RETURN_IF_ERROR(taken_->lock().NameRun(record_.id()));
  if (taken_->has_earlier()) return true;
  IOBENCH_RETURN_IF_ERROR(ReplaceEarlier());
  return false;
}

absl::Status RunRecorder::ReplaceEarlier() {
  if (!taken_.has_value()) return absl::OkStatus();
  store_ = std::exchange(taken_, std::nullopt);
  IOBENCH_RETURN_IF_ERROR(store_->RemoveEarlier());
  IOBENCH_RETURN_IF_ERROR(SaveRun());
  if (!options_.resume.has_value()) return SaveReport();  // from now on there is a report in any case
  const RunPart& part = options_.resume->part;
  for (const uint32_t phase : part.again) IOBENCH_RETURN_IF_ERROR(store_->RemovePhase(phase));
  IOBENCH_RETURN_IF_ERROR(store_->RemovePhase(part.first_phase));
  // Otherwise AdoptUpTo saves it. From now on it does not say how the earlier part ended.
  return part.first() == 0 ? SaveReport() : absl::OkStatus();
}

absl::Status RunRecorder::AdoptUpTo(uint32_t index, Cluster& cluster, RunObserver& observer) {
  if (!options_.resume.has_value() || !store_.has_value()) return absl::OkStatus();
  const uint32_t end = std::min(index, options_.resume->part.first_phase);
  if (adopted_ >= end) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(options_.out_directory));
  saved.Select(adopted_, end);
  adopted_ = end;
  FinishedPhases finished(saved, {});
  CoordTime attended_at = options_.clock();
  while (std::optional<v1::FinishedPhase> next = finished.Next()) {
    const v1::FileDigest file = next->file();
    const v1::PhaseReport phase = report_.Add(*std::move(next));
    report_.AddFile(file);
    outcome_.io_failed |= HasFailed(phase);
    outcome_.lost_before |= phase.workers_lost() > 0;
    IOBENCH_RETURN_IF_ERROR(store_->AddPhase(report(), phase));
    observer.PhaseEnds(report(), phase);
    if (options_.clock() - attended_at < kNanosPerSecond) continue;
    cluster.Attend();  // or workers would leave for want of pings
    attended_at = options_.clock();
  }
  for (const v1::MissingPhase& missing : saved.missing_phases()) {
    // One that could not be measured again this time.
    if (!options_.resume->part.IsAgain(missing.index())) return absl::DataLossError(saved.warnings().front());
  }
  return SaveReport();
}

absl::Status RunRecorder::AddPlanned(v1::Phase phase) {
  *plan().add_phases() = std::move(phase);
  report_.UpdateRun();
  return SaveRun();
}

void RunRecorder::RecordLimited(const v1::Phase& phase, Limited how) {
  *(how == Limited::kSkipped ? record_.add_skipped_phases() : record_.add_shortened_phases()) = phase.name();
}

void RunRecorder::SaveEarly(const v1::PhaseRecord& record) {
  if (store_.has_value()) store_->SavePhase(record, record_.run_number()).status().IgnoreError();
}

v1::PhaseReport RunRecorder::AddPhase(const v1::PhaseRecord& record, PhaseCost& cost, absl::Status& saved) {
  const CoordTime analyse_begin = options_.clock();
  v1::PhaseReport phase = report_.Add(record);
  const CoordTime save_begin = options_.clock();
  cost.analyse_s = SecondsFrom(save_begin - analyse_begin);
  for (const v1::WorkerPhaseResult& worker : record.workers()) outcome_.io_failed |= !worker.refused_reason().empty();
  outcome_.verification_failed |= FoundBadData(phase.verify());
  outcome_.io_failed |= HasFailed(phase);
  if (store_.has_value()) {
    const absl::StatusOr<v1::FileDigest> file = store_->SavePhase(record, record_.run_number());
    if (file.ok()) report_.AddFile(*file);
    saved = file.status();
    adopted_ = std::max(adopted_, record.index() + 1);
    if (saved.ok()) record_.set_phase_count(std::max(record_.phase_count(), record.index() + 1));
    if (saved.ok()) saved = store_->AddPhase(report(), phase);
    if (saved.ok() && store_->IsDue()) {
      saved = SaveRun();  // with the number of phases, so that a later loss of their files shows
      if (saved.ok()) saved = SaveReport();
    }
    saved_.Update(saved);
  }
  cost.save_s = SecondsFrom(options_.clock() - save_begin);
  return phase;
}

absl::Status RunRecorder::SaveRun() {
  if (!store_.has_value()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const v1::FileDigest file, store_->SaveRun(record_));
  report_.AddFile(file);
  return absl::OkStatus();
}

// Saves the report so far, including results over all its phases.
absl::Status RunRecorder::SaveReport() {
  report_.UpdateTotals();
  return store_.has_value() ? store_->SaveReport(report()) : absl::OkStatus();
}

void RunRecorder::RecordProblem(const absl::Status& status) {
  LogError(status.message());
  *record_.add_problems() = ToProblem(status);
  if (!absl::IsUnavailable(status) && !absl::IsAborted(status)) outcome_.io_failed = true;
}

int RunRecorder::End(int exit_code, const std::optional<std::string>& program_digest) {
  if (program_digest.has_value()) record_.set_program_sha256(*program_digest);
  record_.set_finished(true);
  report_.UpdateTotals();
  const bool never_steady = report().has_steady() && !report().steady().steady();
  if (exit_code == kExitOk && (never_steady || !MeetsCriteria(report()))) exit_code = kExitThreshold;
  record_.set_exit_code(exit_code);
  report_.UpdateRun();
  return exit_code;
}

int RunRecorder::Finish(int exit_code) {
  for (;;) {
    record_.set_exit_code(exit_code);
    report_.UpdateRun();
    // The raw record comes last: a process that is killed in between leaves a run that can be resumed, not one that is
    // complete with a report that is not.
    if (store_.has_value()) report_.AddFile(DigestOfRawRun(options_.out_directory, record_));
    absl::Status saved = SaveReport();
    saved.Update(SaveRun());
    if (saved_.ok() && !saved.ok()) LogError(saved.message());
    saved_.Update(saved);
    if (saved.ok() || exit_code != kExitOk) break;
    exit_code = kExitIo;  // in whatever can be saved
  }
  if (store_.has_value()) store_->lock().Release();
  return exit_code;
}

}  // namespace iobench
