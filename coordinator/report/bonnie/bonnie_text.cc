// Bonnie++ 2.00a's text: a column of 19 for name and size, then six of 9 (a rate of 5, CPU of 3), all one space apart.
// The latencies are two columns further left, as in Bonnie++.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/bonnie/bonnie_cells.h"
#include "coordinator/report/bonnie/bonnie_notes.h"
#include "coordinator/report/bonnie/bonnie_report.h"
#include "coordinator/report/bonnie/bonnie_run.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr size_t kNameColumns = 19;
constexpr size_t kMinNameColumns = 3;  // a shorter part of a name says nothing
constexpr size_t kTestsPerBlock = 6;
constexpr uint64_t kDefaultChunkBytes = 8192;
constexpr uint64_t kDefaultSeeks = 8192;
constexpr uint32_t kDefaultSeekers = 5;

constexpr char kDataHead[] =
    "Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-\n"
    "                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
    "Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n";
constexpr char kItemsHead[] =
    "Version 2.00a       ------Sequential Create------ --------Random Create--------\n";
constexpr char kItemsTitles[] = " -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n";
constexpr char kItemsUnits[] = "  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n";

std::string Padded(std::string text, size_t columns) {
  text.append(columns - std::min(columns, DisplayColumns(text)), ' ');
  return text;
}

std::string RightAligned(const std::string& text, size_t columns) {
  return std::string(columns - std::min(columns, DisplayColumns(text)), ' ') + text;
}

// Returns a line without the spaces that tests which were not run leave at its end.
std::string Line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

// Returns the name and, right-aligned, `what`; the name is cut, or left out, if they do not fit.
std::string NameAnd(const std::string& name, const std::string& what) {
  if (name.empty() || what.size() + 1 + kMinNameColumns > kNameColumns) return RightAligned(what, kNameColumns);
  const size_t for_name = kNameColumns - what.size() - 1;
  return Padded(CutAtEnd(Printable(name), for_name), for_name) + ' ' + what;
}

// Returns as many parts of a name's field as fit, from the first. The CSV has them all.
std::string Fitting(std::string parts) {
  while (parts.size() > kNameColumns) {
    const size_t last = parts.find_last_of(":/");
    if (last == std::string::npos) break;
    parts.erase(last);
  }
  return parts;
}

// Returns size:chunk:concurrency:seeks:seekers without Bonnie++'s defaults, which it leaves empty. If the seeks do not
// divide evenly among the seekers, each one's share is rounded down.
std::string FileField(const BonnieRun& run, const BonnieMachine& machine) {
  const uint32_t seekers = std::max(1u, run.seeker_count);
  const bool has_seeks = run.seek_count > 0;
  const bool default_seeks = run.seek_count / seekers == kDefaultSeeks / seekers;
  const std::string parts[] = {
      BonnieSize(run.file_bytes), run.chunk_bytes == kDefaultChunkBytes ? "" : ShortSize(run.chunk_bytes),
      machine.worker_count <= 1 ? "" : absl::StrCat(machine.worker_count),
      has_seeks && !default_seeks ? absl::StrCat(run.seek_count) : "",
      has_seeks && run.seeker_count != kDefaultSeekers ? absl::StrCat(run.seeker_count) : ""};
  std::string text = absl::StrJoin(parts, ":");
  text = Fitting(std::move(text));
  text.erase(text.find_last_not_of(':') + 1);
  return text;
}

// Returns files:max:min/directories.
std::string ItemsField(const BonnieRun& run) {
  std::string text = BonnieItems(run.item_count);
  if (run.max_item_bytes > 0) absl::StrAppend(&text, ":", run.max_item_bytes);
  if (run.min_item_bytes > 0) absl::StrAppend(&text, ":", run.min_item_bytes);
  if (run.directory_count > 0) absl::StrAppend(&text, "/", run.directory_count);
  return Fitting(std::move(text));
}

std::string ItemsTitle(const BonnieRun& run) {
  if (run.max_item_bytes == 0) return RightAligned("files", kNameColumns);
  return Padded(run.min_item_bytes > 0 ? "files:max:min" : "files:max", kNameColumns);
}

// Returns two lines: rates with CPU, and latencies. `first`: the first of their six tests.
std::string MachineLines(const std::string& left, const BonnieMachine& machine, size_t first) {
  std::string rates = left, latencies = "Latency          ";
  for (size_t i = first; i < first + kTestsPerBlock; ++i) {
    absl::StrAppend(&rates, absl::StrFormat(" %5s %3s", BonnieShortRate(machine, static_cast<BonnieTest>(i)),
                                            BonnieCpu(machine.figures[i])));
    absl::StrAppend(&latencies, absl::StrFormat(" %9s", BonnieLatency(machine.figures[i])));
  }
  return Line(rates) + Line(latencies);
}

std::string DataBlock(const BonnieRun& run) {
  std::string text = kDataHead;
  for (const BonnieMachine& machine : run.machines) {
    text += MachineLines(NameAnd(machine.name, FileField(run, machine)), machine, 0);
  }
  return text;
}

// Bonnie++ has the name in the titles. With several machines, each line needs its own.
std::string ItemsBlock(const BonnieRun& run) {
  const bool several = run.machines.size() > 1;
  const std::string name = several ? "" : CutAtEnd(Printable(run.machines[0].name), kNameColumns);
  std::string text =
      absl::StrCat(kItemsHead, Padded(name, kNameColumns), kItemsTitles, ItemsTitle(run), kItemsUnits);
  for (const BonnieMachine& machine : run.machines) {
    text +=
        MachineLines(NameAnd(several ? machine.name : "", ItemsField(run)), machine, kBonnieDataTestCount);
  }
  return text;
}

bool AnyTooShort(const BonnieRun& run) {
  for (const BonnieMachine& machine : run.machines) {
    for (const BonnieFigure& figure : machine.figures) {
      if (figure.state == BonnieFigure::State::kTooShort) return true;
    }
  }
  return false;
}

// Returns what a character test covered. Bonnie and Bonnie++ up to 1.03 use stdio, Bonnie++ since 1.92 system calls.
std::string CharactersText(const char* of_stdio, const char* of_system, const v1::PhaseReport& phase) {
  const std::string covered = FormatBytes(static_cast<double>(FileBytesPerLane(phase)));
  if (phase.record_bytes() == 1)
    return absl::StrCat("Per Chr: ", of_system, " of each byte of ", covered, ".");
  return absl::StrCat("Per Chr: ", of_stdio, " of ", covered, "; its latency is that of ",
                      FormatBytes(static_cast<double>(phase.record_bytes())), ". Bonnie++ 2.00a calls ",
                      of_system, " for each byte.");
}

// What a reader of Bonnie++'s columns must know.
std::vector<std::string> NotesOn(const BonnieRun& run) {
  std::vector<std::string> notes;
  for (const BonnieTest test : {BonnieTest::kPutc, BonnieTest::kGetc}) {
    const v1::PhaseReport* const phase = run.PhaseOf(test);
    if (phase == nullptr) continue;
    notes.push_back(CharactersText(test == BonnieTest::kPutc ? "putc()" : "getc()",
                                   test == BonnieTest::kPutc ? "write()" : "read()", *phase));
  }
  if (AnyTooShort(run)) {
    notes.push_back("+++++: measured for less than 0.5 s. `--format csv` has the figure.");
  }
  return notes;
}

}  // namespace

absl::Status WriteBonnieText(const v1::RunReport& report, std::ostream& out) {
  const auto runs = BonnieRunsOf(report);
  if (!runs.ok()) return runs.status();
  for (const BonnieRun& run : *runs) {
    if (&run != &runs->front()) out << '\n';
    if (run.has_data_tests()) out << DataBlock(run);
    if (run.has_item_tests()) out << ItemsBlock(run);
    out << '\n' << BonnieNotes(report, run, NotesOn(run));
  }
  return Flush(out, "Bonnie++");
}

}  // namespace iobench
