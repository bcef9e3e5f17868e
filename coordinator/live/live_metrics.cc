#include "coordinator/live/live_metrics.h"

#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/report/openmetrics/metric_text.h"

namespace iobench {
namespace {

struct LiveMetric {
  Metric of_cluster;
  Metric of_client;
  const char* suffix;  // of the samples: counters end in _total
  double (*value)(const LiveRow&);
};

constexpr LiveMetric kLiveMetrics[] = {
    {kPhaseBytesPerSecond, kClientBytesPerSecond, "", [](const LiveRow& row) { return row.bytes_per_s; }},
    {kPhaseOpsPerSecond, kClientOpsPerSecond, "", [](const LiveRow& row) { return row.ops_per_s; }},
    {{"iobench_phase_bytes", "counter", "bytes", "Bytes moved in the phase"},
     {"iobench_client_bytes", "counter", "bytes", "Bytes that one client moved in the phase"},
     "_total",
     [](const LiveRow& row) { return static_cast<double>(row.bytes); }},
    {{"iobench_phase_ops", "counter", "", "Ops done in the phase"},
     {"iobench_client_ops", "counter", "", "Ops that one client did in the phase"},
     "_total",
     [](const LiveRow& row) { return static_cast<double>(row.ops); }},
    {{"iobench_phase_lanes_running", "gauge", "", "Lanes that have not ended"},
     {"iobench_client_lanes_running", "gauge", "", "Lanes of one client that have not ended"},
     "",
     [](const LiveRow& row) { return static_cast<double>(row.lanes_running); }},
    {{"iobench_run_workers_lost", "gauge", "", "Workers lost in the run"},
     {"iobench_client_workers_lost", "gauge", "", "Workers of one client lost in the phase"},
     "",
     [](const LiveRow& row) { return static_cast<double>(row.workers_lost); }},
};

// Quantile 1 is the max.
constexpr std::pair<const char*, double LiveLatency::*> kLiveQuantiles[] = {
    {"0.5", &LiveLatency::p50_us}, {"0.99", &LiveLatency::p99_us}, {"1", &LiveLatency::max_us}};

void AddLiveLatency(const std::string& labels, const LiveLatency& latency, MetricWriter& writer) {
  for (const auto& [quantile, value_us] : kLiveQuantiles) {
    writer.Add(JoinLabels(labels, MetricLabel("quantile", quantile)), latency.*value_us / 1e6);
  }
}

}  // namespace

std::string LiveMetrics(const LiveSample& sample) {
  const std::string of_phase =
      JoinLabels(MetricLabel("phase_index", absl::StrCat(sample.index)), MetricLabel("phase", sample.phase));
  std::vector<std::pair<std::string, const LiveRow*>> clients;
  for (const LiveRow& row : sample.clients) {
    clients.emplace_back(JoinLabels(of_phase, MetricLabel("client", row.client)), &row);
  }
  std::ostringstream text;
  MetricWriter writer(text);
  for (const LiveMetric& metric : kLiveMetrics) {
    writer.Begin(metric.of_cluster);
    if (sample.phase_count > 0) writer.Add(of_phase, metric.value(sample.cluster), metric.suffix);
    writer.Begin(metric.of_client);
    for (const auto& [labels, row] : clients) writer.Add(labels, metric.value(*row), metric.suffix);
  }
  writer.Begin(kPhaseLatency);
  if (sample.phase_count > 0) AddLiveLatency(of_phase, sample.cluster.latency, writer);
  writer.Begin(kClientLatency);
  for (const auto& [labels, row] : clients) AddLiveLatency(labels, row->latency, writer);
  writer.End();
  return std::move(text).str();
}

}  // namespace iobench
