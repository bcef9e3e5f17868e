#include "coordinator/live/live_rates.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/model/plan_traits.h"

namespace iobench {
namespace {

// Answers that are closer together tell nothing about the rate.
constexpr double kMinIntervalSeconds = 1e-3;

double Rate(uint64_t now, uint64_t before, double seconds) {
  return now < before ? 0 : static_cast<double>(now - before) / seconds;
}

LiveLatency Figures(const LatencyBins& bins) {
  constexpr double kNsPerUs = 1000;
  return {.mean_us = bins.MeanNs() / kNsPerUs,
          .p50_us = bins.PercentileNs(0.5) / kNsPerUs,
          .p99_us = bins.PercentileNs(0.99) / kNsPerUs,
          .max_us = bins.PercentileNs(1) / kNsPerUs};
}

LiveLatency Figures(const v1::Latency& latency) {
  if (latency.count() == 0) return {};
  return {
      .mean_us = latency.mean(), .p50_us = latency.p50(), .p99_us = latency.p99(), .max_us = latency.max()};
}

LiveHistogram HistogramOf(const LatencyBins& bins) {
  LiveHistogram histogram;
  const v1::LatencyBins message = bins.ToProto();  // bins that are not empty
  uint32_t bin = 0;
  for (int i = 0; i < message.counts_size(); ++i) {
    bin += message.bin_gaps(i);
    const uint64_t lower_ns = Histogram::LowerEdge(bin * LatencyBins::kBucketsPerBin);
    const int octave = std::max(0, static_cast<int>(std::bit_width(lower_ns)) - 1);
    histogram.ops_by_octave[static_cast<size_t>(octave)] += message.counts(i);
  }
  const uint64_t ops = bins.count();
  if (ops > 0) histogram.sum_us = bins.MeanNs() * static_cast<double>(ops) / 1000;
  return histogram;
}

void AddTo(LiveHistogram& sum, const LiveHistogram& histogram) {
  for (size_t octave = 0; octave < sum.ops_by_octave.size(); ++octave)
    sum.ops_by_octave[octave] += histogram.ops_by_octave[octave];
  sum.sum_us += histogram.sum_us;
}

void AddKnown(double rate, double& sum) {
  if (std::isnan(rate)) return;
  sum = std::isnan(sum) ? rate : sum + rate;
}

}  // namespace

LiveSample LiveRates::Begin(const PhaseProgress& progress) const {
  LiveSample sample;
  sample.phase = progress.phase->name();
  sample.index = progress.index;
  sample.phase_count = progress.phase_count;
  sample.metadata = IsMetadata(*progress.phase);
  sample.total_bytes = progress.total_bytes;
  sample.total_ops = progress.total_ops;
  sample.time_limit_s = progress.time_limit_s;
  sample.elapsed_s = std::max(0.0, progress.elapsed_s);
  sample.cluster.at_s = sample.elapsed_s;
  sample.cluster.bytes = progress.bytes;
  sample.cluster.ops = progress.ops;
  sample.cluster.lanes_running = progress.lanes_running;
  sample.cluster.lane_count = progress.lane_count;
  sample.cluster.workers_lost = progress.workers_lost;
  return sample;
}

LiveSample LiveRates::PhasePrepares(const PhaseProgress& progress) {
  before_.clear();
  latest_ = Begin(progress);
  return latest_;
}

LiveSample LiveRates::PhaseMoves(const PhaseProgress& progress) {
  LiveSample sample = Begin(progress);
  LatencyBins all;
  for (const ClientProgress& client : progress.clients) {
    if (client.lane_count == 0) continue;
    LiveRow row;
    row.client = client.name;
    row.at_s = client.at_s;
    row.bytes = client.bytes;
    row.ops = client.ops;
    row.lanes_running = client.lanes_running;
    row.lane_count = client.lane_count;
    row.workers_lost = client.workers_lost;
    row.histogram = HistogramOf(client.latency);
    AddTo(sample.cluster.histogram, row.histogram);
    AddLatency(client, row, all);
    sample.clients.push_back(std::move(row));
  }
  sample.cluster.latency = Figures(all);
  AddRates(sample);
  latest_ = sample;
  return sample;
}

LiveSample LiveRates::PhaseEnds(const v1::PhaseReport& phase) {
  LiveSample sample = latest_;
  sample.cluster.bytes_per_s = sample.cluster.ops_per_s = NAN;
  sample.cluster.histogram = {};
  sample.phase = phase.name();
  sample.index = phase.index();
  sample.metadata = phase.metadata();
  sample.elapsed_s =
      std::isfinite(phase.duration_s()) ? std::max(phase.duration_s(), latest_.elapsed_s) : latest_.elapsed_s;
  sample.clients.clear();
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    LiveRow& row = sample.clients.emplace_back();
    row.client = client.host();
    row.at_s = sample.elapsed_s;
    row.bytes = client.bytes();
    row.ops = client.ops();
    row.latency = Figures(client.latency_us());
    row.histogram = before_[row.client].row.histogram;
    AddTo(sample.cluster.histogram, row.histogram);
    for (const v1::WorkerPhaseReport& worker : client.workers()) {
      row.lane_count += static_cast<uint32_t>(worker.lanes_size());
      row.workers_lost += worker.lost() ? 1 : 0;
    }
  }
  sample.cluster.bytes = phase.bytes();
  sample.cluster.ops = phase.ops();
  sample.cluster.latency = Figures(phase.latency_us());
  sample.cluster.lanes_running = 0;
  sample.cluster.lane_count = phase.lane_count();
  sample.cluster.at_s = sample.elapsed_s;
  AddRates(sample);
  latest_ = sample;
  return sample;
}

// Call it before AddRates, which remembers the rows.
void LiveRates::AddLatency(const ClientProgress& client, LiveRow& row, LatencyBins& all) {
  Before& before = before_[row.client];
  if (row.at_s - before.row.at_s < kMinIntervalSeconds) return;
  const LatencyBins since = client.latency.Since(before.latency);
  row.latency = Figures(since);
  all.Merge(since);
  before.latency = client.latency;
}

void LiveRates::AddRates(LiveSample& sample) {
  for (LiveRow& row : sample.clients) {
    LiveRow& before = before_[row.client].row;
    const double seconds = row.at_s - before.at_s;
    if (seconds >= kMinIntervalSeconds) {
      row.bytes_per_s = Rate(row.bytes, before.bytes, seconds);
      row.ops_per_s = Rate(row.ops, before.ops, seconds);
      before = row;
    }
    AddKnown(row.bytes_per_s, sample.cluster.bytes_per_s);
    AddKnown(row.ops_per_s, sample.cluster.ops_per_s);
  }
}

}  // namespace iobench
