// A report renders the finished message and computes nothing.
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
  bool color = false;  // only on a terminal
  size_t width_columns = 100;
};

std::unique_ptr<ReportWriter> MakeConsoleWriter(const ConsoleStyle& style);
std::unique_ptr<ReportWriter> MakeCsvWriter();
std::unique_ptr<ReportWriter> MakeJsonWriter();

// The pieces of those reports, so that a run of any number of phases is saved and shown as it goes, with one phase in
// memory at a time. `report` may lack its phases where one is given beside it.

// result.json: an element of the list of phases, with the comma before it; and the report around the list, for which
// `write_phases` gives all elements, one after the other. `any_phases`: there are some.
absl::Status WriteJsonPhase(const v1::PhaseReport& phase, bool is_first, std::ostream& out);
absl::Status WriteJson(const v1::RunReport& report, bool any_phases,
                       const std::function<absl::Status(std::ostream&)>& write_phases, std::ostream& out);

// result.csv: the first line, and the rows of one phase.
absl::Status WriteCsvTitles(std::ostream& out);
absl::Status WriteCsvRows(const v1::RunReport& report, const v1::PhaseReport& phase, std::ostream& out);

// Which phases the console shows one by one. Of a long sweep (console_sweep.h) only those in which something went
// wrong: the figures of the others stand in the footer's tables.
enum class Pages { kAll, kOfTrouble };
Pages PagesFor(const v1::Plan& plan);

// A phase (nothing where it has no page) and the footer begin with an empty line.
std::string ConsolePhase(const v1::RunReport& report, const v1::PhaseReport& phase, const ConsoleStyle& style,
                         Pages pages = Pages::kAll);
std::string ConsoleHeader(const v1::RunReport& report, const ConsoleStyle& style);
// What stands after the phases: a table of them, repetitions, problems, notes. The report's phases may be briefs
// (coordinator/analysis/brief.h).
std::string ConsoleFooter(const v1::RunReport& report, const ConsoleStyle& style);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_REPORT_WRITER_H_
