// A run in IOzone's text formats.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_REPORT_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_REPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes the whole report (--format iozone): banner, figures, with -R the Excel text, doubts, and the closing line. A run with
// a single lane has the table of automatic mode, all others have the lines of throughput mode (HasTable). Flushes. DataLoss: not
// everything could be written.
absl::Status WriteIozoneReport(const v1::RunReport& report, std::ostream& out);

// Writes the report without its doubts, as IOzone's does: some programs take every line between heading and closing line for
// figures. Errors as above.
absl::Status WriteIozoneFigures(const v1::RunReport& report, std::ostream& out);

// Returns what puts the figures in doubt, which IOzone has no place for: errors, and marks with the number of their phases.
// Empty: nothing.
std::string IozoneDoubts(const v1::RunReport& report);

// Writes only what -R adds. Errors as above.
absl::Status WriteIozoneExcel(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_REPORT_H_
