#include "coordinator/commands/comparison.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/files/files.h"
#include "coordinator/live/display.h"
#include "coordinator/process/failure.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/saved_run/redact.h"
#include "coordinator/saved_run/whole_report.h"

namespace iobench {
namespace {

int ExitOfGate(const v1::Gate& gate, uint32_t inconclusive_exit) {
  if (gate.below() > 0) return kExitThreshold;
  return gate.inconclusive() > 0 ? static_cast<int>(inconclusive_exit) : kExitOk;
}

}  // namespace

absl::StatusOr<LoadedRuns> LoadRuns(const std::vector<std::string>& directories, bool redact) {
  LoadedRuns loaded;
  Redaction redaction;
  for (const std::string& directory : directories) {
    IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(directory));
    v1::RunReport report = WholeReport(saved, {.charts = Charts::kFilledIn, .digests = false});
    std::string name = directory;
    if (redact) {
      redaction.Learn(report);
      redaction.Learn(saved.run());
      redaction.Redact(report);
      name = absl::StrCat("run-", loaded.runs.size() + 1);
    }
    loaded.runs.push_back(RunToCompareFrom(name, std::move(report)));
    for (const std::string& warning : saved.warnings()) PrintError(warning);
    loaded.damaged |= !saved.warnings().empty();
  }
  return loaded;
}

absl::Status CheckNoneTwice(const std::vector<std::string>& directories) {
  for (size_t i = 0; i < directories.size(); ++i) {
    for (size_t j = i + 1; j < directories.size(); ++j) {
      const auto one = files::Stat(directories[i]), other = files::Stat(directories[j]);
      if (!one.has_value() || !other.has_value() || one->st_dev != other->st_dev || one->st_ino != other->st_ino) continue;
      return absl::InvalidArgumentError(absl::StrCat("\"", directories[i], "\" and \"", directories[j],
                                                     "\" are the same directory: name each run once"));
    }
  }
  return absl::OkStatus();
}

CompareSettings ComparisonSettings(const CompareCommand& options) {
  CompareSettings settings{.level = options.level_percent / 100,
                           .margin = options.margin_percent / 100,
                           .by_name = options.pair == "by-name",
                           .fail_under = {}};
  if (options.fail_under_percent > 0) settings.fail_under = options.fail_under_percent / 100;
  return settings;
}

absl::StatusOr<const CompareFormat*> ComparisonFormat(const CompareCommand& options) {
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

int FinishComparison(const CompareCommand& options, const ComparisonOutcome& outcome,
                     const std::function<absl::Status(const ConsoleStyle& style, std::ostream& out)>& write) {
  // A gate without a single phase must not pass.
  const bool judged = outcome.gate == nullptr || outcome.judges;
  int exit_code = outcome.gate == nullptr ? kExitOk : ExitOfGate(*outcome.gate, options.inconclusive_exit);
  if (!judged) exit_code = kExitUsage;
  if (outcome.damaged) exit_code = kExitIo;
  if (options.output.empty()) {
    const absl::Status written = write(StyleOf(Stdout::kOurs, /*verbose=*/false), std::cout);
    if (!written.ok() && !absl::IsDataLoss(written)) return Fail(written, kExitUsage);
  } else {
    const absl::Status written =
        WriteFileAtomically(options.output, [&](std::ostream& out) { return write(ConsoleStyle{}, out); });
    if (!written.ok()) return Fail(written, kExitIo);
    std::cout << "wrote " << options.output << std::endl;
  }
  if (!judged) PrintError("--fail-under: no phase of these runs can be judged; the report says why");
  return ExitOfPrinting(exit_code, kExitIo);
}

}  // namespace iobench
