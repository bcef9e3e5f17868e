// Report writers. They render the finished RunReport and compute nothing.
#ifndef COORDINATOR_REPORT_REPORT_WRITER_H_
#define COORDINATOR_REPORT_REPORT_WRITER_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  virtual absl::Status Write(const v1::RunReport& report, std::ostream& out) const = 0;
};

struct ConsoleStyle {
  bool color = false;  // use only on a terminal
  size_t width_columns = 100;
};

std::unique_ptr<ReportWriter> MakeConsoleWriter(const ConsoleStyle& style);
std::unique_ptr<ReportWriter> MakeCsvWriter();
std::unique_ptr<ReportWriter> MakeJsonWriter();

// Parts of these reports. They allow a run with any number of phases to be saved and shown as it proceeds, with one
// phase in memory at a time. If a phase is passed separately, `report` need not contain it.

// result.json. WriteJsonPhase writes one element of the list of phases, with the comma before it. WriteJson writes the
// report around the list; `write_phases` writes all elements one after the other. `any_phases`: the list is not empty.
absl::Status WriteJsonPhase(const v1::PhaseReport& phase, bool is_first, std::ostream& out);
absl::Status WriteJson(const v1::RunReport& report, bool any_phases,
                       const std::function<absl::Status(std::ostream&)>& write_phases, std::ostream& out);

// result.csv: the header line, and the rows of one phase.
absl::Status WriteCsvTitles(std::ostream& out);
absl::Status WriteCsvRows(const v1::RunReport& report, const v1::PhaseReport& phase, std::ostream& out);

// Selects the phases that the console shows in full. In a long sweep (console_sweep.h), these are only the phases with
// problems; the footer's tables have the figures of the others.
enum class Pages { kAll, kOfTrouble };
Pages PagesFor(const v1::Plan& plan);

// A phase (empty if it is not shown) and the footer start with an empty line.
std::string ConsolePhase(const v1::RunReport& report, const v1::PhaseReport& phase, const ConsoleStyle& style,
                         Pages pages = Pages::kAll);
std::string ConsoleHeader(const v1::RunReport& report, const ConsoleStyle& style);
// Returns what follows the phases: their table, repetitions, problems and notes. The report's phases may be briefs
// (coordinator/analysis/brief.h).
std::string ConsoleFooter(const v1::RunReport& report, const ConsoleStyle& style);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_REPORT_WRITER_H_
