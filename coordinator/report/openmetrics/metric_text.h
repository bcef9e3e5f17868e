// OpenMetrics text (version 1.0, https://openmetrics.io): the names, units and escaping of all metrics of this program,
// for a saved result and while a run lasts.
#ifndef COORDINATOR_REPORT_OPENMETRICS_METRIC_TEXT_H_
#define COORDINATOR_REPORT_OPENMETRICS_METRIC_TEXT_H_

#include <ostream>
#include <string>
#include <string_view>

#include "iobench/v1/result.pb.h"

namespace iobench {

// What a server of this text must send as its Content-Type.
inline constexpr char kOpenMetricsContentType[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// A metric family. The format demands that the name ends in the unit.
struct Metric {
  const char* name;
  const char* type;  // "gauge", "counter", "summary", "histogram" or "info"
  const char* unit;  // "" if it counts things
  const char* help;
};

// The metrics that a run also has while it lasts: of the cluster, and of each client (label "client"). Both have the
// labels of the phase.
inline constexpr Metric kPhaseBytesPerSecond = {"iobench_phase_bytes_per_second", "gauge", "bytes_per_second",
                                                "Throughput of all clients"};
inline constexpr Metric kPhaseOpsPerSecond = {"iobench_phase_ops_per_second", "gauge", "ops_per_second",
                                              "Ops of all clients"};
inline constexpr Metric kClientBytesPerSecond = {"iobench_client_bytes_per_second", "gauge",
                                                 "bytes_per_second", "Throughput of one client"};
inline constexpr Metric kClientOpsPerSecond = {"iobench_client_ops_per_second", "gauge", "ops_per_second",
                                               "Ops of one client"};

// Returns `name="value"` with the value escaped. Control characters other than a line break, and bytes that are not
// UTF-8, become '?'. REQUIRES: `name` consists of letters, digits and underscores.
std::string MetricLabel(std::string_view name, std::string_view value);
// Returns the labels of both, separated by a comma.
std::string JoinLabels(const std::string& a, const std::string& b);

// Writes families one after the other. Borrows the stream; does not flush it. Not thread-safe.
class MetricWriter {
 public:
  explicit MetricWriter(std::ostream& out) : out_(out) {}

  // Begins a family. REQUIRES: it was not begun before; the format has all samples of a family together.
  void Begin(const Metric& metric);
  // Adds a sample to the family; none if the value is not finite, which here means "not known". `suffix`: "_total",
  // "_bucket", "_count", "_sum" or "_info", which belong to the type. REQUIRES: no other sample of the family has the same labels.
  void Add(const std::string& labels, double value, const char* suffix = "");
  // Ends the text. Without this line a reader must treat it as truncated.
  void End();

 private:
  std::ostream& out_;
  std::string name_;
  std::string line_;  // reused from sample to sample
};

// The labels of all samples of a run: "run" and, if it has one, "label". Empty without an id.
std::string RunLabels(const v1::RunInfo& run);
// Writes the family iobench_run_info, whose labels describe the run. Without an id it has no sample.
void WriteRunInfo(const v1::RunInfo& run, MetricWriter& writer);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_OPENMETRICS_METRIC_TEXT_H_
