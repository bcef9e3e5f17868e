#include "coordinator/analysis/explain/lane_sweep.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_format.h"
#include "common/model/plan_traits.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/explain/explain.h"
#include "coordinator/analysis/explain/limit_rules.h"
#include "coordinator/analysis/marks/mark_table.h"

namespace iobench {
namespace {

constexpr double kHelped = 0.9;      // of what additional lanes could add
constexpr double kNoHelp = 0.5;      // the same; between the two, nothing is said
constexpr double kStrength = 0.6;    // as the rule's
constexpr double kFullEnough = 0.7;  // a limit that is as strong as this is a full resource
constexpr double kMinSweepSeconds = 1;
constexpr std::string_view kLanes = "lanes";

bool Counts(const v1::PhaseReport& phase) {
  return phase.not_whole().empty() && phase.duration_s() >= kMinSweepSeconds && HeadlineRate(phase) > 0 &&
         phase.lane_count() > 0 && !HasMarkThatMeans(phase, MarkMeans::kClientMemory);
}

bool DoesTheSame(const v1::Plan& plan, const v1::PhaseReport& a, const v1::PhaseReport& b) {
  const v1::Phase* const first = PlannedPhase(plan, a);
  const v1::Phase* const second = PlannedPhase(plan, b);
  if (first == nullptr || second == nullptr || first->assignments_size() != 1 ||
      second->assignments_size() != 1)
    return false;
  return MeaningOf(first->assignments(0).operation()) == MeaningOf(second->assignments(0).operation()) &&
         a.target() == b.target() && a.metadata() == b.metadata() &&
         a.headline_in_ops() == b.headline_in_ops();
}

}  // namespace

void ApplyLaneSweep(const v1::RunReport& earlier, v1::PhaseReport& phase) {
  if (!Counts(phase)) return;
  const v1::PhaseReport* fewer = nullptr;
  for (const v1::PhaseReport& other : earlier.phases()) {
    if (other.lane_count() >= phase.lane_count() || !Counts(other)) continue;
    if (!DoesTheSame(earlier.run().plan(), other, phase)) continue;
    if (fewer == nullptr || other.lane_count() >= fewer->lane_count()) fewer = &other;
  }
  if (fewer == nullptr) return;
  const double ratio = HeadlineRate(phase) / HeadlineRate(*fewer);
  const double more = static_cast<double>(phase.lane_count()) / fewer->lane_count();
  const double helped = (ratio - 1) / (more - 1);
  auto& limits = *phase.mutable_limits();
  const auto lanes = std::find_if(limits.begin(), limits.end(),
                                  [](const v1::Limit& limit) { return limit.name() == kLanes; });
  if (helped < kNoHelp) {
    if (lanes != limits.end()) limits.erase(lanes);
  } else if (helped >= kHelped && !(limits.size() > 0 && limits[0].name() == "pace")) {
    const auto rules = LimitRules();
    const auto rule =
        std::find_if(rules.begin(), rules.end(), [](const LimitRule& each) { return each.name == kLanes; });
    v1::Limit found;
    found.set_name(rule->name);
    found.set_evidence(absl::StrFormat("too few lanes: %d did %s times as much as %d", phase.lane_count(),
                                       FormatSignificant(ratio, 3), fewer->lane_count()));
    found.set_advice(rule->advice);
    found.set_source(rule->source);
    found.set_strength(kStrength);
    if (lanes != limits.end()) {
      *lanes = std::move(found);
    } else if (limits.empty() || limits[0].strength() < kFullEnough) {
      if (limits.size() >= static_cast<int>(kMaxLimits)) limits.RemoveLast();
      *limits.Add() = std::move(found);
      std::stable_sort(limits.begin(), limits.end(),
                       [](const v1::Limit& a, const v1::Limit& b) { return a.strength() > b.strength(); });
    }
  }
  phase.set_limited_by(limits.empty() ? "" : limits[0].evidence());
}

}  // namespace iobench
