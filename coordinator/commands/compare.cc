#include "coordinator/commands/compare.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/version.h"
#include "coordinator/analysis/compare/compare_runs.h"
#include "coordinator/commands/comparison.h"
#include "coordinator/process/failure.h"
#include "coordinator/saved_run/run_names.h"

namespace iobench {

int CompareSavedRuns(const CompareCommand& asked) {
  CompareCommand options = asked;
  absl::StatusOr<std::vector<std::string>> runs = RunsNamed(asked.directories, 2);
  if (!runs.ok()) return Fail(runs.status(), kExitUsage);
  options.directories = *std::move(runs);
  const absl::StatusOr<const CompareFormat*> format = ComparisonFormat(options);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  const absl::Status distinct = CheckNoneTwice(options.directories);
  if (!distinct.ok()) return Fail(distinct, kExitUsage);
  const bool single = options.directories.size() == 1;
  if (single && options.fail_under_percent > 0) {
    return Fail(
        absl::InvalidArgumentError("--fail-under needs a baseline: name two results, the baseline first"),
        kExitUsage);
  }
  absl::StatusOr<LoadedRuns> loaded = LoadRuns(options.directories, options.redact);
  if (!loaded.ok()) return Fail(loaded.status(), kExitUsage);
  v1::CompareReport report = CompareRuns(loaded->runs, ComparisonSettings(options));
  report.set_program_version(kProgramVersion);
  const bool repeated =
      std::any_of(report.repetitions().begin(), report.repetitions().end(),
                  [](const v1::RepetitionSeries& list) { return list.repetitions_size() > 1; });
  if (single && !repeated) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
                    "\"", options.directories[0],
                    "\" has no repetitions to compare: name a second result, or measure with --repeat")),
                kExitUsage);
  }
  return FinishComparison(options, {.gate = report.has_gate() ? &report.gate() : nullptr,
                                     .judges = report.phases_size() > 0,
                                     .damaged = loaded->damaged},
                          [&](const ConsoleStyle& style, std::ostream& out) {
                            return (*format)->write_comparison(report, style, out);
                          });
}

}  // namespace iobench
