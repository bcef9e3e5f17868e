#include "coordinator/analysis/compare/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/compare/figure_error.h"
#include "coordinator/analysis/compare/ratio_maps.h"
#include "coordinator/analysis/compare/repetition_list.h"
#include "coordinator/analysis/compare/report_heading.h"
#include "coordinator/analysis/compare/verdicts.h"
#include "coordinator/analysis/statistics/dependence.h"

namespace iobench {
namespace {

constexpr size_t kMinRepetitions = 3;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A ratio, and its interval if there is one.
struct Tested {
  v1::RatioEstimate estimate;
  std::optional<RatioInterval> interval;
};

Tested Unshown(double baseline, double compared, std::string why) {
  Tested tested;
  const double ratio = compared / baseline;
  tested.estimate = UnknownEstimate(std::isfinite(ratio) && ratio > 0 ? ratio : kNaN, std::move(why));
  return tested;
}

Tested TestedFrom(double baseline, const RelativeError& baseline_error, double compared,
                  const RelativeError& compared_error, double level) {
  const RatioInterval interval = RatioOf(baseline, baseline_error, compared, compared_error, level);
  return {EstimateFrom(interval), interval};
}

double MeanRate(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? kNaN : sum / static_cast<double>(values.size());
}

std::string SlicesWhy(const char* which, const PhaseSamples& samples) {
  if (!samples.slices_why.empty()) return absl::StrCat(which, ": ", samples.slices_why);
  if (samples.slices.size() < kMinSeries) {
    return absl::StrCat(which, ": only ", samples.slices.size(), " time slices; ", kMinSeries, " are needed");
  }
  return absl::StrCat(which, ": nothing was moved");
}

constexpr char kRepeatHint[] = "; measure longer, or repeat the runs (--repeat 5)";

// For one measurement each: compares the time slices within them.
Tested RateFromSlices(const PhaseSamples& baseline, const PhaseSamples& compared, double level) {
  const double before = baseline.Rates()[0], after = compared.Rates()[0];
  const std::optional<RelativeError> before_error = ErrorOfSeries(baseline.slices);
  const std::optional<RelativeError> after_error = ErrorOfSeries(compared.slices);
  if (!before_error.has_value())
    return Unshown(before, after, absl::StrCat(SlicesWhy("baseline", baseline), kRepeatHint));
  if (!after_error.has_value())
    return Unshown(before, after, absl::StrCat(SlicesWhy("other run", compared), kRepeatHint));
  return TestedFrom(before, *before_error, after, *after_error, level);
}

// The counts of a message's map as numbers that can be added and subtracted.
class LatencyCounts {
 public:
  explicit LatencyCounts(const v1::LatencyMap& map)
      : upper_(map.bin_upper_us().begin(), map.bin_upper_us().end()) {
    slices_.lowest_us = map.lowest_us();
    slices_.bin_upper_us = upper_;
    const size_t bins = upper_.size();
    if (bins == 0 || static_cast<size_t>(map.ops_size()) != bins * map.slice_count()) return;
    counts_.assign(map.ops().begin(), map.ops().end());
    for (uint32_t i = 0; i < map.slice_count(); ++i)
      slices_.counts.push_back(std::span<const double>(counts_).subspan(i * bins, bins));
  }
  LatencyCounts(const LatencyCounts&) = delete;
  LatencyCounts& operator=(const LatencyCounts&) = delete;
  const LatencyOverTime& slices() const { return slices_; }

 private:
  std::vector<double> upper_, counts_;
  LatencyOverTime slices_;
};

Tested LatencyFromSlices(const PhaseSamples& baseline, const PhaseSamples& compared, double level) {
  const double before = baseline.P99s()[0], after = compared.P99s()[0];
  const auto before_error = ErrorOfPercentile(LatencyCounts(baseline.latency).slices(), 0.99);
  const auto after_error = ErrorOfPercentile(LatencyCounts(compared.latency).slices(), 0.99);
  if (!before_error.has_value() || !after_error.has_value())
    return Unshown(before, after, absl::StrCat("too few time slices of latency", kRepeatHint));
  return TestedFrom(before, *before_error, after, *after_error, level);
}

Tested TestedLatency(const PhaseSamples& baseline, const PhaseSamples& compared, const std::string& method,
                     double level) {
  const std::vector<double> before = baseline.P99s(), after = compared.P99s();
  const double before_mean = MeanRate(before), after_mean = MeanRate(after);
  if (!(before_mean > 0) || !(after_mean > 0)) return Unshown(kNaN, kNaN, "no latency");
  if (baseline.p99_unsure() || compared.p99_unsure())
    return Unshown(before_mean, after_mean, "fewer than 100 ops are slower than p99");
  if (method == "repetitions")
    return TestedFrom(before_mean, ErrorOfMean(before), after_mean, ErrorOfMean(after), level);
  if (method == "slices") return LatencyFromSlices(baseline, compared, level);
  return Unshown(before_mean, after_mean, "as for the rate");
}

struct Pair {
  v1::PhaseComparison comparison;
  std::optional<RatioInterval> rate, latency;
};

Pair Compare(const PhaseSamples& baseline, const PhaseSamples& compared, uint32_t run, double level) {
  Pair pair;
  v1::PhaseComparison& comparison = pair.comparison;
  *comparison.mutable_phase() = baseline.key;
  comparison.set_run(run);
  comparison.set_metadata(baseline.metadata);
  *comparison.mutable_baseline() = SummaryOf(baseline);
  *comparison.mutable_compared() = SummaryOf(compared);
  const std::vector<double> before = baseline.Rates(), after = compared.Rates();
  Tested rate;
  if (before.empty() || after.empty()) {
    rate = Unshown(kNaN, kNaN,
                      absl::StrCat(before.empty() ? "baseline" : "other run",
                                   ": no complete measurement (interrupted, partial or failed)"));
  } else if (before.size() >= kMinRepetitions && after.size() >= kMinRepetitions) {
    comparison.set_method("repetitions");
    rate = TestedFrom(MeanRate(before), ErrorOfMean(before), MeanRate(after), ErrorOfMean(after), level);
  } else if (before.size() == 1 && after.size() == 1) {
    rate = RateFromSlices(baseline, compared, level);
    if (rate.interval.has_value()) comparison.set_method("slices");
  } else {
    rate = Unshown(MeanRate(before), MeanRate(after),
                      absl::StrCat("complete repetitions: ", before.size(), " and ", after.size(),
                                   "; at least ", kMinRepetitions, " are needed in both, or one in each"));
  }
  // Latency can be told from its own slices where the rate cannot, for example because of a flush.
  const bool single = before.size() == 1 && after.size() == 1;
  const std::string latency_method = single ? "slices" : comparison.method();
  const Tested latency = TestedLatency(baseline, compared, latency_method, level);
  *comparison.mutable_latency_p99() = latency.estimate;
  *comparison.mutable_rate() = rate.estimate;
  pair.rate = rate.interval;
  pair.latency = latency.interval;
  return pair;
}

// The intervals of the report's phases.
struct Intervals {
  std::vector<std::optional<RatioInterval>> rates, latencies;
};

// A text for each phase that is equal in two runs if the phases are to be compared. By name: the first one of a name with
// the first one of it. Bytes/s and ops/s have no ratio.
std::vector<std::string> PairingTexts(const std::vector<PhaseSamples>& phases, bool by_name) {
  std::vector<std::string> texts;
  std::map<std::string, int> seen;
  for (const PhaseSamples& phase : phases) {
    if (!by_name) {
      texts.push_back(TextOf(phase.key));
      continue;
    }
    const std::string text = absl::StrCat(phase.key.name(), "\n", phase.metadata ? "ops" : "bytes");
    texts.push_back(absl::StrCat(text, "\n", ++seen[text]));
  }
  return texts;
}

void AddPairs(std::span<const RunToCompare> runs, uint32_t run, const CompareSettings& settings,
              v1::CompareReport& report, Intervals& intervals) {
  const auto texts_of = [&settings](const RunToCompare& of) { return PairingTexts(of.phases, settings.by_name); };
  const std::vector<std::string> baseline_texts = texts_of(runs[0]), run_texts = texts_of(runs[run]);
  const auto add_unmatched = [&](const v1::PhaseKey& key, bool only_in_baseline) {
    v1::UnmatchedPhase& unmatched = *report.add_unmatched();
    *unmatched.mutable_phase() = key;
    unmatched.set_run(run);
    unmatched.set_only_in_baseline(only_in_baseline);
  };
  std::map<std::string, const PhaseSamples*> in_run;
  for (size_t i = 0; i < run_texts.size(); ++i) in_run[run_texts[i]] = &runs[run].phases[i];
  for (size_t i = 0; i < baseline_texts.size(); ++i) {
    const PhaseSamples& baseline = runs[0].phases[i];
    const auto found = in_run.find(baseline_texts[i]);
    if (found == in_run.end()) {
      add_unmatched(baseline.key, true);
      continue;
    }
    Pair pair = Compare(baseline, *found->second, run, settings.level);
    *report.add_phases() = std::move(pair.comparison);
    intervals.rates.push_back(pair.rate);
    intervals.latencies.push_back(pair.latency);
  }
  const std::set<std::string> in_baseline(baseline_texts.begin(), baseline_texts.end());
  for (size_t i = 0; i < run_texts.size(); ++i) {
    if (!in_baseline.contains(run_texts[i])) add_unmatched(runs[run].phases[i].key, false);
  }
}

void SetVerdicts(const CompareSettings& settings, v1::CompareReport& report) {
  std::vector<v1::RatioEstimate*> rates, latencies;
  for (v1::PhaseComparison& phase : *report.mutable_phases()) {
    rates.push_back(phase.mutable_rate());
    latencies.push_back(phase.mutable_latency_p99());
  }
  SetFamilyVerdicts(rates, Better::kAbove, settings.level, settings.margin);
  SetFamilyVerdicts(latencies, Better::kBelow, settings.level, settings.margin);
  for (v1::PhaseComparison& phase : *report.mutable_phases())
    phase.set_verdict(VerdictOnBoth(phase.rate(), phase.latency_p99()));
}

void CountVerdicts(uint32_t run, v1::CompareReport& report) {
  v1::VerdictCount& count = *report.add_counts();
  count.set_run(run);
  for (const v1::PhaseComparison& phase : report.phases()) {
    if (phase.run() != run) continue;
    const std::string& verdict = phase.verdict();
    if (verdict == kBetter) count.set_better(count.better() + 1);
    if (verdict == kWorse) count.set_worse(count.worse() + 1);
    if (verdict == kEqual) count.set_equal(count.equal() + 1);
    if (verdict == kNotShown) count.set_not_shown(count.not_shown() + 1);
  }
}

void Judge(double limit, double level, const Intervals& intervals, v1::CompareReport& report) {
  v1::Gate& gate = *report.mutable_gate();
  gate.set_limit_percent(100 * limit);
  const std::vector<const char*> verdicts = LimitVerdicts(intervals.rates, intervals.latencies, limit, level);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    report.mutable_phases(static_cast<int>(i))->set_limit_verdict(verdicts[i]);
    CountLimitVerdict(verdicts[i], gate);
  }
}

}  // namespace

RunToCompare RunToCompareFrom(const std::string& name, const v1::RunReport& report) {
  RunToCompare run;
  run.run.set_name(name);
  run.run.set_id(report.run().id());
  run.run.set_label(report.run().label());
  run.run.set_started_at(report.run().started_at());
  run.run.set_command(report.run().command());
  for (const v1::ErrorReport& problem : report.run().problems()) run.run.add_problems(problem.message());
  if (!report.run().finished()) run.run.add_problems("the run did not finish");
  run.facts = FactsOf(report);
  run.phases = SamplesOf(report);
  return run;
}

v1::CompareReport CompareRuns(std::span<const RunToCompare> runs, const CompareSettings& settings) {
  v1::CompareReport report;
  FillHeading("cluster-iobench comparison 2", runs, settings, report);
  if (runs.size() == 1) {
    for (const PhaseSamples& phase : runs[0].phases) *report.add_repetitions() = RepetitionListOf(phase);
    return report;
  }
  report.set_paired_by_name(settings.by_name);
  Intervals intervals;
  for (uint32_t run = 1; run < runs.size(); ++run) AddPairs(runs, run, settings, report, intervals);
  SetVerdicts(settings, report);
  AddRatioMaps(intervals.rates, settings.level, settings.margin, report);
  for (uint32_t run = 1; run < runs.size(); ++run) CountVerdicts(run, report);
  if (settings.fail_under.has_value()) Judge(*settings.fail_under, settings.level, intervals, report);
  return report;
}

}  // namespace iobench
