#include "coordinator/live/live_metrics.h"

#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/report/openmetrics/metric_text.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

struct LiveMetric {
  Metric of_cluster;
  Metric of_client;
  const char* suffix;  // of the samples: counters end in _total
  double (*value)(const LiveRow&);
};

constexpr Metric kRunPhases = {"iobench_run_phases", "gauge", "", "Phases of the run"};
constexpr Metric kPhaseElapsed = {"iobench_phase_elapsed_seconds", "gauge", "seconds", "Time since the phase began"};
// While a run lasts, histograms: unlike quantiles, they can be added up over clients and time.
constexpr Metric kPhaseOpDuration = {"iobench_phase_op_duration_seconds", "histogram", "seconds",
                                     "Latency of the ops of all lanes in the phase so far"};
constexpr Metric kClientOpDuration = {"iobench_client_op_duration_seconds", "histogram", "seconds",
                                      "Latency of the ops of one client in the phase so far"};

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

// A bucket holds all ops up to its bound, a power of 2 of nanoseconds: from 1 us to 17 s. A client has every second one,
// since a store of metrics keeps a series for each.
constexpr size_t kFirstBound = 10, kLastBound = 34;

void AddHistogram(const std::string& labels, const LiveHistogram& histogram, size_t step, MetricWriter& writer) {
  uint64_t ops = 0;
  size_t octave = 0;
  for (size_t bound = kFirstBound; bound <= kLastBound; bound += step) {
    for (; octave < bound; ++octave) ops += histogram.ops_by_octave[octave];
    std::string seconds;
    AppendShortest(std::ldexp(1, static_cast<int>(bound)) / 1e9, seconds);
    writer.Add(JoinLabels(labels, MetricLabel("le", seconds)), static_cast<double>(ops), "_bucket");
  }
  for (; octave < histogram.ops_by_octave.size(); ++octave) ops += histogram.ops_by_octave[octave];
  writer.Add(JoinLabels(labels, MetricLabel("le", "+Inf")), static_cast<double>(ops), "_bucket");
  writer.Add(labels, static_cast<double>(ops), "_count");
  writer.Add(labels, histogram.sum_us / 1e6, "_sum");
}

}  // namespace

std::string LiveMetrics(const v1::RunInfo& run, const LiveSample& sample) {
  const std::string of_phase =
      JoinLabels(RunLabels(run), JoinLabels(MetricLabel("phase_index", absl::StrCat(sample.index)),
                                            MetricLabel("phase", sample.phase)));
  const bool has_phase = sample.phase_count > 0;
  std::vector<std::pair<std::string, const LiveRow*>> clients;
  for (const LiveRow& row : sample.clients) {
    clients.emplace_back(JoinLabels(of_phase, MetricLabel("client", row.client)), &row);
  }
  std::ostringstream text;
  MetricWriter writer(text);
  WriteRunInfo(run, writer);
  writer.Begin(kRunPhases);
  if (has_phase) writer.Add(RunLabels(run), sample.phase_count);
  writer.Begin(kPhaseElapsed);
  if (has_phase) writer.Add(of_phase, sample.elapsed_s);
  for (const LiveMetric& metric : kLiveMetrics) {
    writer.Begin(metric.of_cluster);
    if (has_phase) writer.Add(of_phase, metric.value(sample.cluster), metric.suffix);
    writer.Begin(metric.of_client);
    for (const auto& [labels, row] : clients) writer.Add(labels, metric.value(*row), metric.suffix);
  }
  writer.Begin(kPhaseOpDuration);
  if (has_phase) AddHistogram(of_phase, sample.cluster.histogram, 1, writer);
  writer.Begin(kClientOpDuration);
  for (const auto& [labels, row] : clients) AddHistogram(labels, row->histogram, 2, writer);
  writer.End();
  return std::move(text).str();
}

}  // namespace iobench
