#include "coordinator/commands/compare.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/version.h"
#include "coordinator/analysis/compare/compare_runs.h"
#include "coordinator/analysis/compare/history.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/compare/compare_formats.h"
#include "coordinator/report/result_store.h"
#include "coordinator/live/display.h"
#include "coordinator/process/failure.h"
#include "coordinator/saved_run/whole_report.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

struct LoadedRuns {
  std::vector<RunToCompare> runs;
  bool damaged = false;  // some phase could not be read; this has been printed
};

absl::StatusOr<LoadedRuns> Load(const std::vector<std::string>& directories) {
  LoadedRuns loaded;
  for (const std::string& directory : directories) {
    IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(directory));
    loaded.runs.push_back(
        RunToCompareFrom(directory, WholeReport(saved, {.charts = Charts::kFilledIn, .digests = false})));
    for (const std::string& warning : saved.warnings()) PrintError(warning);
    loaded.damaged |= !saved.warnings().empty();
  }
  return loaded;
}

absl::Status CheckNoneTwice(const std::vector<std::string>& directories) {
  for (size_t i = 0; i < directories.size(); ++i) {
    for (size_t j = i + 1; j < directories.size(); ++j) {
      std::error_code error;
      if (!fs::equivalent(directories[i], directories[j], error)) continue;
      return absl::InvalidArgumentError(absl::StrCat("\"", directories[i], "\" and \"", directories[j],
                                                     "\" are the same directory: name each run once"));
    }
  }
  return absl::OkStatus();
}

CompareSettings SettingsFrom(const CompareCommand& options) {
  CompareSettings settings{
      .level = options.level_percent / 100, .margin = options.margin_percent / 100, .fail_under = {}};
  if (options.fail_under_percent > 0) settings.fail_under = options.fail_under_percent / 100;
  return settings;
}

// The format that the options ask for, if it suits the output that they select.
absl::StatusOr<const CompareFormat*> FormatOf(const CompareCommand& options) {
  absl::StatusOr<const CompareFormat*> format = CompareFormatNamed(options.format);
  if (!format.ok()) return format;
  const bool on_terminal = options.output.empty() && ::isatty(STDOUT_FILENO) != 0;
  if ((*format)->content == CompareFormat::Content::kBinary && on_terminal) {
    return absl::InvalidArgumentError(
        absl::StrCat("--format ", options.format, " is not for a terminal: name a file with --output"));
  }
  // Before the runs are read and compared, not after it.
  if (!options.output.empty()) IOBENCH_RETURN_IF_ERROR(CheckOutputFile(options.output, options.replace));
  return format;
}

// A gate without a single phase must not pass.
template <typename Report>
absl::Status CheckJudged(const Report& report) {
  if (!report.has_gate() || report.phases_size() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--fail-under: no phase of these runs can be judged; the report says why");
}

int ExitOfGate(const v1::Gate& gate, uint32_t inconclusive_exit) {
  if (gate.below() > 0) return kExitThreshold;
  return gate.inconclusive() > 0 ? static_cast<int>(inconclusive_exit) : kExitOk;
}

// Prints the report or writes it into a file, and returns the exit code.
template <typename Report>
int Finish(const CompareCommand& options, const Report& report, bool damaged,
           const std::function<absl::Status(std::ostream& out)>& write) {
  const absl::Status judged = CheckJudged(report);
  int exit_code = report.has_gate() ? ExitOfGate(report.gate(), options.inconclusive_exit) : kExitOk;
  if (!judged.ok()) exit_code = kExitUsage;
  if (damaged) exit_code = kExitIo;
  if (options.output.empty()) {
    const absl::Status written = write(std::cout);
    if (!written.ok() && !absl::IsDataLoss(written)) return Fail(written, kExitUsage);
  } else {
    const absl::Status written = WriteFileAtomically(options.output, write);
    if (!written.ok()) return Fail(written, kExitIo);
    std::cout << "wrote " << options.output << std::endl;
  }
  if (!judged.ok()) PrintError(std::string(judged.message()));
  return ExitOfPrinting(exit_code, kExitIo);
}

// A directory with runs in its subdirectories stands for these.
absl::StatusOr<std::vector<std::string>> Expanded(const std::vector<std::string>& directories) {
  std::vector<std::string> expanded;
  for (const std::string& directory : directories) {
    std::error_code error;
    if (fs::exists(fs::path(directory) / "raw" / "run.pb", error)) {
      expanded.push_back(directory);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      std::error_code ignored;
      if (fs::exists(entry.path() / "raw" / "run.pb", ignored)) found.push_back(entry.path().string());
    }
    if (found.empty()) {
      return absl::NotFoundError(absl::StrCat("\"", directory,
                                              "\" holds no results of a run, nor do its subdirectories",
                                              error ? absl::StrCat(" (", error.message(), ")") : ""));
    }
    std::sort(found.begin(), found.end());
    expanded.insert(expanded.end(), found.begin(), found.end());
  }
  return expanded;
}

}  // namespace

int CompareSavedRuns(const CompareCommand& options) {
  const absl::StatusOr<const CompareFormat*> format = FormatOf(options);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  const absl::Status distinct = CheckNoneTwice(options.directories);
  if (!distinct.ok()) return Fail(distinct, kExitUsage);
  const bool single = options.directories.size() == 1;
  if (single && options.fail_under_percent > 0) {
    return Fail(
        absl::InvalidArgumentError("--fail-under needs a baseline: name two results, the baseline first"),
        kExitUsage);
  }
  absl::StatusOr<LoadedRuns> loaded = Load(options.directories);
  if (!loaded.ok()) return Fail(loaded.status(), kExitUsage);
  v1::CompareReport report = CompareRuns(loaded->runs, SettingsFrom(options));
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
  return Finish(options, report, loaded->damaged, [&](std::ostream& out) {
    return (*format)->write_comparison(
        report, options.output.empty() ? StyleOf(Stdout::kOurs, /*verbose=*/false) : ConsoleStyle{}, out);
  });
}

int PrintHistory(const CompareCommand& options) {
  const absl::StatusOr<const CompareFormat*> format = FormatOf(options);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  absl::StatusOr<std::vector<std::string>> directories = Expanded(options.directories);
  if (!directories.ok()) return Fail(directories.status(), kExitUsage);
  const absl::Status distinct = CheckNoneTwice(*directories);
  if (!distinct.ok()) return Fail(distinct, kExitUsage);
  if (directories->size() < 2) {
    return Fail(absl::InvalidArgumentError("a history needs at least two results"), kExitUsage);
  }
  absl::StatusOr<LoadedRuns> loaded = Load(*directories);
  if (!loaded.ok()) return Fail(loaded.status(), kExitUsage);
  v1::HistoryReport report = HistoryOf(std::move(loaded->runs), SettingsFrom(options));
  report.set_program_version(kProgramVersion);
  return Finish(options, report, loaded->damaged, [&](std::ostream& out) {
    return (*format)->write_history(
        report, options.output.empty() ? StyleOf(Stdout::kOurs, /*verbose=*/false) : ConsoleStyle{}, out);
  });
}

}  // namespace iobench
