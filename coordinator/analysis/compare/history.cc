#include "coordinator/analysis/compare/history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/analysis/compare/figure_error.h"
#include "coordinator/analysis/compare/report_heading.h"
#include "coordinator/analysis/statistics/trend.h"
#include "coordinator/analysis/compare/verdicts.h"

namespace iobench {
namespace {

constexpr double kSecondsPerDay = 86400;
constexpr double kUnknownFigure = std::numeric_limits<double>::quiet_NaN();

// A run with a damaged record may have no time; it then comes first.
double StartSeconds(const v1::ComparedRun& run) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, run.started_at(), &time, &error)) return 0;
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

// The points of a phase that count.
struct Series {
  std::vector<double> days, rates;
  std::vector<uint32_t> runs;
};

Series SeriesOf(const v1::PhaseHistory& phase) {
  Series series;
  for (const v1::HistoryPoint& point : phase.points()) {
    if (point.figure().count() == 0) continue;
    series.days.push_back(point.days());
    series.rates.push_back(point.figure().rate());
    series.runs.push_back(point.run());
  }
  return series;
}

std::string TooFew(size_t count, size_t needed) {
  return absl::StrCat(count, count == 1 ? " run; " : " runs; ", "at least ", needed, " are needed");
}

void SetTrend(const Series& series, double median, double level, v1::Trend& trend) {
  const double days = series.days.empty() ? 0 : series.days.back() - series.days.front();
  trend.set_observed_days(days);
  trend.set_percent(kUnknownFigure);
  trend.set_low(kUnknownFigure);
  trend.set_high(kUnknownFigure);
  trend.set_p(kUnknownFigure);
  trend.set_kendall_s(kUnknownFigure);
  trend.set_correlation(kUnknownFigure);
  if (series.rates.size() < kMinForTrend) return trend.set_why(TooFew(series.rates.size(), kMinForTrend));
  if (!(days > 0)) return trend.set_why("all runs have the same start");
  const SeriesTrend found = TrendOf(series.days, series.rates, level);
  const double percent = 100 * days / median;  // over the whole time, never of a time that nobody has seen
  trend.set_percent(found.slope * percent);
  trend.set_low(found.low * percent);
  trend.set_high(found.high * percent);
  trend.set_kendall_s(found.kendall_s);
  trend.set_p(found.p);
  trend.set_correlation(found.correlation);
}

void SetChanges(const Series& series, double alpha, v1::PhaseHistory& phase) {
  if (series.rates.size() < kMinForChanges) {
    phase.set_changes_why(TooFew(series.rates.size(), kMinForChanges));
    return;
  }
  const std::span<const double> rates(series.rates);
  const std::vector<Change> changes = ChangePoints(rates, alpha);
  for (size_t i = 0; i < changes.size(); ++i) {
    const size_t begin = i == 0 ? 0 : changes[i - 1].first;
    const size_t end = i + 1 < changes.size() ? changes[i + 1].first : rates.size();
    v1::ChangePoint& change = *phase.add_changes();
    change.set_run(series.runs[changes[i].first]);
    change.set_median_before(MedianOfSeries(rates.subspan(begin, changes[i].first - begin)));
    change.set_median_after(MedianOfSeries(rates.subspan(changes[i].first, end - changes[i].first)));
    change.set_ratio(change.median_after() / change.median_before());
    change.set_p(changes[i].p);
  }
}

void SetTrendVerdicts(const CompareSettings& settings, v1::HistoryReport& report) {
  std::vector<double> p_values;
  for (const v1::PhaseHistory& phase : report.phases()) p_values.push_back(phase.trend().p());
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  const double margin = 100 * settings.margin;
  for (int i = 0; i < report.phases_size(); ++i) {
    v1::Trend& trend = *report.mutable_phases(i)->mutable_trend();
    trend.set_adjusted_p(adjusted[static_cast<size_t>(i)]);
    if (trend.adjusted_p() <= 1 - settings.level) {  // false for NaN
      trend.set_verdict(trend.kendall_s() > 0 ? "rising" : "falling");
    } else {
      trend.set_verdict(trend.low() >= -margin && trend.high() <= margin ? "steady" : kNotShown);
    }
  }
}

// Collects the points of all runs by phase, in the order in which the phases first occur.
void AddPhases(std::span<const RunToCompare> runs, v1::HistoryReport& report) {
  std::vector<v1::PhaseHistory> all;
  std::map<std::string, size_t> place_of;
  const double first_s = StartSeconds(runs[0].run);
  for (size_t run = 0; run < runs.size(); ++run) {
    for (const PhaseSamples& samples : runs[run].phases) {
      const auto [place, is_new] = place_of.try_emplace(TextOf(samples.key), all.size());
      if (is_new) {
        *all.emplace_back().mutable_phase() = samples.key;
        all.back().set_metadata(samples.metadata);
      }
      v1::HistoryPoint& point = *all[place->second].add_points();
      point.set_run(static_cast<uint32_t>(run));
      point.set_days((StartSeconds(runs[run].run) - first_s) / kSecondsPerDay);
      *point.mutable_figure() = SummaryOf(samples);
    }
  }
  for (v1::PhaseHistory& phase : all) {
    if (phase.points_size() > 1 || runs.size() == 1) *report.add_phases() = std::move(phase);
  }
}

// The newest level against the one before: from the newest change on, or without one, the newest third of the runs.
std::optional<RatioInterval> NewestAgainstBefore(const Series& series, const v1::PhaseHistory& phase, double level) {
  const size_t count = series.rates.size();
  if (count < kMinForChanges) return std::nullopt;
  size_t begin = 0, first = count - std::max(kMinSegment, count / 3);
  const auto index_of = [&](uint32_t run) {
    return static_cast<size_t>(std::find(series.runs.begin(), series.runs.end(), run) - series.runs.begin());
  };
  const int changes = phase.changes_size();
  if (changes > 0) first = index_of(phase.changes(changes - 1).run());
  if (changes > 1) begin = index_of(phase.changes(changes - 2).run());
  const auto mean = [](std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const std::span<const double> rates(series.rates);
  const std::span<const double> before = rates.subspan(begin, first - begin), newest = rates.subspan(first);
  return RatioOf(mean(before), ErrorOfMean(before), mean(newest), ErrorOfMean(newest), level);
}

void JudgeChanges(double limit, double level, v1::HistoryReport& report) {
  v1::Gate& gate = *report.mutable_gate();
  gate.set_limit_percent(100 * limit);
  std::vector<std::optional<RatioInterval>> newest;
  for (const v1::PhaseHistory& phase : report.phases())
    newest.push_back(NewestAgainstBefore(SeriesOf(phase), phase, level));
  const std::vector<std::optional<RatioInterval>> no_latency(newest.size());
  const std::vector<const char*> verdicts = LimitVerdicts(newest, no_latency, limit, level);
  for (size_t i = 0; i < newest.size(); ++i) {
    v1::PhaseHistory& phase = *report.mutable_phases(static_cast<int>(i));
    // A change that was found is known by itself.
    const bool changed = !phase.changes().empty() && phase.changes().rbegin()->ratio() < limit;
    phase.set_limit_verdict(changed ? kBelowLimit : verdicts[i]);
    CountLimitVerdict(phase.limit_verdict(), gate);
  }
}

}  // namespace

v1::HistoryReport HistoryOf(std::vector<RunToCompare> runs, const CompareSettings& settings) {
  std::stable_sort(runs.begin(), runs.end(), [](const RunToCompare& a, const RunToCompare& b) {
    return StartSeconds(a.run) < StartSeconds(b.run);
  });
  v1::HistoryReport report;
  FillHeading("cluster-iobench history 2", runs, settings, report);
  AddPhases(runs, report);
  // Each phase is a test, so each gets its share of the error (Bonferroni).
  const double alpha = (1 - settings.level) / std::max(1, report.phases_size());
  for (v1::PhaseHistory& phase : *report.mutable_phases()) {
    const Series series = SeriesOf(phase);
    phase.set_median(MedianOfSeries(series.rates));
    for (v1::HistoryPoint& point : *phase.mutable_points())
      point.set_of_median(point.figure().rate() / phase.median());
    SetTrend(series, phase.median(), settings.level, *phase.mutable_trend());
    SetChanges(series, alpha, phase);
  }
  SetTrendVerdicts(settings, report);
  if (settings.fail_under.has_value()) JudgeChanges(*settings.fail_under, settings.level, report);
  return report;
}

}  // namespace iobench
