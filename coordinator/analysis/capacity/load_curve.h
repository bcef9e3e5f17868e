// Figures from a curve of response time over load: saturation, knee, overall response time, headroom, fairness. Pure.
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

// The part of a curve on which a load can be chosen: from the lowest load up to, but without, the first point that
// achieved no more than the one before it. REQUIRES: in the order of offered_per_s. All functions below take such a
// part, and ignore points where nothing was achieved or the response time is not positive.
std::span<const LoadPoint> UpToPeak(std::span<const LoadPoint> points);

// The number of clients (or lanes) above which additional ones only wait: x_max times the response time of one. Below
// it, latency limits the throughput. x_max_per_s in ops/s.
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

// Little's law: throughput x response time is the number of ops in flight. If it does not hold, the measurement is
// wrong, not the storage. Only for closed loops without think time.
struct LittleCheck {
  double error = 0;    // |product - in_flight| / in_flight
  bool holds = false;  // error is at most kMaxLittleError
};
// in_flight: lanes x queue depth. REQUIRES: in_flight > 0.
LittleCheck CheckLittle(double achieved_per_s, double mean_us, double in_flight);

// What a load leaves unused.
struct Headroom {
  double factor = 0;        // the load can grow by this factor; under 1: it is already too high
  double unused_share = 0;  // of the limit; negative: the load exceeds it
  std::optional<double> mean_us;  // expected at that load, between two points; none: outside of the curve
};
// limit_per_s: the largest load that may be planned for, such as that under an SLO. REQUIRES: load and limit are
// positive.
Headroom HeadroomAt(double load_per_s, double limit_per_s, std::span<const LoadPoint> points);

// Throughput with n clients.
struct ScalePoint {
  double n = 0;
  double ops_per_s = 0;
};
// For each point but the first: the throughput that each added client brought, relative to that of each client at the
// first point. 1: linear; 0: it brought nothing; negative: it cost throughput. REQUIRES: n ascends.
std::vector<double> EfficiencyPerAddedClient(std::span<const ScalePoint> points);

// Jain's index of the clients' rates: 1 if all are equal, 1/n if one has everything. NaN: no rates, or all 0.
double FairnessOf(std::span<const double> rates);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CAPACITY_LOAD_CURVE_H_
