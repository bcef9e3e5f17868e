// timeline.csv: throughput over time, long and tidy: one row per phase, client and slice.
#ifndef COORDINATOR_REPORT_TIMELINE_TIMELINE_WRITER_H_
#define COORDINATOR_REPORT_TIMELINE_TIMELINE_WRITER_H_

#include <ostream>
#include <span>

#include "absl/status/status.h"
#include "coordinator/report/text/csv_text.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// In the order of the file.
std::span<const CsvColumn> TimelineCsvColumns();

// Writes the series of PhaseReport.charts. First, with scope "all", those of all clients together; then, with scope
// "client", those of each client. `--help csv` lists the columns. DataLoss: not everything was written.
absl::Status WriteTimelineCsv(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TIMELINE_TIMELINE_WRITER_H_
