// Throughput in a closed loop over the number of clients or lanes, and the law that it follows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "coordinator/analysis/capacity/load_curve.h"
#include "coordinator/analysis/capacity/usl.h"
#include "coordinator/analysis/phase/spread.h"
#include "coordinator/analysis/statistics/median.h"
#include "coordinator/analysis/statistics/student_t.h"
#include "coordinator/capacity/capacity_report.h"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

constexpr double kTail = 0.025;  // of an interval of 95 %
// A peak of the law may lie between two measured levels, but not far above both.
constexpr double kMaxAbovePlateau = 0.05;
// A client that brings at least this share of what the first brings has a limit of its own; repetitions scatter.
constexpr double kInProportion = 0.9;
constexpr size_t kMaxCurvePoints = 128;  // whole numbers of n; up to here, all of them

double MedianOver(const LevelFigures& level, double StepFigures::*figure) {
  std::vector<double> values;
  for (const StepFigures* const each : level.repetitions) {
    if (std::isfinite(each->*figure)) values.push_back(each->*figure);
  }
  return MedianOf(values);
}

// How far throughput and latency are from Little's law; think time and flushes are in no op's latency.
double LittleErrorOf(const LevelFigures& level, double in_flight) {
  const double rate = MedianOver(level, &StepFigures::ops_per_s);
  const double mean_us = MedianOver(level, &StepFigures::mean_us);
  if (!(rate > 0) || !(mean_us > 0) || !(in_flight > 0)) return kNotMeasured;
  return CheckLittle(rate, mean_us, in_flight).error;
}

v1::ScalingLevel LevelReport(const LevelFigures& level, Kind kind, const CapacityFacts& facts) {
  v1::ScalingLevel report;
  report.set_n(kind == Kind::kClients ? level.step.clients
                                      : facts.worker_count * level.step.lanes_per_worker);
  std::set<std::string> marks;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const StepFigures* const each : level.repetitions) {
    report.add_ops_per_s(each->ops_per_s);
    low = std::min(low, each->ops_per_s);
    high = std::max(high, each->ops_per_s);
    marks.insert(each->marks.begin(), each->marks.end());
  }
  report.set_median_ops_per_s(MedianOver(level, &StepFigures::ops_per_s));
  report.set_low_ops_per_s(low);
  report.set_high_ops_per_s(high);
  report.set_bytes_per_s(MedianOver(level, &StepFigures::bytes_per_s));
  report.set_mean_us(MedianOver(level, &StepFigures::mean_us));
  report.set_p99_us(MedianOver(level, &StepFigures::p99_us));
  report.set_fairness(MedianOver(level, &StepFigures::fairness));
  // Measured, because a level may have clients with more workers than others.
  const double lane_count = MedianOver(level, &StepFigures::lane_count);
  report.set_little_error(LittleErrorOf(level, lane_count * static_cast<double>(facts.queue_depth)));
  report.set_efficiency(kNotMeasured);
  report.mutable_marks()->Assign(marks.begin(), marks.end());
  return report;
}

void FillEfficiency(v1::Scaling& scaling) {
  std::vector<ScalePoint> points;
  for (const v1::ScalingLevel& level : scaling.levels())
    points.push_back({static_cast<double>(level.n()), level.median_ops_per_s()});
  const std::vector<double> efficiency = EfficiencyPerAddedClient(points);
  for (size_t i = 0; i < efficiency.size(); ++i)
    scaling.mutable_levels(static_cast<int>(i) + 1)->set_efficiency(efficiency[i]);
}

void SetFigure(double value, const UslInterval& interval, v1::UslFigure& figure) {
  figure.set_value(value);
  figure.set_low(interval.low);
  figure.set_high(interval.high);
}

// The scatter of the repetitions, relative to the mean of their level: assumed to be that of all levels.
struct Scatter {
  double deviation = 0;
  double degrees = 0;  // 0: no level has repetitions
};
Scatter ScatterOf(const v1::Scaling& scaling) {
  double squares = 0;
  Scatter scatter;
  for (const v1::ScalingLevel& level : scaling.levels()) {
    for (const double rate : level.ops_per_s()) {
      const double off = rate / level.mean_ops_per_s() - 1;
      squares += off * off;
    }
    scatter.degrees += level.ops_per_s_size() - 1;
  }
  if (scatter.degrees > 0) scatter.deviation = std::sqrt(squares / scatter.degrees);
  return scatter;
}

void FillMeans(v1::Scaling& scaling) {
  for (v1::ScalingLevel& level : *scaling.mutable_levels()) {
    double sum = 0;
    for (const double rate : level.ops_per_s()) sum += rate;
    level.set_mean_ops_per_s(sum / level.ops_per_s_size());
  }
  const Scatter scatter = ScatterOf(scaling);
  for (v1::ScalingLevel& level : *scaling.mutable_levels()) {
    const double share = scatter.degrees > 0 ? StudentQuantile(kTail, scatter.degrees) * scatter.deviation /
                                                   std::sqrt(level.ops_per_s_size())
                                             : kNotMeasured;
    level.set_mean_low(level.mean_ops_per_s() * (1 - share));
    level.set_mean_high(level.mean_ops_per_s() * (1 + share));
  }
}

// Whether the repetitions show that `more` has a higher rate; without repetitions, whether it was measured.
bool IsHigher(const v1::ScalingLevel& more, const v1::ScalingLevel& level, const Scatter& scatter) {
  const double gain = std::log(more.mean_ops_per_s() / level.mean_ops_per_s());
  if (scatter.degrees == 0) return gain > 0;
  const double error = scatter.deviation * std::sqrt(1.0 / more.ops_per_s_size() + 1.0 / level.ops_per_s_size());
  return gain > StudentQuantile(kTail, scatter.degrees) * error;
}

// From the first level on that no later one exceeds.
void FindPlateau(v1::Scaling& scaling) {
  const Scatter scatter = ScatterOf(scaling);
  const auto& levels = scaling.levels();
  for (int i = 0; i + 1 < levels.size(); ++i) {
    const auto exceeds = [&](const v1::ScalingLevel& more) { return IsHigher(more, levels[i], scatter); };
    if (std::any_of(levels.begin() + i + 1, levels.end(), exceeds)) continue;
    return scaling.set_plateau_n(levels[i].n());
  }
}

// Why the law is not offered although it could be fitted; empty: it is.
std::string WhyNoLaw(const UslFit& fit, const v1::Scaling& scaling) {
  const std::string& over = scaling.over();
  if (std::isnan(fit.fit_p)) {
    return "without repetitions it cannot be tested whether the law holds (--repeat 2 or more); rates are interpolated "
           "between those measured";
  }
  if (!fit.Fits()) {
    return absl::StrFormat(
        "the law does not fit: with %.0f %s, the rate is %.0f %% %s than the law says, which is more than the repetitions "
        "scatter (p %s); rates are interpolated between those measured",
        fit.worst_n, fit.worst_n == 1 ? over.substr(0, over.size() - 1) : over, 100 * std::abs(fit.worst_share),
        fit.worst_share > 0 ? "higher" : "lower", fit.fit_p < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", fit.fit_p));
  }
  if (scaling.plateau_n() == 0) return "";
  const v1::ScalingLevel& best = HighestLevelOf(scaling);
  double most = 0;
  for (double n = 1; n <= fit.largest_n; ++n) most = std::max(most, fit.terms.OpsPerSecond(n));
  const double highest = std::isfinite(best.mean_high()) ? best.mean_high() : best.mean_ops_per_s();
  if (most <= (1 + kMaxAbovePlateau) * highest) return "";
  return absl::StrFormat(
      "the law says that up to %.0f ops/s can be reached, but no more than %.0f was, although more %s were measured; rates "
      "are interpolated between those measured",
      most, highest, over);
}

// The points of a level, as n lanes or clients.
void AddPoints(const LevelFigures& level, double n, std::vector<UslPoint>& points) {
  for (const StepFigures* const each : level.repetitions) {
    const double one_op_share = each->ops > 0 ? each->lane_count / static_cast<double>(each->ops) : 0;
    points.push_back({n, each->ops_per_s, one_op_share});
  }
}

void FitLaw(std::span<const UslPoint> points, v1::Scaling& scaling) {
  scaling.set_fit_p(kNotMeasured);
  const absl::StatusOr<UslFit> fit = FitUsl(points);
  if (!fit.ok()) {
    scaling.set_usl_refused(std::string(fit.status().message()));
    return;
  }
  scaling.set_fit_p(fit->fit_p);
  if (std::string why = WhyNoLaw(*fit, scaling); !why.empty()) return scaling.set_usl_refused(std::move(why));
  std::vector<double> curve_n;
  const double end = kMaxExtrapolation * fit->largest_n;
  for (double n = 1; n <= end; n += std::max(1.0, std::floor(end / kMaxCurvePoints))) curve_n.push_back(n);
  const absl::StatusOr<UslIntervals> intervals = IntervalsOf(points, *fit, curve_n);
  if (!intervals.ok()) {
    scaling.set_usl_refused(std::string(intervals.status().message()));
    return;
  }
  v1::UslReport& law = *scaling.mutable_usl();
  SetFigure(fit->terms.lambda, intervals->lambda, *law.mutable_lambda());
  SetFigure(fit->terms.sigma, intervals->sigma, *law.mutable_sigma());
  SetFigure(fit->terms.kappa, intervals->kappa, *law.mutable_kappa());
  if (!fit->peak_out_of_reach && intervals->kappa.low > 0) {  // otherwise there may be none
    SetFigure(fit->n_star, intervals->n_star, *law.mutable_n_star());
    SetFigure(fit->x_max, intervals->x_max, *law.mutable_x_max());
  }
  law.set_r_squared(fit->r_squared);
  law.set_largest_n(fit->largest_n);
  for (size_t i = 0; i < curve_n.size(); ++i) {
    const absl::StatusOr<double> rate = fit->XAt(curve_n[i]);
    if (!rate.ok()) continue;
    law.add_curve_n(curve_n[i]);
    law.add_curve_ops_per_s(*rate);
    law.add_curve_low(intervals->curve[i].low);
    law.add_curve_high(intervals->curve[i].high);
  }
  scaling.mutable_warnings()->Assign(fit->warnings.begin(), fit->warnings.end());
}

}  // namespace

v1::Scaling ScalingOf(const CapacitySearch& search, Kind kind, const CapacityFacts& facts) {
  v1::Scaling scaling;
  scaling.set_over(kind == Kind::kClients ? "clients" : "lanes");
  std::vector<UslPoint> points;
  for (const LevelFigures& level : LevelsOf(search.steps(), kind, search.settings())) {
    v1::ScalingLevel& report = *scaling.add_levels() = LevelReport(level, kind, facts);
    AddPoints(level, static_cast<double>(report.n()), points);
  }
  FillEfficiency(scaling);
  FillMeans(scaling);
  FindPlateau(scaling);
  FitLaw(points, scaling);
  return scaling;
}

const v1::ScalingLevel& HighestLevelOf(const v1::Scaling& scaling) {
  return *std::max_element(scaling.levels().begin(), scaling.levels().end(),
                           [](const v1::ScalingLevel& a, const v1::ScalingLevel& b) {
                             return a.mean_ops_per_s() < b.mean_ops_per_s();
                           });
}

bool RisesInProportion(const v1::Scaling& scaling) {
  const v1::ScalingLevel &first = scaling.levels(0), &last = *scaling.levels().rbegin();
  return scaling.plateau_n() == 0 && LastGainOf(scaling) >= kInProportion &&
         last.mean_ops_per_s() / last.n() >= kInProportion * first.mean_ops_per_s() / first.n();
}

double LastGainOf(const v1::Scaling& scaling) {
  const v1::ScalingLevel &first = scaling.levels(0), &last = *scaling.levels().rbegin();
  const v1::ScalingLevel& before = scaling.levels(scaling.levels_size() - 2);
  return (last.mean_ops_per_s() - before.mean_ops_per_s()) / (last.n() - before.n()) /
         (first.mean_ops_per_s() / first.n());
}

}  // namespace iobench
