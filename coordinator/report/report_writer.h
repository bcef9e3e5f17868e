// A report renders the finished message and computes nothing.
#ifndef COORDINATOR_REPORT_REPORT_WRITER_H_
#define COORDINATOR_REPORT_REPORT_WRITER_H_

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

// The console's text of one phase, for printing as the run goes; the whole report is made of the same pieces, one after
// the other. A phase and the footer begin with an empty line. Of a long sweep (console_sweep.h) a phase is nothing
// unless something went wrong in it: its figures stand in the footer's tables.
std::string ConsolePhase(const v1::RunReport& report, const v1::PhaseReport& phase,
                         const ConsoleStyle& style);
std::string ConsoleHeader(const v1::RunReport& report, const ConsoleStyle& style);
// What stands after the phases: repetitions, problems, notes.
std::string ConsoleFooter(const v1::RunReport& report, const ConsoleStyle& style);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_REPORT_WRITER_H_
