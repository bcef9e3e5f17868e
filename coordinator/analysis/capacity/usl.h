// The Universal Scalability Law: how throughput grows with the number of clients or lanes, from measured points. Pure.
#ifndef COORDINATOR_ANALYSIS_CAPACITY_USL_H_
#define COORDINATOR_ANALYSIS_CAPACITY_USL_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

inline constexpr size_t kMinUslLevels = 4;      // distinct n below which a fit is refused
inline constexpr size_t kEnoughUslLevels = 6;   // below which it has a warning
inline constexpr double kMaxExtrapolation = 2;  // times the largest measured n
inline constexpr double kMinFitP = 0.01;        // of 100 systems that follow the law, one is said not to
inline constexpr double kNegligibleMisfit = 0.01;

// One repetition at n clients or at n lanes; a fit uses only one of the two kinds.
struct UslPoint {
  double n = 0;
  double ops_per_s = 0;
  // What one op per lane is of the rate. Which ops fall into the timed region is the same in every repetition of a regular
  // storage, so repetitions do not show this error.
  double one_op_share = 0;
};

// X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1)).
struct UslTerms {
  double lambda = 0;  // ops/s of one client
  double sigma = 0;   // contention: the share of the work that clients do one after the other
  double kappa = 0;   // crosstalk: what each pair of clients costs

  // At any n. To show a figure, use UslFit::XAt, which knows how far the measurement reaches.
  double OpsPerSecond(double n) const;
  // n of the highest throughput, sqrt((1 - sigma) / kappa), at least 1. Not rounded: reports show its floor. Infinite
  // if kappa is 0 and sigma is below 1: throughput never falls.
  double PeakN() const;
  // X(PeakN()); if that is infinite, the asymptote lambda / sigma, infinite if sigma is 0 as well.
  double PeakOpsPerSecond() const;
};

struct UslFit {
  UslTerms terms;
  double n_star = 0;                // terms.PeakN()
  double x_max = 0;                 // terms.PeakOpsPerSecond()
  bool peak_out_of_reach = false;   // n_star is over kMaxExtrapolation x largest_n: the fit shows no peak
  double largest_n = 0;             // measured
  bool sigma_was_negative = false;  // then terms are set to 0 and the others refitted
  bool kappa_was_negative = false;
  double r_squared = 0;           // of ops/s; NaN: all points have the same throughput
  std::vector<double> residuals;  // measured less fitted ops/s, in the order of the points
  // The probability of a misfit at least this large if the law held: lack of fit against the scatter of the repetitions
  // (F test); a misfit of less than one op per lane is none. NaN: no n has repetitions. 1: the law is within
  // kNegligibleMisfit, or one op per lane, at every n.
  double fit_p = 0;
  double worst_n = 0;                 // where the law misses the measured mean the most …
  double worst_share = 0;             // … by this share of it
  std::vector<std::string> warnings;  // sentences for the user

  bool Fits() const { return fit_p >= kMinFitP; }  // false: not known to fit

  // OutOfRange: n is under 1 or over kMaxExtrapolation x largest_n.
  absl::StatusOr<double> XAt(double n) const;
};

// Fits n/X = c0 + c1 (n - 1) + c2 n (n - 1) by least squares of relative deviations: the scatter of a rate grows with it.
// Terms that come out negative are set to 0. The points may come in any order, several with the same n. InvalidArgument:
// a point is not finite, has n below 1 or no throughput. FailedPrecondition: there are under kMinUslLevels distinct n, or
// the points do not determine the throughput of one client.
absl::StatusOr<UslFit> FitUsl(std::span<const UslPoint> points);

// Contains the true value with a probability of 95 %, if the law holds.
struct UslInterval {
  double low = 0;
  double high = 0;
};

struct UslIntervals {
  UslInterval lambda, sigma, kappa, n_star, x_max;
  std::vector<UslInterval> curve;  // ops/s at each of `curve_n`
  double degrees = 0;              // of freedom
};

// Intervals from Student's t with as many degrees of freedom as there are more points than terms, of the fit without
// bounds: an interval of sigma or kappa may reach below 0. What is not linear in the terms has its interval from draws
// of their distribution, the same each time. REQUIRES: `fit` is of these points. Errors as in FitUsl; OutOfRange: one of
// `curve_n` is out of reach.
absl::StatusOr<UslIntervals> IntervalsOf(std::span<const UslPoint> points, const UslFit& fit,
                                         std::span<const double> curve_n);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CAPACITY_USL_H_
