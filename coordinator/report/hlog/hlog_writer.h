// latency.hlog: the latencies of each phase as an HdrHistogram interval log, which HistogramLogAnalyzer, hdr-plot and
// the HdrHistogram libraries read.
#ifndef COORDINATOR_REPORT_HLOG_HLOG_WRITER_H_
#define COORDINATOR_REPORT_HLOG_HLOG_WRITER_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes one line per phase that has latencies, with the phase's name as its tag and values in ns, and below it one for
// each of its flush calls ("write:fsync"). A line's interval is that of its latencies: without the warm-up, up to the end
// of the last lane. The log is as precise as the measurement: an HdrHistogram with two significant digits has the buckets of
// common/histogram.h. What took over 2^42 ns counts in the last bucket. DataLoss: not everything was written.
// InvalidArgument: a histogram has another layout.
absl::Status WriteHlog(const v1::RunReport& report, std::ostream& out);

// Returns the histogram in HdrHistogram's V2 encoding, compressed and in base64, as a log line has it. InvalidArgument:
// a bucket is out of range.
absl::StatusOr<std::string> HdrHistogramText(const v1::Histogram& histogram);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_HLOG_HLOG_WRITER_H_
