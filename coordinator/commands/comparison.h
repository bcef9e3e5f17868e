// What `compare` and `history` have in common: saved runs as their input, a format, a gate.
#ifndef COORDINATOR_COMMANDS_COMPARISON_H_
#define COORDINATOR_COMMANDS_COMPARISON_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/analysis/compare/compare_runs.h"
#include "coordinator/options/command_options.h"
#include "coordinator/report/compare/compare_formats.h"

namespace iobench {

struct LoadedRuns {
  std::vector<RunToCompare> runs;
  bool damaged = false;  // some phase could not be read; this has been printed
};

// Computes the runs again from their raw data. `redact`: their names are aliases, the same in all of them.
absl::StatusOr<LoadedRuns> LoadRuns(const std::vector<std::string>& directories, bool redact);

// InvalidArgument: a directory is named twice.
absl::Status CheckNoneTwice(const std::vector<std::string>& directories);

CompareSettings ComparisonSettings(const CompareCommand& options);

// Returns the format that the options ask for, if it suits the output that they select.
absl::StatusOr<const CompareFormat*> ComparisonFormat(const CompareCommand& options);

// What the exit code depends on.
struct ComparisonOutcome {
  const v1::Gate* gate = nullptr;  // null: without --fail-under
  bool judges = false;             // any phase
  bool damaged = false;            // as LoadedRuns
};

// Prints the report or writes it into a file, and returns the exit code.
int FinishComparison(const CompareCommand& options, const ComparisonOutcome& outcome,
                     const std::function<absl::Status(const ConsoleStyle& style, std::ostream& out)>& write);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_COMPARISON_H_
