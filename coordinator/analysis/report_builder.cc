#include "coordinator/analysis/report_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/across/each_path.h"
#include "coordinator/analysis/across/repeat.h"
#include "coordinator/analysis/across/surfaces.h"
#include "coordinator/analysis/across/until_steady.h"
#include "coordinator/analysis/across/worker_scaling.h"
#include "coordinator/analysis/brief.h"
#include "coordinator/analysis/criteria.h"
#include "coordinator/analysis/error_report.h"
#include "coordinator/analysis/explain/lane_sweep.h"
#include "coordinator/analysis/interference.h"
#include "coordinator/analysis/layers.h"
#include "coordinator/analysis/per_client.h"
#include "coordinator/analysis/score.h"
#include "coordinator/analysis/soak.h"
#include "coordinator/analysis/summarize.h"

namespace iobench {

void ReportBuilder::Begin(const v1::PhaseRecord* newest) {
  report_ = SummarizeRun(run_, newest);
  BeginPerClient(report_);
  BeginInterference(report_);
  BeginLayers(report_);
  BeginSoak(report_);
}

void ReportBuilder::BeginWithClocksOf(const v1::FinishedPhase& newest) {
  Begin(nullptr);
  UpdateClocks(newest.clocks(), report_);
}

v1::PhaseReport ReportBuilder::Add(const v1::PhaseRecord& phase) {
  return Add(FinishPhase(run_, phase));
}

v1::PhaseReport ReportBuilder::Add(v1::FinishedPhase phase) {
  UpdateClocks(phase.clocks(), report_);
  ApplyLaneSweep(report_, *phase.mutable_report());
  UpdatePerClient(phase.report(), report_);
  UpdateInterference(phase.report(), report_);
  UpdateLayers(phase.report(), report_);
  UpdateSoak(phase.report(), report_);
  *report_.add_phases() =
      BriefOf(phase.report(), phase.selects_workers() ? WorkersInBrief::kKept : WorkersInBrief::kLeftOut);
  UpdateSteady(report_);
  if (IsScored(phase.report())) UpdateScore(report_);
  return std::move(*phase.mutable_report());
}

bool ReportBuilder::IsScored(const v1::PhaseReport& phase) const {
  const v1::Phase* const planned = PlannedPhase(run_.plan(), phase);
  return planned != nullptr && planned->score() != v1::SCORE_NONE;
}

void ReportBuilder::UpdateTotals() {
  UpdateScore(report_);
  UpdateCriteria(report_);
  UpdateSoakTrends(report_);
  UpdateWorkerScaling(report_);
  UpdateEachPath(report_);
  UpdateSurfaces(report_);
  report_.clear_repetitions();
  // In a plan without repetitions, phases of one name need not be the same.
  if (run_.plan().repetitions() <= 1) return;
  for (v1::RepetitionReport& repetition : SummarizeRepetitions(report_.phases())) {
    *report_.add_repetitions() = std::move(repetition);
  }
}

void ReportBuilder::UpdateRun() {
  v1::RunReport whole = SummarizeRun(run_, nullptr);
  *report_.mutable_run() = std::move(*whole.mutable_run());
  // In the order in which a report that is computed from the raw files has them: the score's is the last.
  *report_.mutable_notes() = std::move(*whole.mutable_notes());
  UpdateScore(report_);
}

void ReportBuilder::AddFile(const v1::FileDigest& file) {
  const bool is_first = report_.files_size() > 0 && report_.files(0).name() == file.name();
  *(is_first ? report_.mutable_files(0) : report_.add_files()) = file;
}

void ReportBuilder::RecordMissing(std::span<const v1::MissingPhase> phases,
                                std::span<const std::string> warnings) {
  for (const v1::MissingPhase& phase : phases) *report_.mutable_run()->add_missing_phases() = phase;
  for (const std::string& warning : warnings) {
    v1::Problem problem;
    problem.set_message(absl::StrCat("not in this report: ", warning));
    *report_.mutable_run()->add_problems() = ErrorFrom(problem);
  }
}

}  // namespace iobench
