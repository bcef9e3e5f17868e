#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/display_text.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/ior/ior_report.h"
#include "coordinator/report/iozone/iozone_time.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

struct MdtestRow {
  std::string_view title;
  std::string_view operation;  // empty: there is none here
};
// In mdtest's order. It prints all of them, with 0 for what it was not asked to do.
constexpr MdtestRow kRows[] = {
    {"Directory creation", "mkdir"}, {"Directory stat", ""},    {"Directory removal", "rmdir"},
    {"File creation", "create"},     {"File stat", "stat"},     {"File read", "open-close"},
    {"File removal", "unlink"},      {"Tree creation", ""},     {"Tree removal", ""},
};

std::string Row(const std::string& title, const OverRepetitions& rate) {
  return absl::StrFormat("   %-26s: %14.3f %14.3f %14.3f %14.3f\n", title, rate.max, rate.min, rate.mean, rate.stddev);
}

// "mix of files" becomes "Mix of files".
std::string OwnTitle(const v1::PhaseReport& phase) {
  std::string title = Printable(phase.name());
  if (!title.empty()) title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return CutAtEnd(title, 26);
}

}  // namespace

absl::Status WriteMdtestText(const v1::RunReport& report, std::ostream& out) {
  std::vector<RepeatedPhase> phases = RepeatedPhasesOf(report);
  std::erase_if(phases, [](const RepeatedPhase& phase) { return !phase.first().metadata(); });
  if (phases.empty()) {
    return absl::FailedPreconditionError(
        "this run has no metadata operation, as mdtest's tests are: use --suite metadata, or --op create, stat, "
        "open-close, unlink, mkdir and rmdir");
  }
  const v1::RunInfo& run = report.run();
  const RepeatedPhase& shown = phases.front();
  const std::string began = CtimeText(run.started_at(), 0);
  out << "-- started at " << began << " --\n\nmdtest-3.3.0 was launched with " << shown.tasks << " total task(s) on "
      << shown.first().clients_size() << " node(s)\nCommand line used: " << Printable(run.command())
      << "\nMeasured by: cluster-iobench " << Printable(run.program_version()) << ", run " << Printable(run.id())
      << "\n";
  if (!run.plan().targets().empty()) out << "Path: " << Printable(run.plan().targets(0).path()) << "\n";
  out << "\n"
      << shown.tasks << " tasks, " << TreeText(shown.first().operation(), shown.first().tree()) << "\n\nSUMMARY rate: (of "
      << std::max(1u, run.plan().repetitions())
      << " iterations)\n"
         "   Operation                      Max            Min           Mean        Std Dev\n"
         "   ---------                      ---            ---           ----        -------\n";
  std::vector<const RepeatedPhase*> rest;
  for (const RepeatedPhase& phase : phases) rest.push_back(&phase);
  for (const MdtestRow& row : kRows) {
    const auto found = std::find_if(rest.begin(), rest.end(), [&](const RepeatedPhase* phase) {
      return phase->first().operation() == row.operation;
    });
    out << Row(std::string(row.title), found == rest.end() ? OverRepetitions() : (*found)->ops_per_s);
    if (found != rest.end()) rest.erase(found);
  }
  for (const RepeatedPhase* phase : rest) out << Row(OwnTitle(phase->first()), phase->ops_per_s);
  for (const RepeatedPhase& phase : phases) out << WarningsOf(phase);
  for (const v1::MissingPhase& missing : run.missing_phases())
    out << "WARNING: not in this report: " << MissingPhaseText(report, missing) << "\n";
  out << (run.finished() ? absl::StrCat("-- finished at ", EndOf(report), " --\n") : "-- not finished --\n");
  return Flush(out, "mdtest");
}

}  // namespace iobench
