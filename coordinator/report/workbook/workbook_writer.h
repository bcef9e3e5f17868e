// report.xlsx: the result as a workbook for spreadsheet programs.
#ifndef COORDINATOR_REPORT_WORKBOOK_WORKBOOK_WRITER_H_
#define COORDINATOR_REPORT_WORKBOOK_WORKBOOK_WRITER_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// OK if this build can write workbooks; otherwise FailedPrecondition, which says how to get a build that can.
absl::Status WorkbookIsBuilt();

// Writes an Office Open XML workbook. docs/reports.md describes its sheets. Numbers are numbers, as in result.json, and
// a figure that is not known is an empty cell; external names are always text. Equal reports give equal files.
// DataLoss: not everything was written. FailedPrecondition: see WorkbookIsBuilt.
absl::Status WriteWorkbook(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_WORKBOOK_WORKBOOK_WRITER_H_
