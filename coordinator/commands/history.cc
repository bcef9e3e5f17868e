#include "coordinator/commands/history.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/version.h"
#include "coordinator/analysis/compare/history.h"
#include "coordinator/commands/comparison.h"
#include "coordinator/files/files.h"
#include "coordinator/process/failure.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/saved_run/run_names.h"

namespace iobench {
namespace {

// A directory with runs in its subdirectories stands for these.
absl::StatusOr<std::vector<std::string>> Expanded(const std::vector<std::string>& directories) {
  std::vector<std::string> expanded;
  for (const std::string& directory : directories) {
    if (files::Exists(RawRunPath(directory))) {
      expanded.push_back(directory);
      continue;
    }
    std::vector<std::string> found;
    const std::vector<std::string> names = files::NamesIn(directory);
    const int error = errno;
    for (const std::string& name : names) {
      std::string run = (std::filesystem::path(directory) / name).string();
      if (files::Exists(RawRunPath(run))) found.push_back(std::move(run));
    }
    if (found.empty()) {
      return absl::NotFoundError(absl::StrCat("\"", directory,
                                              "\" holds no results of a run, nor do its subdirectories",
                                              error != 0 ? absl::StrCat(" (", std::generic_category().message(error), ")") : "",
                                              ": name directories that --out named, or one above them"));
    }
    std::sort(found.begin(), found.end());
    expanded.insert(expanded.end(), found.begin(), found.end());
  }
  return expanded;
}

}  // namespace

int PrintHistory(const CompareCommand& options) {
  const absl::StatusOr<const CompareFormat*> format = ComparisonFormat(options);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  const absl::StatusOr<std::vector<std::string>> runs = RunsNamed(options.directories, SIZE_MAX);
  if (!runs.ok()) return Fail(runs.status(), kExitUsage);
  absl::StatusOr<std::vector<std::string>> directories = Expanded(*runs);
  if (!directories.ok()) return Fail(directories.status(), kExitUsage);
  const absl::Status distinct = CheckNoneTwice(*directories);
  if (!distinct.ok()) return Fail(distinct, kExitUsage);
  if (directories->size() < 2) {
    return Fail(absl::InvalidArgumentError("a history needs at least two results"), kExitUsage);
  }
  absl::StatusOr<LoadedRuns> loaded = LoadRuns(*directories, options.redact);
  if (!loaded.ok()) return Fail(loaded.status(), kExitUsage);
  v1::HistoryReport report = HistoryOf(std::move(loaded->runs), ComparisonSettings(options));
  report.set_program_version(kProgramVersion);
  return FinishComparison(options, {.gate = report.has_gate() ? &report.gate() : nullptr,
                                     .judges = report.phases_size() > 0,
                                     .damaged = loaded->damaged},
                          [&](const ConsoleStyle& style, std::ostream& out) {
                            return (*format)->write_history(report, style, out);
                          });
}

}  // namespace iobench
