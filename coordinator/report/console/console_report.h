// The report on the console. It renders the finished RunReport and computes nothing.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_REPORT_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_REPORT_H_

#include <cstddef>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "common/text/terminal_width.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// How much of a phase and of the header is shown. kBrief: the answer, and what a reader needs to trust or doubt it.
// kFull (--verbose): also everything that explains it.
enum class Detail { kBrief, kFull };

// The style of the whole report. The width is that of files; StyleOf (coordinator/live/display.h) has the terminal's.
struct ConsoleStyle {
  bool color = false;  // use only on a terminal
  size_t width_columns = kPipedColumns;
  Detail detail = Detail::kFull;
};

// Writes a whole report (console_writer.cc). DataLoss: not everything could be written.
absl::Status WriteConsole(const v1::RunReport& report, const ConsoleStyle& style, std::ostream& out);

// Its parts. They allow a run with any number of phases to be shown as it proceeds, with one phase in memory at a time:
// `report` need not contain the phase that is passed.

// Selects the phases that the console shows in full. In a long sweep (console_sweep.h), these are only the phases with
// problems; the footer's tables have the figures of the others. The same holds for repetitions, unless all details are
// asked for. In a soak, only the errors of phases are shown, and a line for each round follows its last phase.
enum class Pages { kAll, kOfTrouble, kRepeated, kRounds };
Pages PagesFor(const v1::Plan& plan);

// A phase (console_phase.cc; empty if it is not shown) and the footer start with an empty line.
std::string ConsolePhase(const v1::RunReport& report, const v1::PhaseReport& phase, const ConsoleStyle& style,
                         Pages pages = Pages::kAll);
// Returns what precedes the phases (console_header.cc): the run, its clients and targets, and its files and data.
std::string ConsoleHeader(const v1::RunReport& report, const ConsoleStyle& style);
// Returns the answer (console_writer.cc): the verdict, the table of all phases, their marks, problems and notes. It follows
// the phases of a run that is shown as it proceeds, and precedes those of a finished one. The report's phases may be briefs
// (coordinator/analysis/brief.h).
std::string ConsoleFooter(const v1::RunReport& report, const ConsoleStyle& style);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_REPORT_H_
