// Throughput in a closed loop over the number of clients or lanes, and the law that it follows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/capacity/load_curve.h"
#include "coordinator/analysis/capacity/usl.h"
#include "coordinator/analysis/phase/spread.h"
#include "coordinator/capacity/capacity_report.h"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

constexpr size_t kResamples = 1000;
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

void FitLaw(uint64_t seed, v1::Scaling& scaling) {
  std::vector<UslPoint> points;
  for (const v1::ScalingLevel& level : scaling.levels()) {
    for (const double rate : level.ops_per_s()) points.push_back({static_cast<double>(level.n()), rate});
  }
  const absl::StatusOr<UslFit> fit = FitUsl(points);
  if (!fit.ok()) {
    scaling.set_usl_refused(std::string(fit.status().message()));
    return;
  }
  std::vector<double> curve_n;
  const double end = kMaxExtrapolation * fit->largest_n;
  for (double n = 1; n <= end; n += std::max(1.0, std::floor(end / kMaxCurvePoints))) curve_n.push_back(n);
  const absl::StatusOr<UslIntervals> intervals = BootstrapUsl(points, kResamples, seed, curve_n);
  if (!intervals.ok()) {
    scaling.set_usl_refused(std::string(intervals.status().message()));
    return;
  }
  v1::UslReport& law = *scaling.mutable_usl();
  SetFigure(fit->terms.lambda, intervals->lambda, *law.mutable_lambda());
  SetFigure(fit->terms.sigma, intervals->sigma, *law.mutable_sigma());
  SetFigure(fit->terms.kappa, intervals->kappa, *law.mutable_kappa());
  if (!fit->peak_out_of_reach) {
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
  if (intervals->from_residuals) {
    scaling.add_warnings(
        "some levels were measured only once, so the intervals reflect how well the law fits, not the repetitions");
  }
}

}  // namespace

v1::Scaling ScalingOf(const CapacitySearch& search, Kind kind, const CapacityFacts& facts) {
  v1::Scaling scaling;
  scaling.set_over(kind == Kind::kClients ? "clients" : "lanes");
  for (const LevelFigures& level : LevelsOf(search.steps(), kind, search.settings()))
    *scaling.add_levels() = LevelReport(level, kind, facts);
  FillEfficiency(scaling);
  FitLaw(search.settings().seed, scaling);
  return scaling;
}

}  // namespace iobench
