#include "coordinator/analysis/charts/latency_curve.h"

#include <cstdint>
#include <memory>

namespace iobench {
namespace {

constexpr double kPercents[] = {50,    75,    90,     95,     99,      99.5,   99.9,
                                99.95, 99.99, 99.995, 99.999, 99.9995, 99.9999};
constexpr uint32_t kBucketsPerBin = 16;
static_assert(Histogram::kBucketCount % kBucketsPerBin == 0);

double Microseconds(uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

void AddBin(uint64_t lower_ns, uint64_t upper_ns, uint64_t ops, v1::PhaseCharts& charts) {
  v1::LatencyBin& bin = *charts.add_distribution();
  bin.set_lower_us(Microseconds(lower_ns));
  bin.set_upper_us(Microseconds(upper_ns));
  bin.set_ops(ops);
}

}  // namespace

google::protobuf::RepeatedPtrField<v1::PercentilePoint> PercentileCurve(const Histogram& histogram) {
  google::protobuf::RepeatedPtrField<v1::PercentilePoint> points;
  const uint64_t count = histogram.count();
  if (count == 0) return points;
  const auto add = [&points](double percent, double ns, bool unsure) {
    v1::PercentilePoint& point = *points.Add();
    point.set_percent(percent);
    point.set_us(ns / 1e3);
    point.set_unsure(unsure);
  };
  for (const double percent : kPercents) {
    // 100 - 99.9999 is 0.00010000000000331966, but a million ops have one beyond it; likewise for its neighbours.
    if (static_cast<double>(count) * (100 - percent) < 100 - 1e-6) break;
    add(percent, histogram.PercentileNs(percent / 100), !histogram.Trusted(percent / 100));
  }
  add(100, static_cast<double>(histogram.max_ns()), false);
  return points;
}

google::protobuf::RepeatedPtrField<v1::PercentilePoint> PercentileCurve(const v1::Histogram& histogram) {
  const auto whole = std::make_unique<Histogram>();  // 37 KB, too large for the stack
  whole->AddProto(histogram).IgnoreError();
  return PercentileCurve(*whole);
}

void FillDistribution(const Histogram& histogram, v1::PhaseCharts& charts) {
  const v1::Histogram buckets = histogram.ToProto();
  uint32_t bucket = 0, current = 0;
  uint64_t ops = 0;
  const auto finish = [&] {
    if (ops == 0) return;
    AddBin(Histogram::LowerEdge(current * kBucketsPerBin),
           Histogram::LowerEdge((current + 1) * kBucketsPerBin), ops, charts);
  };
  for (int i = 0; i < buckets.counts_size(); ++i) {
    bucket += buckets.index_gaps(i);
    if (const uint32_t bin = bucket / kBucketsPerBin; bin != current) {
      finish();
      current = bin;
      ops = 0;
    }
    ops += buckets.counts(i);
  }
  finish();
  if (buckets.overflow_count() > 0) {
    AddBin(Histogram::LowerEdge(Histogram::kBucketCount), buckets.max_ns(), buckets.overflow_count(), charts);
  }
}

}  // namespace iobench
