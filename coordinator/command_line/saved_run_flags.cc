#include "coordinator/command_line/saved_run_flags.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "coordinator/command_line/cluster_flags.h"
#include "coordinator/command_line/option_adder.h"
#include "coordinator/option/format_names.h"

namespace iobench {
namespace {

std::vector<std::string> CompareFormatChoices() {
  return {std::begin(kCompareFormatNames), std::end(kCompareFormatNames)};
}

void AddComparison(CLI::App& command, CompareOptions& options, const char* fail_under_help) {
  command.add_option("--format", options.format, "output format (default: text)")
      ->type_name(absl::StrJoin(CompareFormatChoices(), "|"))
      ->check(CLI::IsMember(CompareFormatChoices()).description(""))
      ->allow_extra_args(false);
  command
      .add_option("--level", options.level_percent,
                  "confidence level of intervals and verdicts in % (default 95)")
      ->type_name("PCT")
      ->check(InRange(50.0, 99.99))
      ->allow_extra_args(false);
  command.add_option("--fail-under", options.fail_under_percent, fail_under_help)
      ->type_name("PCT")
      ->check(InRange(0.1, 1000.0))
      ->allow_extra_args(false);
  command
      .add_option("--margin", options.margin_percent,
                  "call equal what is shown to differ by at most this many % (default 5)")
      ->type_name("PCT")
      ->check(InRange(0.01, 99.0))
      ->allow_extra_args(false);
  command
      .add_option("--inconclusive", options.inconclusive_exit,
                  "exit code if --fail-under is neither shown to be missed nor to be reached (default 4; 0 to accept it)")
      ->type_name("CODE")
      ->transform(WholeInRange(0, 125))
      ->allow_extra_args(false);
  command.add_option("--output", options.output, "write to FILE, instead of standard output")
      ->type_name("FILE")
      ->allow_extra_args(false);
  AddFlag(command, "--force", options.replace, "replace FILE if it exists");
  command.footer(
      "docs/comparing.md defines the figures. Exit codes: 0 ok, 1 bad usage or nothing to compare, 2 a phase is "
      "damaged, 4 below --fail-under, or not shown to reach it (--inconclusive).");
}

}  // namespace

CLI::App* AddReportCommand(CLI::App& app, ReportOptions& options) {
  CLI::App* const report =
      app.add_subcommand("report", "print the report of a saved run again, recomputed from its raw data");
  report->add_option("DIR", options.directory, "directory with the run's results")->required();
  report->add_option("--format", options.format, "write the report in this format instead of the console's")
      ->type_name(absl::StrJoin(FormatChoices(), "|"))
      ->check(CLI::IsMember(FormatChoices()).description(""));
  report->add_option("--output", options.output, "write to FILE, instead of standard output")
      ->type_name("FILE");
  AddFlag(*report, "--verbose", options.verbose, "print the console's report in full detail");
  AddFlag(*report, "--force", options.replace, "replace FILE if it exists");
  AddFlag(*report, "--redact", options.redact,
          "replace hosts, addresses, paths, mount sources and user names with aliases");
  AddFlag(
      *report, "--verify", options.verify,
      "print no report, but check that raw files, plan and figures are unchanged since the run; exit "
      "with 2 if not");
  return report;
}

CLI::App* AddCompareCommand(CLI::App& app, CompareOptions& options) {
  CLI::App* const compare = app.add_subcommand(
      "compare",
      "compare saved runs with the first one, or the repetitions of a single run: ratios and verdicts");
  compare
      ->add_option("DIR", options.directories,
                   "directories with results: the baseline, then the runs to compare with it")
      ->required();
  AddComparison(*compare, options, "exit with 4 if a phase is significantly below PCT % of the baseline");
  return compare;
}

CLI::App* AddHistoryCommand(CLI::App& app, CompareOptions& options) {
  CLI::App* const history =
      app.add_subcommand("history", "show how saved runs of one plan changed over time: trends and changes");
  history
      ->add_option("DIR", options.directories,
                   "directories with results, or directories that contain such directories")
      ->required();
  AddComparison(*history, options,
                "exit with 4 if the latest change lowered a phase to below PCT % of its previous level");
  return history;
}

absl::Status TakeReport(CommandLine& line) {
  line.command = Command::kReport;
  const ReportOptions& report = line.report;
  if (!report.verify || (report.format.empty() && report.output.empty() && !report.redact))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--verify checks the saved run and writes no report: it cannot be combined with --format, --output or --redact");
}

}  // namespace iobench
