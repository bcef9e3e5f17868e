// What made the rate of a phase change: credits that were used up, a cache that was full, heat.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/explain/finders.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/analysis/marks/marks.h"

namespace iobench {
namespace {

// Where such a limit shows the rate before it is even, too, but less so: the storage sets it.
constexpr double kEvenBefore = 0.10;

bool IsFall(const v1::RateChange& change) { return change.after_per_s() < change.before_per_s(); }

bool AllUnexplained(const v1::PhaseReport& report) {
  return std::all_of(report.changes().begin(), report.changes().end(),
                     [](const v1::RateChange& change) { return change.cause().empty(); });
}

// Something else changed the rate, or may have.
bool IsDisturbed(const v1::PhaseReport& report, const ExplainFacts& facts) {
  if (StoodStill(facts) || HasMark(report, mark_code::kStalled) || report.engine() == "null") return true;
  const auto found = [&](const char* name) { return FindByRule(name, report, facts).has_value(); };
  return found("other-load") || found("packet-loss") || found("cpu-quota") || found("stolen-cpu") || found("think-time");
}

std::string Evidence(const char* what, const v1::PhaseReport& report, const v1::RateChange& change) {
  return absl::StrCat(what, " after ", MovedUntilText(change), ", then ", LevelText(report, change.after_per_s()),
                      " instead of ", LevelText(report, change.before_per_s()));
}

}  // namespace

std::optional<FoundLimit> FindBurstCredits(const v1::PhaseReport& report, const ExplainFacts& facts, double scatter) {
  if (report.changes_size() != 1 || !IsFall(report.changes(0)) || !AllUnexplained(report) || facts.levels.size() != 2)
    return std::nullopt;
  // Memory that is full, or of which all has been read, makes the rate fall, too.
  if (facts.unflushed_writes || HasMarkThatMeans(report, MarkMeans::kClientMemory) ||
      HasMarkThatMeans(report, MarkMeans::kNotStorage) || IsDisturbed(report, facts))
    return std::nullopt;
  if (!(facts.levels[1].scatter <= scatter)) return std::nullopt;
  if (facts.levels[0].scatter > kEvenBefore) return std::nullopt;  // unknown if it was too short
  return FoundLimit{0.75, Evidence("burst credits: used up", report, report.changes(0))};
}

std::optional<FoundLimit> FindWriteCache(const v1::PhaseReport& report, const ExplainFacts& facts, double scatter) {
  if (report.changes().empty() || !IsFall(report.changes(0)) || !AllUnexplained(report) ||
      facts.levels.size() < 2 || !facts.only_writes || IsDisturbed(report, facts))
    return std::nullopt;
  if (!facts.unflushed_writes && !(facts.levels[1].scatter >= scatter)) return std::nullopt;
  return FoundLimit{0.65, Evidence("write cache: full", report, report.changes(0))};
}

std::optional<FoundLimit> FindHeat(const v1::PhaseReport& report, const ExplainFacts& facts, double) {
  if (report.changes_size() < 2 || !AllUnexplained(report) || !facts.only_reads || !facts.local_storage ||
      IsDisturbed(report, facts) || HasMarkThatMeans(report, MarkMeans::kClientMemory))
    return std::nullopt;
  if (!std::all_of(report.changes().begin(), report.changes().end(), IsFall)) return std::nullopt;
  return FoundLimit{0.4, Evidence("heat: slower in steps", report, report.changes(0))};
}

}  // namespace iobench
