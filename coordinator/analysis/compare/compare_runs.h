// Compares runs phase by phase. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_COMPARE_RUNS_H_
#define COORDINATOR_ANALYSIS_COMPARE_COMPARE_RUNS_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/analysis/compare/phase_samples.h"
#include "coordinator/analysis/compare/run_differences.h"
#include "iobench/v1/compare.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What a comparison keeps of a run, so that one whole report is in memory at a time.
struct RunToCompare {
  v1::ComparedRun run;
  RunFacts facts;
  std::vector<PhaseSamples> phases;
};
// `name`: the run's name in reports. REQUIRES: a whole report (coordinator/saved_run/whole_report.h).
RunToCompare RunToCompareFrom(const std::string& name, const v1::RunReport& report);

struct CompareSettings {
  double level = 0.95;               // of intervals and verdicts; 0 < level < 1
  double margin = 0.05;              // what lies within 1 +- this counts as equal; 0 < margin < 1
  bool by_name = false;              // phases are paired by their names alone, so that what runs differ in on purpose
                                     // (engine, record size, lanes …) can be compared
  std::optional<double> fail_under = std::nullopt;  // a ratio: phases below it fail
};

// The statistics are defined in docs/comparing.md, "Comparing runs". With one run, lists its repetitions. REQUIRES:
// at least one run.
v1::CompareReport CompareRuns(std::span<const RunToCompare> runs, const CompareSettings& settings);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_COMPARE_RUNS_H_
