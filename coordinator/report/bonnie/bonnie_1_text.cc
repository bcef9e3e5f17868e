// The table of Bonnie 1: name in 8 columns, MB in 4, then K/sec and %CPU of each test. It shows every figure, however short
// the test was, and has none of the tests on names.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/display_text.h"
#include "coordinator/report/bonnie/bonnie_notes.h"
#include "coordinator/report/bonnie/bonnie_report.h"
#include "coordinator/report/bonnie/bonnie_run.h"
#include "coordinator/report/flush_report.h"

namespace iobench {
namespace {

constexpr size_t kNameWidth = 8;
constexpr uint64_t kMegabyte = 1 << 20;

constexpr char kBonnie1Head[] =
    "              -------Sequential Output-------- ---Sequential Input-- --Random--\n"
    "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---\n"
    "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU\n";

std::string Cell(const BonnieMachine& machine, BonnieTest test) {
  const BonnieFigure& figure = machine.Of(test);
  if (figure.state == BonnieFigure::State::kNotRun) return "           ";
  const std::string rate = test == BonnieTest::kSeeks ? absl::StrFormat("%6.1f", figure.ops_per_s)
                                                      : absl::StrFormat("%5d", std::llround(figure.bytes_per_s / 1024));
  const std::string cpu = std::isfinite(figure.cpu_percent) ? absl::StrFormat("%4.1f", figure.cpu_percent) : "    ";
  return absl::StrCat(" ", rate, " ", cpu);
}

std::string Line(const BonnieRun& run, const BonnieMachine& machine) {
  const std::string name = CutAtEnd(Printable(machine.name), kNameWidth);
  std::string line = name + std::string(kNameWidth - std::min(kNameWidth, DisplayColumns(name)), ' ');
  absl::StrAppendFormat(&line, " %4d", run.file_bytes / kMegabyte);
  for (size_t i = 0; i < kBonnieDataTestCount; ++i) line += Cell(machine, static_cast<BonnieTest>(i));
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

absl::Status WriteBonnie1Text(const v1::RunReport& report, std::ostream& out) {
  auto runs = BonnieRunsOf(report);
  if (!runs.ok()) return runs.status();
  std::erase_if(*runs, [](const BonnieRun& run) { return !run.has_data_tests(); });
  if (runs->empty()) {
    return absl::FailedPreconditionError(
        "this run has none of Bonnie's tests: use --suite bonnie, or some of --op putc, write, update, getc, read and "
        "seeks");
  }
  for (const BonnieRun& run : *runs) {
    if (&run != &runs->front()) out << '\n';
    out << kBonnie1Head;
    for (const BonnieMachine& machine : run.machines) out << Line(run, machine);
    out << '\n' << BonnieNotes(report, run, {});
  }
  return Flush(out, "Bonnie");
}

}  // namespace iobench
