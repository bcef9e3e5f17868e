#include "coordinator/analysis/criteria.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/criterion.h"
#include "common/model/phase_files.h"
#include "common/text/phase_name.h"
#include "coordinator/analysis/across/until_steady.h"
#include "coordinator/analysis/marks/mark_table.h"

namespace iobench {
namespace {

using Figure = Criterion::Figure;

struct Reading {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string_view percentile = {};  // "p99"; empty: the figure is no percentile
};

// The latencies that a criterion is about: of the ops, or of a flush call.
const v1::Latency& LatencyIn(const Criterion& criterion, const v1::PhaseReport& phase) {
  if (!criterion.call.has_value()) return phase.latency_us();
  const auto found = phase.by_kind().find(NameOf(*criterion.call));
  return found != phase.by_kind().end() ? found->second.latency_us() : v1::Latency::default_instance();
}

Reading ReadingOf(const Criterion& criterion, const v1::PhaseReport& phase) {
  const v1::Latency& latency = LatencyIn(criterion, phase);
  const v1::Spread& lanes = phase.headline_in_ops() ? phase.lanes_ops_per_s() : phase.lanes_bytes_per_s();
  const auto of_latency = [&latency](double us, std::string_view percentile = {}) {
    return latency.count() > 0 ? Reading{us, percentile} : Reading{};
  };
  switch (criterion.figure) {
    case Figure::kBytesPerSecond:
      return {phase.headline().bytes_per_s()};
    case Figure::kOpsPerSecond:
      return {phase.headline().ops_per_s()};
    case Figure::kMean:
      return of_latency(latency.mean());
    case Figure::kP50:
      return of_latency(latency.p50(), "p50");
    case Figure::kP90:
      return of_latency(latency.p90(), "p90");
    case Figure::kP95:
      return of_latency(latency.p95(), "p95");
    case Figure::kP99:
      return of_latency(latency.p99(), "p99");
    case Figure::kP99_9:
      return of_latency(latency.p99_9(), "p99_9");
    case Figure::kP99_99:
      return of_latency(latency.p99_99(), "p99_99");
    case Figure::kMax:
      return of_latency(latency.max());
    case Figure::kJain:
      return {lanes.jain()};
    case Figure::kCov:
      return {lanes.cov()};
    case Figure::kMarks: {
      std::vector<std::string_view> codes;
      for (const v1::Mark& mark : phase.marks()) {
        if (std::find(codes.begin(), codes.end(), mark.code()) == codes.end())
          codes.emplace_back(mark.code());
      }
      return {static_cast<double>(codes.size())};
    }
  }
  return {};
}

// Returns why the figure of a phase decides nothing; empty: it does.
std::string DoubtAbout(const Criterion& criterion, const Reading& reading, const v1::PhaseReport& phase) {
  if (!phase.not_whole().empty()) return absl::StrCat("it is not whole: ", phase.not_whole());
  if (!std::isfinite(reading.value)) return "it has no such figure";
  if (criterion.figure == Figure::kMarks) return {};
  std::vector<std::string> doubts;
  for (const v1::Mark& mark : phase.marks()) {
    if (SpoilsFigures(mark.code()) && std::find(doubts.begin(), doubts.end(), mark.code()) == doubts.end())
      doubts.push_back(mark.code());
  }
  if (!doubts.empty()) return absl::StrCat("it is marked ", absl::StrJoin(doubts, ", "));
  const auto& unsure = LatencyIn(criterion, phase).unsure();
  if (!reading.percentile.empty() &&
      std::find(unsure.begin(), unsure.end(), reading.percentile) != unsure.end())
    return criterion.call.has_value() ? "fewer than 100 calls lie beyond that percentile"
                                      : "fewer than 100 ops lie beyond that percentile";
  return {};
}

// Combines the figures of all phases into the verdict on one criterion.
class Judge {
 public:
  Judge(const Criterion& criterion, v1::CriterionReport& verdict) : criterion_(criterion), verdict_(verdict) {
    verdict_.set_measured(std::numeric_limits<double>::quiet_NaN());
  }

  void Missing(const std::string& title) { Doubt(title, "it did not run"); }

  void Hear(const std::string& title, const v1::PhaseReport& phase) {
    const Reading reading = ReadingOf(criterion_, phase);
    const std::string doubt = DoubtAbout(criterion_, reading, phase);
    if (!doubt.empty()) {
      if (doubted_.empty()) doubted_value_ = reading.value;
      return Doubt(title, doubt);
    }
    if (decided_ && !IsWorse(reading.value)) return;
    decided_ = true;
    verdict_.set_measured(reading.value);
    verdict_.set_phase(title);
  }

  void Conclude() {
    if (!decided_ && doubted_.empty()) verdict_.set_problem("it applies to no phase of the run");
    verdict_.set_met(decided_ && !Misses(verdict_.measured()));
    if (doubted_.empty() || (decided_ && !verdict_.met())) return;  // a clear miss needs no other phase
    verdict_.set_met(false);
    verdict_.set_phase(doubted_);
    verdict_.set_measured(doubted_value_);
    verdict_.set_problem(why_);
  }

 private:
  bool IsWorse(double value) const {
    return criterion_.bound == Criterion::Bound::kMin ? value < verdict_.measured()
                                                      : value > verdict_.measured();
  }
  bool Misses(double value) const {
    return criterion_.bound == Criterion::Bound::kMin ? value < criterion_.limit : value > criterion_.limit;
  }
  void Doubt(const std::string& title, const std::string& why) {
    if (!doubted_.empty()) return;  // the first one is named
    doubted_ = title;
    why_ = why;
  }

  const Criterion& criterion_;
  v1::CriterionReport& verdict_;
  bool decided_ = false;
  std::string doubted_, why_;
  double doubted_value_ = std::numeric_limits<double>::quiet_NaN();
};

// The complete rounds of a run in rounds, at least 1.
uint32_t RoundsIn(const v1::RunReport& report) {
  const int phases = std::max(1, report.run().plan().phases_size());
  return std::max(1u, static_cast<uint32_t>(report.phases_size() / phases));
}

}  // namespace

void UpdateCriteria(v1::RunReport& report) {
  report.clear_criteria();
  const v1::Plan& plan = report.run().plan();
  if (plan.criteria().empty()) return;
  std::unordered_map<uint32_t, const v1::PhaseReport*> phases;  // by index in the run
  for (const v1::PhaseReport& phase : report.phases()) phases.emplace(phase.index(), &phase);
  for (const std::string& text : plan.criteria()) {
    v1::CriterionReport& verdict = *report.add_criteria();
    verdict.set_criterion(text);
    const absl::StatusOr<Criterion> criterion = ParseCriterion(text);
    if (!criterion.ok()) {  // a plan that was not checked: from a newer version, or damaged
      verdict.set_measured(std::numeric_limits<double>::quiet_NaN());
      verdict.set_problem(std::string(criterion.status().message()));
      continue;
    }
    verdict.set_limit(criterion->limit);
    verdict.set_unit(UnitOf(criterion->figure));
    Judge judge(*criterion, verdict);
    uint32_t index = 0;
    const uint32_t repetitions = RunsInRounds(plan) ? RoundsIn(report) : plan.repetitions();
    for (uint32_t repetition = 0; repetition < repetitions; ++repetition) {
      for (const v1::Phase& planned : plan.phases()) {
        const auto found = phases.find(index++);
        // Rounds before the window only led to it.
        if (!AppliesTo(*criterion, planned) || !IsInSteadyWindow(report, repetition)) continue;
        const std::string title = NameInRun(planned.name(), repetition, plan.repetitions(), RunsInRounds(plan));
        found == phases.end() ? judge.Missing(title) : judge.Hear(title, *found->second);
      }
    }
    judge.Conclude();
  }
}

}  // namespace iobench
