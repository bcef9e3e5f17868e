#include "coordinator/analysis/foreign/fio_figures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "common/histogram.h"
#include "common/model/op.h"
#include "common/not_a_number.h"

namespace iobench {
namespace {

// fio's --percentile_list, if none is given.
constexpr double kFioPercents[] = {1,  5,  10, 20, 30,   40,   50,    60,   70,
                                   80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};
constexpr uint64_t kFioEdges[] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000};
constexpr uint64_t kFioLastEdgeMs = 2000;

double Finite(double value) { return std::isfinite(value) ? value : 0; }

FioSamples SamplesOf(const google::protobuf::RepeatedField<double>& series, size_t whole_slices, double rate) {
  std::vector<double> values(series.begin(),
                             series.begin() + static_cast<ptrdiff_t>(
                                                  std::min(whole_slices, static_cast<size_t>(series.size()))));
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) values.push_back(rate);
  FioSamples samples{.count = values.size(),
                     .min = *std::min_element(values.begin(), values.end()),
                     .max = *std::max_element(values.begin(), values.end())};
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  samples.mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - samples.mean) * (value - samples.mean);
  if (values.size() > 1) samples.stddev = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return samples;
}

std::vector<FioPercentile> PercentilesOf(const Histogram& histogram) {
  std::vector<FioPercentile> percentiles;
  if (histogram.count() == 0) return percentiles;
  for (const double percent : kFioPercents)
    percentiles.push_back({percent, histogram.PercentileNs(percent / 100)});
  return percentiles;
}

// Those that are known of one of two directions.
std::vector<FioPercentile> PercentilesOf(const v1::Latency& latency) {
  std::vector<FioPercentile> percentiles;
  if (latency.count() == 0) return percentiles;
  for (const auto& [percent, us] : {std::pair(50.0, latency.p50()), std::pair(90.0, latency.p90()),
                                    std::pair(95.0, latency.p95()), std::pair(99.0, latency.p99()),
                                    std::pair(99.9, latency.p99_9()), std::pair(99.99, latency.p99_99())}) {
    if (std::isfinite(us)) percentiles.push_back({percent, us * 1e3});
  }
  return percentiles;
}

// Both have values.
v1::Latency Joined(const v1::Latency& one, const v1::Latency& other) {
  const auto a = static_cast<double>(one.count()), b = static_cast<double>(other.count());
  const auto squares = [](const v1::Latency& latency) {
    return latency.stddev() * latency.stddev() + latency.mean() * latency.mean();
  };
  v1::Latency joined;
  joined.set_count(one.count() + other.count());
  joined.set_min(std::min(one.min(), other.min()));
  joined.set_max(std::max(one.max(), other.max()));
  joined.set_mean((a * one.mean() + b * other.mean()) / (a + b));
  const double variance = (a * squares(one) + b * squares(other)) / (a + b) - joined.mean() * joined.mean();
  joined.set_stddev(std::sqrt(std::max(0.0, variance)));
  return joined;
}

// Adds the latencies of the call; false: they are not known, or not all.
bool AddAllOf(const std::string& call, uint64_t count, const v1::PhaseCharts& charts, Histogram& into) {
  const auto found = std::find_if(charts.calls().begin(), charts.calls().end(),
                                  [&call](const v1::CallLatencies& of_call) { return of_call.name() == call; });
  return found != charts.calls().end() && found->histogram().count() == count && into.AddProto(found->histogram()).ok();
}

FioSyncs SyncsOf(const v1::PhaseReport& phase) {
  FioSyncs syncs;
  int kinds = 0;
  const auto all = std::make_unique<Histogram>();
  bool known = true;
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto call = static_cast<OpKind>(i);
    const auto found = phase.by_kind().find(NameOf(call));
    if (!kFlushCalls.Has(call) || call == OpKind::kClose || found == phase.by_kind().end()) continue;
    const v1::Latency& latency = found->second.latency_us();
    if (latency.count() == 0) continue;
    syncs.latency_us = ++kinds == 1 ? latency : Joined(syncs.latency_us, latency);
    syncs.percentiles = kinds == 1 ? PercentilesOf(latency) : std::vector<FioPercentile>();
    known &= AddAllOf(found->first, latency.count(), phase.charts(), *all);
  }
  if (known && kinds > 0) syncs.percentiles = PercentilesOf(*all);
  return syncs;
}

void FillBands(const Histogram& histogram, FioJob& job) {
  std::vector<FioBand>* const bands[] = {&job.bands_ns, &job.bands_us, &job.bands_ms};
  if (histogram.count() == 0) return;
  for (std::vector<FioBand>* of_unit : bands) {
    for (const uint64_t edge : kFioEdges) of_unit->push_back({std::to_string(edge), 0});
  }
  job.bands_ms.push_back({std::to_string(kFioLastEdgeMs), 0});
  job.bands_ms.push_back({">=" + std::to_string(kFioLastEdgeMs), 0});
  const double percent_of_one = 100 / static_cast<double>(histogram.count());
  const auto count = [&](uint64_t ns, uint64_t ops) {
    size_t unit = 0;
    uint64_t value = ns;
    for (; unit + 1 < std::size(bands) && value >= 1000; ++unit) value /= 1000;
    const auto edge = std::lower_bound(std::begin(kFioEdges), std::end(kFioEdges), value) - std::begin(kFioEdges);
    size_t band = static_cast<size_t>(edge);
    if (band == std::size(kFioEdges) && value >= kFioLastEdgeMs) ++band;  // only of ms
    (*bands[unit])[band].percent += static_cast<double>(ops) * percent_of_one;
  };
  const v1::Histogram sparse = histogram.ToProto();
  uint32_t index = 0;
  for (int i = 0; i < sparse.counts_size(); ++i) {
    index += sparse.index_gaps(i);
    count(std::min(Histogram::UpperEdge(index), histogram.max_ns()), sparse.counts(i));
  }
  if (histogram.overflow_count() > 0) count(histogram.max_ns(), histogram.overflow_count());
}

// fio has no operation that changes what it has read; its ops end with a write.
FioDirection& DirectionOf(const std::string& kind, FioJob& job) { return kind == "read" ? job.read : job.write; }

bool IsDirection(const std::string& kind) { return kind == "read" || kind == "write" || kind == "update"; }

}  // namespace

bool IsFioJob(const v1::PhaseReport& phase) {
  return !phase.metadata() && std::any_of(phase.by_kind().begin(), phase.by_kind().end(), [](const auto& kind) {
    return IsDirection(kind.first);
  });
}

FioJob FioJobOf(const v1::PhaseReport& phase) {
  FioJob job;
  job.window_s = Finite(phase.headline_s() > 0 ? phase.headline_s() : phase.duration_s());
  if (phase.lanes_wall_s() > 0) {
    job.cpu_user_percent = 100 * phase.lanes_cpu_user_s() / phase.lanes_wall_s();
    job.cpu_system_percent = 100 * phase.lanes_cpu_system_s() / phase.lanes_wall_s();
  }
  const auto histogram = std::make_unique<Histogram>();
  const bool known = histogram->AddProto(phase.charts().latency_histogram()).ok() && histogram->count() > 0;
  if (known) FillBands(*histogram, job);
  job.syncs = SyncsOf(phase);
  const bool alone = std::count_if(phase.by_kind().begin(), phase.by_kind().end(),
                                   [](const auto& kind) { return IsDirection(kind.first); }) == 1;
  const double slice_s = phase.charts().slice_s();
  const auto whole_slices = slice_s > 0 ? static_cast<size_t>(job.window_s / slice_s) : 0;
  for (const auto& [kind, figures] : phase.by_kind()) {
    if (!IsDirection(kind)) continue;
    FioDirection& direction = DirectionOf(kind, job);
    direction.bytes = alone ? phase.measured_bytes() : figures.bytes();
    direction.ops = alone ? phase.measured_ops() : figures.ops();
    direction.bytes_per_s = Finite(figures.bytes_per_s());
    direction.ops_per_s = Finite(figures.ops_per_s());
    direction.latency_us = figures.latency_us();
    direction.percentiles = alone && known ? PercentilesOf(*histogram) : PercentilesOf(figures.latency_us());
    direction.has_samples = alone;
    if (!alone) continue;
    direction.bytes_samples = SamplesOf(phase.charts().bytes_per_s(), whole_slices, direction.bytes_per_s);
    direction.ops_samples = SamplesOf(phase.charts().ops_per_s(), whole_slices, direction.ops_per_s);
  }
  return job;
}

}  // namespace iobench
