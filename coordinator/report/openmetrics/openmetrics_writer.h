// metrics.txt: a finished result as OpenMetrics text, for dashboards and stores of metrics.
#ifndef COORDINATOR_REPORT_OPENMETRICS_OPENMETRICS_WRITER_H_
#define COORDINATOR_REPORT_OPENMETRICS_OPENMETRICS_WRITER_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes every phase's and every client's figures in base units (bytes, seconds, ratios), without time stamps. A figure
// that is not known has no sample. DataLoss: not everything was written.
absl::Status WriteOpenMetrics(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_OPENMETRICS_OPENMETRICS_WRITER_H_
