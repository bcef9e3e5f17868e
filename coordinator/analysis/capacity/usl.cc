#include "coordinator/analysis/capacity/usl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

constexpr size_t kTerms = 3;         // c0, c1, c2
constexpr double kDependent = 1e-9;  // of a column's length; if less is left, it depends on those before it
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct LinearFit {
  std::array<double, kTerms> c = {};      // 0: left out
  std::array<double, kTerms> error = {};  // standard errors
  double squares = 0;                     // sum of the weighted squares
};

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

  // The coefficients, and the diagonal of the inverse of A'A; `y` is reduced to the residuals.
  struct Solution {
    std::vector<double> x, inverse;
  };
  Solution Solve(std::vector<double>& y) const {
    std::vector<double> right(q_.size());
    for (size_t k = 0; k < q_.size(); ++k) {
      right[k] = Product(q_[k], y);
      Subtract(right[k], q_[k], y);
    }
    Solution solution = {Back(right), std::vector<double>(q_.size())};
    for (size_t column = 0; column < q_.size(); ++column) {  // columns of R^-1
      std::vector<double> unit(q_.size());
      unit[column] = 1;
      const std::vector<double> inverse = Back(unit);
      for (size_t row = 0; row < q_.size(); ++row) solution.inverse[row] += inverse[row] * inverse[row];
    }
    return solution;
  }

 private:
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

  std::vector<std::vector<double>> q_;
  std::vector<std::array<double, kTerms>> r_;  // by column
  std::vector<double> length_;
};

// Fits the chosen terms. nullopt: the points do not determine them.
std::optional<LinearFit> FitTerms(std::span<const UslPoint> points, const std::vector<size_t>& terms) {
  const size_t m = points.size();
  std::vector<double> weights(m), y(m);
  for (size_t i = 0; i < m; ++i) {
    weights[i] = points[i].ops_per_s * points[i].ops_per_s / points[i].n;
    y[i] = weights[i] * points[i].n / points[i].ops_per_s;
  }
  Columns columns;
  for (const size_t term : terms) {
    std::vector<double> column(m);
    for (size_t i = 0; i < m; ++i) column[i] = weights[i] * TermOf(points[i], term);
    if (!columns.Add(std::move(column))) return std::nullopt;
  }
  const Columns::Solution solution = columns.Solve(y);
  LinearFit fit;
  for (const double residual : y) fit.squares += residual * residual;
  const double variance = m > terms.size() ? fit.squares / static_cast<double>(m - terms.size()) : 0;
  for (size_t k = 0; k < terms.size(); ++k) {
    fit.c[terms[k]] = solution.x[k];
    fit.error[terms[k]] = std::sqrt(variance * solution.inverse[k]);
  }
  return fit;
}

// The best fit with one or both terms at 0 and no negative term.
std::optional<LinearFit> FitWithoutNegatives(std::span<const UslPoint> points) {
  std::optional<LinearFit> best;
  for (const std::vector<size_t>& terms : {std::vector<size_t>{0, 1}, {0, 2}, {0}}) {
    const std::optional<LinearFit> fit = FitTerms(points, terms);
    if (!fit.has_value() || fit->c[1] < 0 || fit->c[2] < 0) continue;
    if (!best.has_value() || fit->squares < best->squares) best = fit;
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

void AddWarnings(std::span<const UslPoint> points, const LinearFit& free, UslFit& fit) {
  const size_t levels = LevelCount(points);
  if (levels < kEnoughUslLevels) {
    fit.warnings.push_back(absl::StrCat("the fit uses only ", levels, " different levels; ", kEnoughUslLevels,
                                        " or more make it reliable"));
  }
  if (fit.super_linear) {
    fit.warnings.push_back(absl::StrCat(
        "throughput grows faster than linearly (sigma = ", free.c[1] / free.c[0],
        "), which the law does not describe, so sigma is set to 0; a usual cause are caches that grow with the load"));
  } else if (fit.sigma_was_negative) {
    fit.warnings.push_back("sigma was negative within its error and is set to 0");
  }
  if (fit.kappa_was_negative) fit.warnings.push_back("kappa was negative and is set to 0");
}

UslInterval IntervalOfDraws(std::vector<double>& draws) {
  std::sort(draws.begin(), draws.end());
  const auto last = static_cast<double>(draws.size() - 1);
  return {draws[static_cast<size_t>(std::floor(0.025 * last))],
          draws[static_cast<size_t>(std::ceil(0.975 * last))]};
}

// Draws sets of points that could have been measured as well.
class Resampler {
 public:
  Resampler(std::span<const UslPoint> points, const UslFit& fit, uint64_t seed) : random_(seed) {
    std::map<double, std::vector<double>> levels;
    for (const UslPoint& point : points) levels[point.n].push_back(point.ops_per_s);
    from_residuals_ =
        std::any_of(levels.begin(), levels.end(), [](const auto& level) { return level.second.size() < 2; });
    if (from_residuals_) {
      AddResiduals(points, fit);
      return;
    }
    for (const auto& [n, values] : levels) {
      double mean = 0;
      for (const double value : values) mean += value / static_cast<double>(values.size());
      const auto r = static_cast<double>(values.size());
      std::vector<double> deviations;
      for (const double value : values) deviations.push_back((value / mean - 1) * std::sqrt(r / (r - 1)));
      groups_.push_back({std::vector<UslPoint>(values.size(), {n, mean}), deviations});
    }
  }

  bool from_residuals() const { return from_residuals_; }

  std::vector<UslPoint> Draw() {
    std::vector<UslPoint> drawn;
    for (const Group& group : groups_) {
      std::uniform_int_distribution<size_t> any(0, group.deviations.size() - 1);
      for (const UslPoint& center : group.centers)
        drawn.push_back({center.n, center.ops_per_s * (1 + group.deviations[any(random_)])});
    }
    return drawn;
  }

 private:
  struct Group {
    std::vector<UslPoint> centers;
    std::vector<double> deviations;  // relative; any of them may apply to any center
  };

  void AddResiduals(std::span<const UslPoint> points, const UslFit& fit) {
    const auto m = static_cast<double>(points.size());
    const double scale =
        m > kTerms ? std::sqrt(m / (m - kTerms)) : 1;  // the fit has taken its share of the scatter
    Group group;
    for (size_t i = 0; i < points.size(); ++i) {
      const double fitted = fit.terms.OpsPerSecond(points[i].n);
      group.centers.push_back({points[i].n, fitted});
      group.deviations.push_back(fit.residuals[i] / fitted * scale);
    }
    groups_.push_back(std::move(group));
  }

  std::mt19937_64 random_;
  bool from_residuals_ = false;
  std::vector<Group> groups_;
};

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
  const double degrees = static_cast<double>(points.size()) - static_cast<double>(kTerms);
  fit.super_linear = fit.sigma_was_negative && free->c[1] < -StudentQuantile(0.025, degrees) * free->error[1];
  AddFigures(points, fit);
  AddWarnings(points, *free, fit);
  return fit;
}

absl::StatusOr<UslIntervals> BootstrapUsl(std::span<const UslPoint> points, size_t resamples, uint64_t seed,
                                          std::span<const double> curve_n) {
  if (resamples < 100) return absl::InvalidArgumentError("an interval needs at least 100 resamples");
  const absl::StatusOr<UslFit> fit = FitUsl(points);
  if (!fit.ok()) return fit.status();
  for (const double n : curve_n) {
    if (const auto x = fit->XAt(n); !x.ok()) return x.status();
  }
  Resampler resampler(points, *fit, seed);
  std::array<std::vector<double>, 5> draws;
  std::vector<std::vector<double>> curve(curve_n.size());
  for (size_t i = 0; i < resamples; ++i) {
    const absl::StatusOr<UslFit> drawn = FitUsl(resampler.Draw());
    if (!drawn.ok()) continue;
    const UslTerms& terms = drawn->terms;
    const double values[] = {terms.lambda, terms.sigma, terms.kappa, drawn->n_star, drawn->x_max};
    for (size_t k = 0; k < draws.size(); ++k) draws[k].push_back(values[k]);
    for (size_t k = 0; k < curve_n.size(); ++k) curve[k].push_back(terms.OpsPerSecond(curve_n[k]));
  }
  if (2 * draws[0].size() < resamples) {
    return absl::FailedPreconditionError(absl::StrCat(
        "only ", draws[0].size(), " of ", resamples,
        " resamples gave a fit: the repetitions scatter too much for an interval; measure longer"));
  }
  UslIntervals intervals = {.lambda = IntervalOfDraws(draws[0]),
                            .sigma = IntervalOfDraws(draws[1]),
                            .kappa = IntervalOfDraws(draws[2]),
                            .n_star = IntervalOfDraws(draws[3]),
                            .x_max = IntervalOfDraws(draws[4]),
                            .curve = {},
                            .resamples = draws[0].size(),
                            .from_residuals = resampler.from_residuals()};
  for (std::vector<double>& values : curve) intervals.curve.push_back(IntervalOfDraws(values));
  return intervals;
}

}  // namespace iobench
