// The heading that comparisons and histories share.
#ifndef COORDINATOR_ANALYSIS_COMPARE_REPORT_HEADING_H_
#define COORDINATOR_ANALYSIS_COMPARE_REPORT_HEADING_H_

#include <span>
#include <utility>
#include <vector>

#include "coordinator/analysis/compare/compare_runs.h"
#include "coordinator/analysis/compare/run_differences.h"

namespace iobench {

// Sets the schema, the level, the margin, the runs in their order, whether their plans are alike, and how the runs differ. Report:
// v1::CompareReport or v1::HistoryReport, whose fields have the same names.
template <typename Report>
void FillHeading(const char* schema, std::span<const RunToCompare> runs, const CompareSettings& settings,
                 Report& report) {
  report.set_schema(schema);
  report.set_level_percent(100 * settings.level);
  report.set_margin_percent(100 * settings.margin);
  std::vector<RunFacts> facts;
  for (const RunToCompare& run : runs) {
    *report.add_runs() = run.run;
    facts.push_back(run.facts);
  }
  RunDifferences differences = DifferencesOf(facts);
  report.set_like_plans(differences.like_plans);
  for (v1::Difference& difference : differences.differences) {
    *report.add_differences() = std::move(difference);
  }
}

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_REPORT_HEADING_H_
