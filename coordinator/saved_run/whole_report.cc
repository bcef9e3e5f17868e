#include "coordinator/saved_run/whole_report.h"

#include <optional>
#include <string>
#include <utility>

#include "coordinator/analysis/report_builder.h"

namespace iobench {

v1::RunReport WholeReport(SavedRun& saved, const FinishSettings& settings) {
  ReportBuilder builder(saved.run());
  builder.Begin(nullptr);
  google::protobuf::RepeatedPtrField<v1::PhaseReport> phases;
  FinishedPhases finished(saved, settings);
  while (std::optional<v1::FinishedPhase> phase = finished.Next())
    *phases.Add() = builder.Add(*std::move(phase));
  builder.UpdateTotals();
  builder.RecordMissing(saved.missing_phases(), saved.warnings());
  for (const v1::FileDigest& file : saved.digests()) builder.AddFile(file);
  v1::RunReport report = builder.report();
  *report.mutable_phases() = std::move(phases);
  return report;
}

}  // namespace iobench
