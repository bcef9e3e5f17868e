#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/operation.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/ior/ior_report.h"
#include "coordinator/report/iozone/iozone_time.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr double kMiB = 1024 * 1024;
constexpr double kKiB = 1024;

// IOR's name of what the phase does; empty: IOR does nothing like it.
std::string AccessOf(const v1::PhaseReport& phase) {
  const auto found = FindOperation(phase.operation());
  if (!found.ok() || (*found)->is_metadata() || (*found)->mixes()) return "";
  return (*found)->writes() ? "write" : "read";
}

bool IsRandom(const v1::PhaseReport& phase) {
  const auto found = FindOperation(phase.operation());
  return found.ok() && (*found)->pattern == Pattern::kRandom;
}

std::string ApiOf(const v1::PhaseReport& phase) {
  return absl::AsciiStrToUpper(phase.engine() == "uring" ? "aio" : phase.engine());
}

// "1.20", "-" for an unknown one.
std::string Figure(const char* format, double figure) {
  if (!std::isfinite(figure)) return "-";
  return std::string(format) == "%.2f" ? absl::StrFormat("%.2f", figure) : absl::StrFormat("%.6f", figure);
}

std::string Setting(const std::string& name, const std::string& value) {
  return absl::StrFormat("%-20s: %s\n", name, value);
}

v1::FileLayout FilesOf(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Phase* const planned = PlannedPhase(report.run().plan(), phase);
  return planned == nullptr ? report.run().plan().files() : ShapeOf(report.run().plan(), *planned).files;
}

std::string PathOf(const v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  return plan.targets().empty() ? "" : Printable(plan.targets(0).path());
}

std::string Head(const v1::RunReport& report, const RepeatedPhase& shown) {
  const v1::RunInfo& run = report.run();
  const v1::PhaseReport& phase = shown.first();
  const std::string began = CtimeText(run.started_at(), 0);
  const v1::FileLayout files = FilesOf(report, phase);
  std::string text = absl::StrCat("IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n", Setting("Began", began),
                                  Setting("Command line", Printable(run.command())));
  if (!report.clients().empty()) {
    absl::StrAppend(&text, Setting("Machine", absl::StrCat("Linux ", Printable(report.clients(0).host()))));
  }
  absl::StrAppend(&text, Setting("Measured by", absl::StrCat("cluster-iobench ", Printable(run.program_version()),
                                                            ", run ", Printable(run.id()))),
                  Setting("TestID", "0"), Setting("StartTime", began), Setting("Path", PathOf(report)),
                  Setting("Participating tasks", absl::StrCat(shown.tasks)), "\nOptions: \n",
                  Setting("api", ApiOf(phase)), Setting("test filename", PathOf(report)),
                  Setting("access", files.shared_file() ? "single-shared-file" : "file-per-process"),
                  Setting("type", "independent"), Setting("segments", "1"),
                  Setting("ordering in a file", IsRandom(phase) ? "random" : "sequential"),
                  Setting("nodes", absl::StrCat(phase.clients_size())), Setting("tasks", absl::StrCat(shown.tasks)),
                  Setting("clients per node", absl::StrCat(shown.tasks_per_client)),
                  Setting("repetitions", absl::StrCat(std::max(1u, run.plan().repetitions()))));
  return absl::StrCat(text, Setting("xfersize", FormatBytes(static_cast<double>(phase.record_bytes()))),
                      Setting("blocksize", FormatBytes(static_cast<double>(FileBytesPerLane(phase)))),
                      Setting("aggregate filesize", FormatBytes(static_cast<double>(shown.all_bytes))));
}

std::string ResultRow(const v1::PhaseReport& phase) {
  const auto kib = [](uint64_t bytes) { return absl::StrFormat("%.2f", static_cast<double>(bytes) / kKiB); };
  return absl::StrFormat("%-10s%-10s %-10s %-11s %-10s %-10s %-10s %-10s %-10s %-10s %-4d\n", AccessOf(phase),
                         Figure("%.2f", phase.headline().bytes_per_s() / kMiB),
                         Figure("%.2f", phase.headline().ops_per_s()),
                         Figure("%.6f", phase.latency_us().mean() / 1e6), kib(FileBytesPerLane(phase)),
                         kib(phase.record_bytes()), Figure("%.6f", phase.regions_max_s().open()),
                         Figure("%.6f", phase.regions_max_s().ops()), Figure("%.6f", phase.regions_max_s().close()),
                         Figure("%.6f", phase.duration_s()), phase.repetition());
}

std::string SummaryRow(const v1::RunReport& report, const RepeatedPhase& shown, size_t number) {
  const v1::PhaseReport& phase = shown.first();
  const OverRepetitions &bytes = shown.bytes_per_s, &ops = shown.ops_per_s;
  const v1::FileLayout files = FilesOf(report, phase);
  return absl::StrFormat(
      "%-9s %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.5f %10s %13s %5d %6d %3d %4d %3d %5d %8d %9d %4d %6d "
      "%8d %8d %9.1f %s %6d\n",
      AccessOf(phase), bytes.max / kMiB, bytes.min / kMiB, bytes.mean / kMiB, bytes.stddev / kMiB, ops.max, ops.min,
      ops.mean, ops.stddev, shown.seconds.mean, "NA", "NA", number, shown.tasks, shown.tasks_per_client, bytes.count,
      files.shared_file() ? 0 : 1, phase.rotated() ? 1 : 0, 1, 0, 0, 1, FileBytesPerLane(phase), phase.record_bytes(),
      static_cast<double>(shown.all_bytes) / kMiB, ApiOf(phase), 0);
}

std::string Best(const char* title, const std::string& access, const std::vector<RepeatedPhase>& phases) {
  double best = 0;
  for (const RepeatedPhase& each : phases) {
    if (AccessOf(each.first()) == access) best = std::max(best, each.bytes_per_s.max);
  }
  if (best == 0) return "";
  return absl::StrFormat("%-10s %.2f MiB/sec (%.2f MB/sec)\n", title, best / kMiB, best / 1e6);
}

}  // namespace

std::string EndOf(const v1::RunReport& report) {
  if (report.phases().empty()) return CtimeText(report.run().started_at(), 0);
  const v1::PhaseReport& last = report.phases(report.phases_size() - 1);
  return CtimeText(last.started_at(), last.duration_s());
}

std::string WarningsOf(const RepeatedPhase& phase) {
  std::vector<std::string> doubts;
  const auto add = [&doubts](const std::string& doubt) {
    if (std::find(doubts.begin(), doubts.end(), doubt) == doubts.end()) doubts.push_back(doubt);
  };
  for (const v1::PhaseReport* each : phase.repetitions) {
    if (!each->not_whole().empty()) {
      add(absl::StrCat("repetition ", each->repetition() + 1, " does not count, because it is not whole (",
                       Printable(each->not_whole()), ")"));
    }
    for (const GroupedMark& mark : MarksOf(*each)) add(absl::StrCat("mark ", mark.code));
  }
  std::string text;
  for (const std::string& doubt : doubts)
    absl::StrAppend(&text, "WARNING: ", Printable(phase.first().name()), ": ", doubt, "\n");
  return text;
}

absl::Status WriteIorText(const v1::RunReport& report, std::ostream& out) {
  std::vector<RepeatedPhase> phases = RepeatedPhasesOf(report);
  std::erase_if(phases, [](const RepeatedPhase& phase) { return AccessOf(phase.first()).empty(); });
  if (phases.empty()) {
    return absl::FailedPreconditionError(
        "no phase of this run only reads or only writes records, as IOR's tests do: use -i 0 and -i 1, or another "
        "format");
  }
  out << Head(report, phases.front()) << "\nResults: \n\n"
      << "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   "
         "iter\n"
      << "------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   "
         "----\n";
  for (const RepeatedPhase& phase : phases) {
    for (const v1::PhaseReport* each : phase.repetitions) out << ResultRow(*each);
  }
  out << Best("Max Write:", "write", phases) << Best("Max Read:", "read", phases) << "\nSummary of all tests:\n"
      << "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) "
         "Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize "
         "aggs(MiB)   API RefNum\n";
  size_t number = 0;
  for (const RepeatedPhase& phase : phases) {
    if (phase.bytes_per_s.count > 0) out << SummaryRow(report, phase, number++);
  }
  for (const RepeatedPhase& phase : phases) out << WarningsOf(phase);
  for (const v1::MissingPhase& missing : report.run().missing_phases())
    out << "WARNING: not in this report: " << MissingPhaseText(report, missing) << "\n";
  if (report.run().finished()) out << Setting("Finished", EndOf(report));
  return Flush(out, "IOR");
}

}  // namespace iobench
