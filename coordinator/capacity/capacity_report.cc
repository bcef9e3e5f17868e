#include "coordinator/capacity/capacity_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/capacity/load_curve.h"
#include "coordinator/analysis/statistics/steady_state.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/analysis/phase/spread.h"
#include "coordinator/analysis/statistics/median.h"
#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Half the width of the mean's 95 % interval.
double HalfInterval(const std::vector<double>& values) {
  if (values.size() < 2) return kNotMeasured;
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double count = static_cast<double>(values.size());
  return StudentQuantile(0.025, count - 1) * std::sqrt(squares / (count - 1) / count);
}

std::vector<double> ValuesOf(const LevelFigures& level, double StepFigures::*figure) {
  std::vector<double> values;
  for (const StepFigures* const each : level.repetitions) {
    if (std::isfinite(each->*figure) && each->ops_per_s > 0) values.push_back(each->*figure);
  }
  return values;
}

v1::CurvePoint PointOf(const LevelFigures& level) {
  v1::CurvePoint point;
  point.set_share_of_max(level.step.share_of_max);
  point.set_offered_per_s(level.step.offered_per_s);
  point.set_achieved_per_s(MedianOf(ValuesOf(level, &StepFigures::ops_per_s)));
  point.set_bytes_per_s(MedianOf(ValuesOf(level, &StepFigures::bytes_per_s)));
  const std::vector<double> means = ValuesOf(level, &StepFigures::mean_us);
  const double mean = MeanOf(means), half = HalfInterval(means);
  point.set_mean_us(mean);
  point.set_mean_low_us(std::isfinite(half) ? std::max(0.0, mean - half) : kNotMeasured);
  point.set_mean_high_us(mean + half);
  point.set_p50_us(MedianOf(ValuesOf(level, &StepFigures::p50_us)));
  point.set_p99_us(MedianOf(ValuesOf(level, &StepFigures::p99_us)));
  point.set_done_percent(100 * MedianOf(ValuesOf(level, &StepFigures::done_share)));
  point.set_repetitions(static_cast<uint32_t>(means.size()));
  std::set<std::string> marks;
  for (const StepFigures* const each : level.repetitions)
    marks.insert(each->marks.begin(), each->marks.end());
  point.mutable_marks()->Assign(marks.begin(), marks.end());
  return point;
}

std::vector<LoadPoint> LoadPointsOf(const v1::CapacityReport& report) {
  std::vector<LoadPoint> points;
  for (const v1::CurvePoint& point : report.curve()) {
    points.push_back({.offered_per_s = point.offered_per_s(),
                      .achieved_per_s = point.achieved_per_s(),
                      .mean_us = point.mean_us(),
                      .p50_us = point.p50_us(),
                      .p99_us = point.p99_us(),
                      .mean_low_us = point.mean_low_us(),
                      .mean_high_us = point.mean_high_us()});
  }
  return points;
}

void FillCurve(const CapacitySearch& search, v1::CapacityReport& report) {
  for (const LevelFigures& level : LevelsOf(search.steps(), Kind::kCurve, search.settings()))
    *report.add_curve() = PointOf(level);
  const std::vector<LoadPoint> all = LoadPointsOf(report);
  const std::span<const LoadPoint> points = UpToPeak(all);
  if (const std::optional<Knee> knee = KneeOf(points); knee.has_value()) {
    v1::CurveKnee& shown = *report.mutable_knee();
    shown.set_ops_per_s(points[knee->kleinrock].achieved_per_s);
    shown.set_mean_us(points[knee->kleinrock].mean_us);
    shown.set_kneedle_ops_per_s(knee->kneedle.has_value() ? points[*knee->kneedle].achieved_per_s
                                                          : kNotMeasured);
    shown.set_broad(knee->broad);
  }
  if (const std::optional<OverallResponse> overall = OverallResponseOf(points); overall.has_value()) {
    report.mutable_overall_response()->set_trapezoid_us(overall->ort_spec_us);
    report.mutable_overall_response()->set_mean_over_range_us(overall->mean_latency_over_range_us);
  }
}

// The response time of an op that does not wait for others: that of the smallest closed loop, or of the lowest load.
double LeastResponseOf(const v1::CapacityReport& report) {
  double least = kNotMeasured;
  for (const v1::Scaling& scaling : report.scalings()) {
    if (scaling.levels().empty()) continue;
    const double mean_us = scaling.levels(0).mean_us();
    if (mean_us > 0 && !(mean_us >= least)) least = mean_us;
  }
  if (std::isnan(least) && !report.curve().empty()) least = report.curve(0).mean_us();
  return least;
}

void FillMax(const CapacitySearch& search, const CapacityFacts& facts, v1::CapacityReport& report) {
  if (!search.highest().has_value()) return;
  const HighestRate& highest = *search.highest();
  v1::CapacityMax& max = *report.mutable_max();
  max.set_ops_per_s(highest.ops_per_s);
  max.set_bytes_per_s(highest.bytes_per_s);
  max.set_clients(highest.step.clients);
  max.set_lanes(static_cast<uint32_t>(std::lround(highest.lane_count)));
  if (facts.mix_per_s > 0) max.set_times_mix(highest.ops_per_s / facts.mix_per_s);
  const double ops_in_flight = SaturationN(highest.ops_per_s, LeastResponseOf(report));
  max.set_saturation_lanes(facts.queue_depth > 0 ? ops_in_flight / static_cast<double>(facts.queue_depth)
                                                 : kNotMeasured);
  for (const v1::Limit& limit : highest.limits) {
    max.add_limited_by(limit.evidence());
    max.add_advice(limit.advice());
  }
}

const char* NameOf(SloOutcome::Kind kind) {
  switch (kind) {
    case SloOutcome::Kind::kRunning:
      return "stopped";
    case SloOutcome::Kind::kFound:
      return "found";
    case SloOutcome::Kind::kMetUpToMax:
      return "met_up_to_max";
    case SloOutcome::Kind::kGeneratorBound:
      return "generator_bound";
    case SloOutcome::Kind::kCannotBeMet:
      return "cannot_be_met";
    case SloOutcome::Kind::kInvalid:
      return "invalid";
    case SloOutcome::Kind::kInconclusive:
      break;
  }
  return "inconclusive";
}

void FillSlo(const CapacitySearch& search, const CapacityFacts& facts, double bytes_per_op,
             v1::CapacityReport& report) {
  if (!search.settings().slo.has_value()) return;
  v1::SloAnswer& answer = *report.mutable_slo();
  answer.set_slo(search.settings().slo->text);
  answer.set_limit_us(search.settings().slo->limit_us);
  answer.set_outcome(NameOf(SloOutcome::Kind::kRunning));
  answer.set_text("The search for the highest load under the SLO did not finish.");
  if (!search.slo_search().has_value()) return;
  const SloOutcome& outcome = search.slo_search()->outcome();
  answer.set_outcome(NameOf(outcome.kind));
  answer.set_max_ops_per_s(outcome.max_per_s);
  answer.set_max_bytes_per_s(outcome.max_per_s * bytes_per_op);
  if (facts.mix_per_s > 0) answer.set_max_times_mix(outcome.max_per_s / facts.mix_per_s);
  answer.set_figure_us(outcome.figure_us);
  answer.set_sure(outcome.sure);
  answer.set_fails_at_ops_per_s(outcome.fails_at_per_s);
  answer.set_confidence_percent(100 * outcome.confidence);
  answer.set_tests(outcome.tests);
  if (!outcome.text.empty()) answer.set_text(outcome.text);
  for (const JudgedProbe& judged : search.slo_search()->probes()) {
    v1::SloStep& step = *answer.add_probes();
    step.set_purpose(NameOf(judged.probe.purpose));
    step.set_offered_per_s(judged.probe.offered_per_s);
    step.set_seconds(judged.probe.seconds);
    step.set_achieved_per_s(judged.result.achieved_per_s);
    step.set_figure_us(judged.result.figure_us);
    step.set_verdict(NameOf(judged.judgement.verdict));
    step.set_reason(judged.judgement.reason);
  }
}

// If no load is known to meet the SLO, there is no headroom: response times may be too long at any load.
void FillLoad(double load_per_s, v1::CapacityReport& report) {
  const double limit_per_s = LoadLimitOf(report);
  const bool has_limit = limit_per_s > 0;
  if (!(load_per_s > 0) || (!has_limit && !report.has_slo())) return;
  const std::vector<LoadPoint> all = LoadPointsOf(report);
  const Headroom headroom = HeadroomAt(load_per_s, has_limit ? limit_per_s : load_per_s, UpToPeak(all));
  v1::LoadAnswer& load = *report.mutable_load();
  load.set_ops_per_s(load_per_s);
  load.set_limit_per_s(limit_per_s);
  const bool of_clients = std::any_of(report.scalings().begin(), report.scalings().end(), [](const v1::Scaling& each) {
    return each.over() == "clients" && RisesInProportion(each);
  });
  load.set_limit_is(report.has_slo() ? absl::StrCat("the highest load that meets ", report.slo().slo())
                    : of_clients     ? "the highest rate of these clients, each of which has a limit of its own"
                                     : "the highest rate");
  load.set_factor(has_limit ? headroom.factor : 0);
  load.set_unused_share(has_limit ? headroom.unused_share : kNotMeasured);
  load.set_mean_us(headroom.mean_us.value_or(kNotMeasured));
}

// Each measurement relative to the mean of its level, in the order of measurement: a trend shows storage that speeds
// up, fills up or slows down.
void CheckSteady(const CapacitySearch& search, v1::CapacityReport& report) {
  std::vector<double> relative;
  for (const MeasuredStep& measured : search.steps()) {
    double sum = 0, count = 0;
    for (const MeasuredStep& other : search.steps()) {
      const CapacityStep &a = measured.step, &b = other.step;
      if (a.is_open() || b.is_open() || !measured.figures.whole || !other.figures.whole ||
          a.clients != b.clients || a.lanes_per_worker != b.lanes_per_worker)
        continue;
      sum += other.figures.ops_per_s;
      ++count;
    }
    if (count >= 2 && sum > 0) relative.push_back(measured.figures.ops_per_s * count / sum);
  }
  constexpr SteadyLimits kLimits;
  const std::optional<SteadyState> state = SteadyStateOf(relative, kLimits);
  if (!state.has_value() || state->steady) return;
  report.add_warnings(absl::StrFormat(
      "no steady state: the last %d closed-loop phases, each relative to the mean of its level, spread by %.0f %% "
      "(limit %.0f) and drifted by %.0f %% (limit %.0f): measure longer (--time) or repeat more often (--repeat)",
      kLimits.window, 100 * state->range, 100 * kLimits.max_range, 100 * std::abs(state->slope), 100 * kLimits.max_slope));
}

// The storage may have had no part in what clients' memory served or absorbed.
void CheckMemory(const CapacitySearch& search, const CapacityFacts& facts, v1::CapacityReport& report) {
  std::set<std::string> found;
  bool only_maybe = true;
  size_t count = 0;
  for (const MeasuredStep& measured : search.steps()) {
    bool in_memory = false;
    for (const std::string& code : measured.figures.marks) {
      if (MeaningOf(code) != MarkMeans::kClientMemory) continue;
      found.insert(code);
      only_maybe &= RowOf(code).memory == MemoryPart::kMaybeRead;
      in_memory = true;
    }
    count += in_memory ? 1 : 0;
  }
  if (count == 0) return;
  report.add_warnings(absl::StrFormat(
      "%d of %d phases %s the clients' memory, at least in part (%s): use %s to measure the storage",
      count, search.steps().size(),
      only_maybe ? "may have measured" : "measured",
      absl::StrJoin(found, ", "), AdviceFor("{-I|files larger than memory (-s 2xram)}", facts.in_use)));
}

// Clients that each have a limit of their own say nothing about the storage's.
void CheckClients(v1::CapacityReport& report) {
  for (const v1::Scaling& scaling : report.scalings()) {
    if (scaling.over() != "clients" || !RisesInProportion(scaling)) continue;
    report.add_warnings(absl::StrFormat(
        "the rate rose in proportion to the clients up to all %d: the highest rate is what these clients reach, each with a "
        "limit of its own, and the storage's may be higher; so may the headroom, and the users that it sustains. Measure "
        "with more clients",
        scaling.levels().rbegin()->n()));
  }
}

void CheckLaws(const CapacitySearch& search, v1::CapacityReport& report) {
  for (const v1::Scaling& scaling : report.scalings()) {
    for (const v1::ScalingLevel& level : scaling.levels()) {
      if (!(level.little_error() > kMaxLittleError)) continue;
      report.add_warnings(absl::StrFormat(
          "with %d %s, rate x latency differs by %.0f %% from the ops in flight (Little's law): flushes, think time or "
          "a busy client add time outside ops",
          level.n(), level.n() == 1 ? scaling.over().substr(0, scaling.over().size() - 1) : scaling.over(),
          100 * level.little_error()));
      break;  // one per sweep is enough
    }
  }
  for (const v1::CurvePoint& point : report.curve()) {
    const auto& marks = point.marks();
    if (std::find(marks.begin(), marks.end(), mark_code::kGeneratorBound) == marks.end()) continue;
    report.add_warnings(absl::StrFormat(
        "at %.0f %% of the highest rate and above, all lanes were busy at times, so response times include waiting in the client: use more lanes (-t) for these loads",
        100 * point.share_of_max()));
    break;
  }
  if (!search.ended_early().empty()) report.add_warnings(search.ended_early());
  uint64_t errors = 0;
  for (const MeasuredStep& measured : search.steps()) errors += measured.figures.errors;
  if (errors > 0)
    report.add_warnings(absl::StrCat(errors, " ops or lanes failed: see the report of the run"));
}

}  // namespace

std::string WorkloadText(const v1::Phase& phase) {
  std::vector<std::string> operations;
  for (const v1::Assignment& assignment : phase.assignments()) {
    const v1::Operation& operation = assignment.operation();
    std::vector<std::string> words = {operation.name()};
    const auto spec = FindOperation(operation.name());
    if (spec.ok() && (*spec)->mixes()) words.push_back(absl::StrCat(operation.read_percent(), " % reads"));
    if (!IsMetadata(operation))
      words.push_back(
          absl::StrCat("records of ", RecordSizesText(operation)));
    if (!IsMetadata(operation) && operation.engine() != "posix") words.push_back(operation.engine());
    if (operation.depth() > 1) words.push_back(absl::StrCat("depth ", operation.depth()));
    for (const auto& [set, word] :
         {std::pair(operation.direct(), "O_DIRECT"), std::pair(operation.sync(), "O_SYNC"),
          std::pair(operation.dsync(), "O_DSYNC")}) {
      if (set) words.push_back(word);
    }
    operations.push_back(absl::StrJoin(words, ", "));
  }
  return absl::StrJoin(operations, " + ");
}

uint64_t QueueDepthOf(const v1::Phase& phase) {
  std::set<uint64_t> depths;
  for (const v1::Assignment& assignment : phase.assignments()) {
    depths.insert(std::max(1u, assignment.operation().depth()));
  }
  return depths.size() == 1 ? *depths.begin() : 0;
}

v1::CapacityReport ReportOf(const CapacitySearch& search, const CapacityFacts& facts,
                            const CapacityQuestions& questions) {
  v1::CapacityReport report;
  report.set_schema("cluster-iobench capacity 1");
  report.set_workload(facts.workload);
  report.set_record_bytes(facts.record_bytes);
  report.set_client_count(search.settings().clients);
  report.set_worker_count(facts.worker_count);
  report.set_lanes_per_worker(search.settings().max_lanes_per_worker);
  for (const Kind kind : {Kind::kClients, Kind::kLanes}) {
    if (LevelsOf(search.steps(), kind, search.settings()).size() > 1)
      *report.add_scalings() = ScalingOf(search, kind, facts);
  }
  FillCurve(search, report);
  FillMax(search, facts, report);
  const double bytes_per_op =
      report.max().ops_per_s() > 0 ? report.max().bytes_per_s() / report.max().ops_per_s() : 0;
  FillSlo(search, facts, bytes_per_op, report);
  FillLoad(questions.load_per_s, report);
  CheckMemory(search, facts, report);
  CheckSteady(search, report);
  CheckClients(report);
  CheckLaws(search, report);
  AnswerQuestions(questions, report);
  AnswerMore(search, report);
  report.set_phase_count(static_cast<uint32_t>(search.steps().size()));
  double measured_s = 0;
  for (const MeasuredStep& measured : search.steps()) measured_s += measured.figures.measured_s;
  report.set_measured_s(measured_s);
  report.set_complete(search.ended_early().empty() && !search.Next().has_value());
  return report;
}

double LoadLimitOf(const v1::CapacityReport& report) {
  return report.has_slo() ? report.slo().max_ops_per_s() : report.max().ops_per_s();
}

void AskAgain(const CapacityQuestions& questions, v1::CapacityReport& report) {
  FillLoad(questions.load_per_s, report);
  AnswerQuestions(questions, report);
}

}  // namespace iobench
