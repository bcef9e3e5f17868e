#include "coordinator/analysis/phase/latency.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace iobench {
namespace {

struct Percentile {
  const char* name;
  double p;
  void (v1::Latency::*set)(double);
};
constexpr Percentile kPercentiles[] = {
    {"p50", 0.5, &v1::Latency::set_p50},       {"p90", 0.9, &v1::Latency::set_p90},
    {"p95", 0.95, &v1::Latency::set_p95},      {"p99", 0.99, &v1::Latency::set_p99},
    {"p99_9", 0.999, &v1::Latency::set_p99_9}, {"p99_99", 0.9999, &v1::Latency::set_p99_99},
};

absl::Status AddAllKinds(const v1::LaneResult& lane, Histogram& into) {
  absl::Status first_problem;
  for (const v1::KindResult& kind : lane.kinds()) {
    absl::Status status = into.AddProto(kind.latency());
    if (first_problem.ok()) first_problem = std::move(status);
  }
  return first_problem;
}

}  // namespace

v1::Latency LatencyOf(const Histogram& histogram) {
  v1::Latency latency;
  latency.set_count(histogram.count());
  latency.set_overflow_count(histogram.overflow_count());
  latency.set_mean(histogram.mean_ns() / 1e3);
  latency.set_stddev(histogram.stddev_ns() / 1e3);
  const bool empty = latency.count() == 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  latency.set_min(empty ? nan : static_cast<double>(histogram.min_ns()) / 1e3);
  latency.set_max(empty ? nan : static_cast<double>(histogram.max_ns()) / 1e3);
  for (const Percentile& percentile : kPercentiles) {
    (latency.*percentile.set)(histogram.PercentileNs(percentile.p) / 1e3);
    if (!empty && !histogram.Trusted(percentile.p)) latency.add_unsure(percentile.name);
  }
  return latency;
}

absl::Status AddLatencies(const v1::LaneResult& lane, Histogram& into) {
  if (lane.has_response()) return into.AddProto(lane.response());
  return AddAllKinds(lane, into);
}

absl::Status AddLatenciesOfKind(const v1::LaneResult& lane, const v1::KindResult& kind, Histogram& into) {
  if (!lane.has_response()) return into.AddProto(kind.latency());
  const bool is_only = std::all_of(
      lane.kinds().begin(), lane.kinds().end(),
      [&kind](const v1::KindResult& other) { return other.kind() == kind.kind() || other.ops() == 0; });
  return is_only ? into.AddProto(lane.response()) : absl::OkStatus();
}

bool SlicesAreLatencies(const v1::LaneResult& lane) {
  return !lane.has_response();
}

absl::Status AddServiceTimes(const v1::LaneResult& lane, Histogram& into) {
  return lane.has_service() ? into.AddProto(lane.service()) : AddAllKinds(lane, into);
}

const v1::Latency& ServiceTimesIn(const v1::PhaseReport& report) {
  return report.has_open_loop() ? report.open_loop().service_us() : report.latency_us();
}

double MeanOpSeconds(const v1::LaneResult& lane) {
  double count = 0, sum_ns = 0;
  const auto add = [&](const v1::Histogram& histogram) {
    count += static_cast<double>(histogram.count());
    sum_ns += histogram.sum_ns();
  };
  if (lane.has_service()) {
    add(lane.service());
  } else {
    for (const v1::KindResult& kind : lane.kinds()) add(kind.latency());
  }
  return count > 0 && sum_ns > 0 ? sum_ns / count / 1e9 : 0;
}

}  // namespace iobench
