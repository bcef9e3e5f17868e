#include "coordinator/analysis/report_builder.h"

#include <utility>

#include "coordinator/analysis/brief.h"
#include "coordinator/analysis/error_report.h"
#include "coordinator/analysis/score.h"
#include "coordinator/analysis/summarize.h"

namespace iobench {

void ReportBuilder::Begin(const v1::PhaseRecord* newest) {
  report_ = SummarizeRun(run_, newest);
}

v1::PhaseReport ReportBuilder::Add(const v1::PhaseRecord& phase) {
  v1::PhaseReport full = SummarizePhase(run_, phase);
  NoteClocks(run_, &phase, report_);
  *report_.add_phases() =
      BriefOf(full, SelectsWorkers(phase.phase()) ? WorkersInBrief::kKept : WorkersInBrief::kLeftOut);
  return full;
}

void ReportBuilder::NoteTotals() {
  NoteScore(report_);
  report_.clear_repetitions();
  // In a plan without repetitions, phases of one name need not be the same.
  if (run_.plan().repetitions() <= 1) return;
  for (v1::RepetitionReport& repetition : SummarizeRepetitions(report_.phases())) {
    *report_.add_repetitions() = std::move(repetition);
  }
}

void ReportBuilder::NoteRun() {
  *report_.mutable_run() = std::move(*SummarizeRun(run_, nullptr).mutable_run());
}

void ReportBuilder::AddProblem(const std::string& message) {
  v1::Problem problem;
  problem.set_message(message);
  *report_.mutable_run()->add_problems() = ErrorFrom(problem);
}

}  // namespace iobench
