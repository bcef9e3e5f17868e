#include "coordinator/analysis/compare/history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/analysis/compare/bootstrap.h"
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

void SetTrend(const Series& series, double median, v1::Trend& trend) {
  trend.set_percent_per_day(kUnknownFigure);
  trend.set_p(kUnknownFigure);
  trend.set_kendall_s(kUnknownFigure);
  if (series.rates.size() < kMinForTrend) {
    trend.set_why(TooFew(series.rates.size(), kMinForTrend));
    return;
  }
  const KendallTest test = MannKendall(series.rates);
  trend.set_percent_per_day(100 * TheilSenSlope(series.days, series.rates) / median);
  trend.set_kendall_s(test.s);
  trend.set_p(test.p);
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

void SetTrendVerdicts(double level, v1::HistoryReport& report) {
  std::vector<double> p_values;
  for (const v1::PhaseHistory& phase : report.phases()) p_values.push_back(phase.trend().p());
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  for (int i = 0; i < report.phases_size(); ++i) {
    v1::Trend& trend = *report.mutable_phases(i)->mutable_trend();
    trend.set_adjusted_p(adjusted[static_cast<size_t>(i)]);
    if (std::isnan(trend.p())) {
      trend.set_verdict(kCannotTell);
    } else if (trend.adjusted_p() > 1 - level) {
      trend.set_verdict("no trend");
    } else {
      trend.set_verdict(trend.kendall_s() > 0 ? "rising" : "falling");
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

void JudgeChanges(double limit, v1::HistoryReport& report) {
  v1::Gate& gate = *report.mutable_gate();
  gate.set_limit_percent(100 * limit);
  for (v1::PhaseHistory& phase : *report.mutable_phases()) {
    const char* verdict = kNotBelowLimit;
    if (!phase.changes_why().empty()) verdict = kCannotTell;
    if (!phase.changes().empty() && phase.changes().rbegin()->ratio() < limit) verdict = kBelowLimit;
    phase.set_limit_verdict(verdict);
    CountLimitVerdict(verdict, gate);
  }
}

}  // namespace

v1::HistoryReport HistoryOf(std::vector<RunToCompare> runs, const CompareSettings& settings) {
  std::stable_sort(runs.begin(), runs.end(), [](const RunToCompare& a, const RunToCompare& b) {
    return StartSeconds(a.run) < StartSeconds(b.run);
  });
  v1::HistoryReport report;
  FillHeading("cluster-iobench history 1", runs, settings, report);
  AddPhases(runs, report);
  // Each phase is a test, so each gets its share of the error (Bonferroni).
  const double alpha = (1 - settings.level) / std::max(1, report.phases_size());
  for (v1::PhaseHistory& phase : *report.mutable_phases()) {
    const Series series = SeriesOf(phase);
    phase.set_median(MedianOfSeries(series.rates));
    for (v1::HistoryPoint& point : *phase.mutable_points())
      point.set_of_median(point.figure().rate() / phase.median());
    SetTrend(series, phase.median(), *phase.mutable_trend());
    SetChanges(series, alpha, phase);
  }
  SetTrendVerdicts(settings.level, report);
  if (settings.fail_under.has_value()) JudgeChanges(*settings.fail_under, report);
  return report;
}

}  // namespace iobench
