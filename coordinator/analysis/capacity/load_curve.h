// What a curve of response time over load tells: saturation, knee, overall response time, headroom, fairness. Pure.
#ifndef COORDINATOR_ANALYSIS_CAPACITY_LOAD_CURVE_H_
#define COORDINATOR_ANALYSIS_CAPACITY_LOAD_CURVE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace iobench {

// One load, measured. Response times are of the open loop: they include the wait behind a late op.
struct LoadPoint {
  double offered_per_s = 0;   // ops/s that were due
  double achieved_per_s = 0;  // ops/s that were done
  double mean_us = 0;
  double p50_us = 0;
  double p95_us = 0;
  double p99_us = 0;
  double mean_low_us = 0;  // 95 % interval of the mean, over repetitions
  double mean_high_us = 0;
};

// The part of a curve that a load can be chosen on: from the lowest load up to the first point that achieved no more
// than the one before it, without that point. REQUIRES: in the order of offered_per_s. All functions below take such a
// part, and do not look at points where nothing was achieved or the response time is not positive.
std::span<const LoadPoint> UpToPeak(std::span<const LoadPoint> points);

// The number of clients (or lanes) from which more of them only wait: x_max times the response time of one. Below it the
// throughput is bound by latency. x_max_per_s in ops/s.
double SaturationN(double x_max_per_s, double min_response_us);

inline constexpr double kBroadKnee = 0.25;

struct Knee {
  size_t kleinrock = 0;  // index of the point with the largest throughput / response time
  std::optional<size_t>
      kneedle;         // of the point farthest under the diagonal of the normalised curve; none: the response
                       // time does not bend upward
  bool broad = false;  // the two differ by over kBroadKnee of the smaller throughput, or there is only one
};
// nullopt: there are under three points.
std::optional<Knee> KneeOf(std::span<const LoadPoint> points);

// The area under the curve of mean response time over throughput, by trapezoids between the points.
struct OverallResponse {
  double ort_spec_us = 0;  // / throughput of the last point, as SPEC SFS does; a flat curve of ten equal
                           // steps at 1 ms gives 0.9 ms. No result of SPEC: its rules are not followed
  double mean_latency_over_range_us = 0;  // / throughput of the last point less that of the first
};
// nullopt: there are under two points.
std::optional<OverallResponse> OverallResponseOf(std::span<const LoadPoint> points);

inline constexpr double kMaxLittleError = 0.05;

// Little's law: throughput x response time is the number of ops in flight. If not, the measurement is wrong, not the
// storage. Only for closed loops without think time.
struct LittleCheck {
  double error = 0;    // |product - in_flight| / in_flight
  bool holds = false;  // error is at most kMaxLittleError
};
// in_flight: lanes x queue depth. REQUIRES: in_flight > 0.
LittleCheck CheckLittle(double achieved_per_s, double mean_us, double in_flight);

// What a load leaves unused.
struct Headroom {
  double factor = 0;        // the load can grow to this many times itself; under 1: it is too much already
  double unused_share = 0;  // of the limit; negative: the load exceeds it
  std::optional<double> mean_us;  // expected at that load, between two points; none: outside of the curve
};
// limit_per_s: the largest load that may be planned with, such as that under an SLO. REQUIRES: load and limit are
// positive.
Headroom HeadroomAt(double load_per_s, double limit_per_s, std::span<const LoadPoint> points);

// Throughput with n clients.
struct ScalePoint {
  double n = 0;
  double ops_per_s = 0;
};
// For each point but the first: what each added client brought, as a share of what each of the first brought: 1 is
// linear, 0 brought nothing, negative cost throughput. REQUIRES: n ascends.
std::vector<double> EfficiencyPerAddedClient(std::span<const ScalePoint> points);

// Jain's index of the clients' rates: 1 all equal, 1/n one has all. NaN: no rates, or all 0.
double FairnessOf(std::span<const double> rates);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CAPACITY_LOAD_CURVE_H_
