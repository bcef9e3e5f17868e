#include "coordinator/analysis/capacity/usl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <numeric>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "coordinator/analysis/statistics/noise.h"
#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

constexpr size_t kTerms = 3;         // c0, c1, c2
constexpr double kDependent = 1e-9;  // of a column's length; if less is left, it depends on those before it
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kDraws = 2000;       // 50 of them are beyond each end of an interval
constexpr uint64_t kDrawSeed = 20;    // any; fixed, so that equal measurements give equal intervals

double TermOf(const UslPoint& point, size_t term) {
  if (term == 0) return 1;
  return term == 1 ? point.n - 1 : point.n * (point.n - 1);
}

double Length(std::span<const double> column) {
  double squares = 0;
  for (const double value : column) squares += value * value;
  return std::sqrt(squares);
}

double Product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void Subtract(double factor, std::span<const double> from, std::vector<double>& column) {
  for (size_t i = 0; i < column.size(); ++i) column[i] -= factor * from[i];
}

// Q and R of the chosen columns by Gram-Schmidt, each column scaled to length 1 first: n (n - 1) grows to 10^6 where
// the constant stays 1, and the normal equations would lose all digits.
class Columns {
 public:
  // False: the column depends on those before it.
  bool Add(std::vector<double> column) {
    const double length = Length(column);
    if (!(length > 0)) return false;
    for (double& value : column) value /= length;
    std::array<double, kTerms> above = {};
    for (int pass = 0; pass < 2; ++pass) {  // the second pass removes what rounding left
      for (size_t k = 0; k < q_.size(); ++k) {
        const double part = Product(q_[k], column);
        above[k] += part;
        Subtract(part, q_[k], column);
      }
    }
    const double rest = Length(column);
    if (rest < kDependent) return false;
    for (double& value : column) value /= rest;
    above[q_.size()] = rest;
    q_.push_back(std::move(column));
    r_.push_back(above);
    length_.push_back(length);
    return true;
  }

  // The part of `y` along each column; `y` is reduced to the residuals.
  std::vector<double> Project(std::vector<double>& y) const {
    std::vector<double> right(q_.size());
    for (size_t k = 0; k < q_.size(); ++k) {
      right[k] = Product(q_[k], y);
      Subtract(right[k], q_[k], y);
    }
    return right;
  }
  // The coefficients for these parts.
  std::vector<double> Back(const std::vector<double>& right) const {
    std::vector<double> x(right.size());
    for (size_t row = right.size(); row-- > 0;) {
      double value = right[row];
      for (size_t column = row + 1; column < right.size(); ++column)
        value -= r_[column][row] * length_[column] * x[column];
      x[row] = value / r_[row][row] / length_[row];
    }
    return x;
  }

 private:
  std::vector<std::vector<double>> q_;
  std::vector<std::array<double, kTerms>> r_;  // by column
  std::vector<double> length_;
};

struct LinearFit {
  std::vector<size_t> terms;
  Columns columns;                    // of the terms, weighted
  std::vector<double> right;          // the weighted values along the columns
  std::array<double, kTerms> c = {};  // 0: left out
  double squares = 0;                 // sum of the squared relative residuals
};

double ValueOf(const std::array<double, kTerms>& c, const UslPoint& point) {
  double value = 0;
  for (size_t term = 0; term < kTerms; ++term) value += c[term] * TermOf(point, term);
  return value;
}

// Fits the chosen terms with the given weights of n/X. nullopt: the points do not determine them.
std::optional<LinearFit> FitWeighted(std::span<const UslPoint> points, const std::vector<size_t>& terms,
                                     const std::vector<double>& weights) {
  const size_t m = points.size();
  LinearFit fit{.terms = terms, .columns = {}, .right = {}};
  for (const size_t term : terms) {
    std::vector<double> column(m);
    for (size_t i = 0; i < m; ++i) column[i] = weights[i] * TermOf(points[i], term);
    if (!fit.columns.Add(std::move(column))) return std::nullopt;
  }
  std::vector<double> y(m);
  for (size_t i = 0; i < m; ++i) y[i] = weights[i] * points[i].n / points[i].ops_per_s;
  fit.right = fit.columns.Project(y);
  const std::vector<double> x = fit.columns.Back(fit.right);
  for (size_t k = 0; k < terms.size(); ++k) fit.c[terms[k]] = x[k];
  for (const double residual : y) fit.squares += residual * residual;
  return fit;
}

// Fits the chosen terms to relative deviations: first relative to what was measured, then to what was fitted, since
// weights that depend on the scatter of single points would favour the slow ones. nullopt: as above.
std::optional<LinearFit> FitTerms(std::span<const UslPoint> points, const std::vector<size_t>& terms) {
  constexpr int kRounds = 5;  // the weights change by less than their square in each
  std::vector<double> weights;
  for (const UslPoint& point : points) weights.push_back(point.ops_per_s / point.n);
  std::optional<LinearFit> fit;
  for (int round = 0; round < kRounds; ++round) {
    std::optional<LinearFit> next = FitWeighted(points, terms, weights);
    if (!next.has_value()) return fit;
    fit = std::move(next);
    for (size_t i = 0; i < points.size(); ++i) {
      const double value = ValueOf(fit->c, points[i]);
      if (!(value > 0)) return fit;
      weights[i] = 1 / value;
    }
  }
  return fit;
}

// The best fit with one or both terms at 0 and no negative term.
std::optional<LinearFit> FitWithoutNegatives(std::span<const UslPoint> points) {
  std::optional<LinearFit> best;
  for (const std::vector<size_t>& terms : {std::vector<size_t>{0, 1}, {0, 2}, {0}}) {
    std::optional<LinearFit> fit = FitTerms(points, terms);
    if (!fit.has_value() || fit->c[1] < 0 || fit->c[2] < 0) continue;
    if (!best.has_value() || fit->squares < best->squares) best = std::move(fit);
  }
  return best;
}

size_t LevelCount(std::span<const UslPoint> points) {
  std::set<double> levels;
  for (const UslPoint& point : points) levels.insert(point.n);
  return levels.size();
}

absl::Status CheckPoints(std::span<const UslPoint> points) {
  for (const UslPoint& point : points) {
    if (!std::isfinite(point.n) || point.n < 1 || !std::isfinite(point.ops_per_s) || point.ops_per_s <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the point n = ", point.n, " with ", point.ops_per_s,
                       " ops/s cannot be fitted: n must be at least 1 and the throughput positive; leave the "
                       "point out or measure it again"));
    }
  }
  const size_t levels = LevelCount(points);
  if (levels < kMinUslLevels) {
    return absl::FailedPreconditionError(
        absl::StrCat("a scalability fit needs ", kMinUslLevels, " different levels, and ", levels,
                     levels == 1 ? " was" : " were", " measured: use more clients or lanes"));
  }
  return absl::OkStatus();
}

void AddFigures(std::span<const UslPoint> points, UslFit& fit) {
  double mean = 0, squares = 0, all_squares = 0;
  for (const UslPoint& point : points) mean += point.ops_per_s / static_cast<double>(points.size());
  for (const UslPoint& point : points) {
    fit.largest_n = std::max(fit.largest_n, point.n);
    fit.residuals.push_back(point.ops_per_s - fit.terms.OpsPerSecond(point.n));
    squares += fit.residuals.back() * fit.residuals.back();
    all_squares += (point.ops_per_s - mean) * (point.ops_per_s - mean);
  }
  fit.r_squared = all_squares > 0 ? 1 - squares / all_squares : std::numeric_limits<double>::quiet_NaN();
  fit.n_star = fit.terms.PeakN();
  fit.x_max = fit.terms.PeakOpsPerSecond();
  fit.peak_out_of_reach = fit.n_star > kMaxExtrapolation * fit.largest_n;
}

// Lack of fit against the scatter of the repetitions, both relative (N. Draper, H. Smith, Applied Regression Analysis,
// section 2.2), less what one op per lane explains.
void TestFit(std::span<const UslPoint> points, size_t term_count, UslFit& fit) {
  struct Level {
    std::vector<double> off;  // rates relative to the law's, less 1
    double one_op_share = 0;  // the largest
  };
  std::map<double, Level> levels;
  for (const UslPoint& point : points) {
    Level& level = levels[point.n];
    level.off.push_back(point.ops_per_s / fit.terms.OpsPerSecond(point.n) - 1);
    level.one_op_share = std::max(level.one_op_share, point.one_op_share);
  }
  double pure = 0, misfit = 0, worst_beyond = 0;
  for (const auto& [n, level] : levels) {
    const auto repetitions = static_cast<double>(level.off.size());
    const double mean = std::accumulate(level.off.begin(), level.off.end(), 0.0) / repetitions;
    for (const double each : level.off) pure += (each - mean) * (each - mean);
    const double beyond = std::max(0.0, std::abs(mean) - level.one_op_share);
    misfit += beyond * beyond * repetitions;
    if (beyond <= worst_beyond) continue;
    worst_beyond = beyond;
    fit.worst_n = n;
    fit.worst_share = mean;
  }
  const double pure_degrees = static_cast<double>(points.size() - levels.size());
  const double misfit_degrees = static_cast<double>(levels.size() - term_count);
  if (pure_degrees == 0) {
    fit.fit_p = std::numeric_limits<double>::quiet_NaN();
  } else if (worst_beyond <= kNegligibleMisfit) {
    fit.fit_p = 1;
  } else {
    fit.fit_p = pure > 0 ? FisherTail(misfit / misfit_degrees / (pure / pure_degrees), misfit_degrees, pure_degrees) : 0;
  }
}

void AddWarnings(std::span<const UslPoint> points, UslFit& fit) {
  const size_t levels = LevelCount(points);
  if (levels < kEnoughUslLevels) {
    fit.warnings.push_back(absl::StrCat("the fit uses only ", levels, " different levels; ", kEnoughUslLevels,
                                        " or more make it reliable"));
  }
  if (fit.sigma_was_negative) fit.warnings.push_back("sigma was negative within its error and is set to 0");
  if (fit.kappa_was_negative) fit.warnings.push_back("kappa was negative within its error and is set to 0");
}

// Draws of the terms c0, c1, c2 of a fit without bounds, by their multivariate t distribution.
class TermDraws {
 public:
  TermDraws(const LinearFit& fit, double degrees)
      : fit_(fit), degrees_(degrees), deviation_(std::sqrt(fit.squares / degrees)), noise_(kDrawSeed) {}

  std::array<double, kTerms> Draw() {
    double squares = 0;  // chi squared
    for (int i = 0; i < static_cast<int>(degrees_); ++i) {
      const double value = noise_.Normal();
      squares += value * value;
    }
    const double scale = deviation_ / std::sqrt(squares / degrees_);
    std::vector<double> right = fit_.right;
    for (double& part : right) part += scale * noise_.Normal();
    const std::vector<double> x = fit_.columns.Back(right);
    std::array<double, kTerms> c = {};
    for (size_t k = 0; k < x.size(); ++k) c[fit_.terms[k]] = x[k];
    return c;
  }

 private:
  const LinearFit& fit_;
  const double degrees_, deviation_;
  Noise noise_;
};

double Inverse(double value, double numerator = 1) {
  return value > 0 ? numerator / value : kInfinity;
}

// The middle 95 % of the draws.
UslInterval IntervalOfDraws(std::vector<double>& draws) {
  std::sort(draws.begin(), draws.end());
  const auto last = static_cast<double>(draws.size() - 1);
  return {draws[static_cast<size_t>(std::floor(0.025 * last))],
          draws[static_cast<size_t>(std::ceil(0.975 * last))]};
}

// The same with the figure in it: the bounds of other terms may have moved it.
UslInterval IntervalAround(double figure, std::vector<double>& draws) {
  const UslInterval interval = IntervalOfDraws(draws);
  return {std::min(figure, interval.low), std::max(figure, interval.high)};
}

}  // namespace

double UslTerms::OpsPerSecond(double n) const {
  return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

double UslTerms::PeakN() const {
  if (sigma >= 1) return 1;
  if (kappa <= 0) return kInfinity;
  return std::max(1.0, std::sqrt((1 - sigma) / kappa));
}

double UslTerms::PeakOpsPerSecond() const {
  const double n = PeakN();
  if (std::isfinite(n)) return OpsPerSecond(n);
  return sigma > 0 ? lambda / sigma : kInfinity;
}

absl::StatusOr<double> UslFit::XAt(double n) const {
  if (n >= 1 && n <= kMaxExtrapolation * largest_n) return terms.OpsPerSecond(n);
  return absl::OutOfRangeError(absl::StrCat("no throughput is given for ", n, " clients: measurements up to ",
                                            largest_n, " support 1 to ", kMaxExtrapolation * largest_n,
                                            "; measure with more clients"));
}

absl::StatusOr<UslFit> FitUsl(std::span<const UslPoint> points) {
  if (const absl::Status status = CheckPoints(points); !status.ok()) return status;
  const std::optional<LinearFit> free = FitTerms(points, {0, 1, 2});
  std::optional<LinearFit> linear = free;
  if (free.has_value() && (free->c[1] < 0 || free->c[2] < 0)) linear = FitWithoutNegatives(points);
  if (!linear.has_value() || !(linear->c[0] > 0)) {
    return absl::FailedPreconditionError(
        "the points do not determine the throughput at 1; measure with one client or lane, and at more levels");
  }
  UslFit fit;
  fit.terms = {1 / linear->c[0], linear->c[1] / linear->c[0], linear->c[2] / linear->c[0]};
  fit.sigma_was_negative = free->c[1] < 0;
  fit.kappa_was_negative = free->c[2] < 0;
  AddFigures(points, fit);
  TestFit(points, linear->terms.size(), fit);
  AddWarnings(points, fit);
  return fit;
}

absl::StatusOr<UslIntervals> IntervalsOf(std::span<const UslPoint> points, const UslFit& fit,
                                         std::span<const double> curve_n) {
  if (const absl::Status status = CheckPoints(points); !status.ok()) return status;
  for (const double n : curve_n) {
    if (const auto x = fit.XAt(n); !x.ok()) return x.status();
  }
  const std::optional<LinearFit> free = FitTerms(points, {0, 1, 2});
  if (!free.has_value() || points.size() <= kTerms)
    return absl::FailedPreconditionError("the points do not determine how far the fit may be off");
  UslIntervals intervals;
  intervals.degrees = static_cast<double>(points.size() - kTerms);
  TermDraws draws(*free, intervals.degrees);
  std::array<std::vector<double>, 5> all;
  std::vector<std::vector<double>> curve(curve_n.size());
  for (size_t i = 0; i < kDraws; ++i) {
    const std::array<double, kTerms> c = draws.Draw();
    const UslTerms terms = {Inverse(c[0]), c[1] / c[0], c[2] / c[0]};
    const double values[] = {terms.lambda, terms.sigma, terms.kappa, terms.PeakN(), terms.PeakOpsPerSecond()};
    for (size_t k = 0; k < all.size(); ++k) all[k].push_back(values[k]);
    for (size_t k = 0; k < curve_n.size(); ++k)
      curve[k].push_back(Inverse(ValueOf(c, {curve_n[k], 0}), curve_n[k]));
  }
  intervals.lambda = IntervalAround(fit.terms.lambda, all[0]);
  intervals.sigma = IntervalOfDraws(all[1]);
  intervals.kappa = IntervalOfDraws(all[2]);
  intervals.n_star = IntervalAround(fit.n_star, all[3]);
  intervals.x_max = IntervalAround(fit.x_max, all[4]);
  for (size_t k = 0; k < curve_n.size(); ++k)
    intervals.curve.push_back(IntervalAround(fit.terms.OpsPerSecond(curve_n[k]), curve[k]));
  return intervals;
}

}  // namespace iobench
