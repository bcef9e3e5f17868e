#include "coordinator/analysis/criteria.h"

#include <algorithm>
#include <cmath>
#include <iterator>
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
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/across/until_steady.h"
#include "coordinator/analysis/marks/mark_table.h"

namespace iobench {
namespace {

using Figure = Criterion::Figure;

// The percentiles of a latency, ascending, with how many of so many ops lie beyond each.
struct Percentile {
  Figure figure;
  std::string_view name;
  double (v1::Latency::*us)() const;
  double one_beyond_in;
};
constexpr Percentile kPercentiles[] = {
    {Figure::kP50, "p50", &v1::Latency::p50, 2},        {Figure::kP90, "p90", &v1::Latency::p90, 10},
    {Figure::kP95, "p95", &v1::Latency::p95, 20},       {Figure::kP99, "p99", &v1::Latency::p99, 100},
    {Figure::kP99_9, "p99_9", &v1::Latency::p99_9, 1e3}, {Figure::kP99_99, "p99_99", &v1::Latency::p99_99, 1e4},
};
constexpr double kFewestBeyond = 100;  // as Histogram::Trusted

// The latencies that a criterion is about: of the ops, or of a flush call.
const v1::Latency& LatencyIn(const Criterion& criterion, const v1::PhaseReport& phase) {
  if (!criterion.call.has_value()) return phase.latency_us();
  const auto found = phase.by_kind().find(NameOf(*criterion.call));
  return found != phase.by_kind().end() ? found->second.latency_us() : v1::Latency::default_instance();
}

const Percentile* PercentileOf(const Criterion& criterion) {
  const auto* const found = std::find_if(std::begin(kPercentiles), std::end(kPercentiles),
                                         [&](const Percentile& each) { return each.figure == criterion.figure; });
  return found == std::end(kPercentiles) ? nullptr : found;
}

bool IsUnsure(const Percentile& percentile, const v1::Latency& latency) {
  return std::find(latency.unsure().begin(), latency.unsure().end(), percentile.name) != latency.unsure().end();
}

// NaN: it was not measured.
double ReadingOf(const Criterion& criterion, const v1::PhaseReport& phase) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const v1::Latency& latency = LatencyIn(criterion, phase);
  const v1::Spread& lanes = phase.headline_in_ops() ? phase.lanes_ops_per_s() : phase.lanes_bytes_per_s();
  if (const Percentile* const percentile = PercentileOf(criterion); percentile != nullptr)
    return latency.count() > 0 ? (latency.*percentile->us)() : unknown;
  switch (criterion.figure) {
    case Figure::kBytesPerSecond:
      return phase.headline().bytes_per_s();
    case Figure::kOpsPerSecond:
      return phase.headline().ops_per_s();
    case Figure::kMean:
      return latency.count() > 0 ? latency.mean() : unknown;
    case Figure::kMax:
      return latency.count() > 0 ? latency.max() : unknown;
    case Figure::kJain:
      return lanes.jain();
    case Figure::kCov:
      return lanes.cov();
    case Figure::kMarks: {
      std::vector<std::string_view> codes;
      for (const v1::Mark& mark : phase.marks()) {
        if (std::find(codes.begin(), codes.end(), mark.code()) == codes.end())
          codes.emplace_back(mark.code());
      }
      return static_cast<double>(codes.size());
    }
    default:
      return unknown;
  }
}

// True if too few ops lie beyond the percentile to know it, but it misses its limit all the same: one below it, which is
// known, does, or all ops do.
bool MissesForSure(const Criterion& criterion, const v1::Latency& latency) {
  constexpr uint64_t kFewest = 10;  // of which all are above a median once in 1,024 times
  if (criterion.bound != Criterion::Bound::kMax) return false;
  if (latency.count() >= kFewest && latency.min() > criterion.limit) return true;
  return std::any_of(std::begin(kPercentiles), std::end(kPercentiles), [&](const Percentile& each) {
    return each.figure < criterion.figure && !IsUnsure(each, latency) && (latency.*each.us)() > criterion.limit;
  });
}

bool IsWithin(const Criterion& criterion, double value) {
  return criterion.bound == Criterion::Bound::kMin ? value >= criterion.limit : value <= criterion.limit;
}

// True if the rate is within the limit only as a mean of several levels (changes of the rate): the last one, which the
// storage goes on with, is not.
bool OnlyMeanIsWithin(const Criterion& criterion, double reading, const v1::PhaseReport& phase) {
  const bool is_rate = criterion.figure == Figure::kBytesPerSecond || criterion.figure == Figure::kOpsPerSecond;
  if (!is_rate || phase.changes().empty() || !IsWithin(criterion, reading)) return false;
  const double last_of_mean = phase.changes().rbegin()->after_per_s() / HeadlineRate(phase);
  return std::isfinite(last_of_mean) && !IsWithin(criterion, reading * last_of_mean);
}

// Returns why the figure of a phase decides nothing; empty: it does.
std::string DoubtAbout(const Criterion& criterion, double reading, const v1::PhaseReport& phase) {
  if (!phase.not_whole().empty()) return absl::StrCat("it is not whole: ", phase.not_whole());
  if (!std::isfinite(reading)) return "it has no such figure";
  if (criterion.figure == Figure::kMarks) return {};
  const bool of_call = criterion.call.has_value();
  std::vector<std::string> doubts;
  for (const v1::Mark& mark : phase.marks()) {
    const bool spoils = of_call ? SpoilsFlushCalls(mark.code()) : SpoilsFigures(mark.code());
    if (spoils && std::find(doubts.begin(), doubts.end(), mark.code()) == doubts.end()) doubts.push_back(mark.code());
  }
  if (!doubts.empty()) return absl::StrCat("it is marked ", absl::StrJoin(doubts, ", "));
  if (OnlyMeanIsWithin(criterion, reading, phase)) return "its rate changed, and the last level is beyond the limit";
  const Percentile* const percentile = PercentileOf(criterion);
  const v1::Latency& latency = LatencyIn(criterion, phase);
  if (percentile == nullptr || !IsUnsure(*percentile, latency) || MissesForSure(criterion, latency)) return {};
  const char* const what = of_call ? "calls" : "ops";
  return absl::StrCat("fewer than 100 ", what, " lie beyond that percentile: it takes ",
                      FormatCount(kFewestBeyond * percentile->one_beyond_in), " of them, and there were ",
                      FormatCount(static_cast<double>(latency.count())));
}

// Combines the figures of all phases into the verdict on one criterion.
class Judge {
 public:
  Judge(const Criterion& criterion, v1::CriterionReport& verdict) : criterion_(criterion), verdict_(verdict) {
    verdict_.set_measured(std::numeric_limits<double>::quiet_NaN());
  }

  void Missing(const std::string& title) { Doubt(title, "it did not run"); }

  void Hear(const std::string& title, const v1::PhaseReport& phase) {
    const double reading = ReadingOf(criterion_, phase);
    const std::string doubt = DoubtAbout(criterion_, reading, phase);
    if (!doubt.empty()) {
      if (doubted_.empty()) doubted_value_ = reading;
      return Doubt(title, doubt);
    }
    if (decided_ && !IsWorse(reading)) return;
    decided_ = true;
    verdict_.set_measured(reading);
    verdict_.set_phase(title);
  }

  void Conclude() {
    if (!decided_ && doubted_.empty()) verdict_.set_problem("it applies to no phase of the run");
    verdict_.set_met(decided_ && IsWithin(criterion_, verdict_.measured()));
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
