// The rules of Explain, as data. docs/explain.md shows name, signal and meaning; a test compares the two.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_LIMIT_RULES_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_LIMIT_RULES_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coordinator/analysis/explain/explain.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What a rule found.
struct FoundLimit {
  double strength =
      0;  // 0 to 1: the share of time or of the resource that the signal accounts for; it orders limits
  std::string evidence;  // one clause that begins with the resource: "server disk: filer1 sdb 98 % busy"
};

// nullopt: the signal is below the threshold, or was not measured.
using FindLimit = std::optional<FoundLimit> (*)(const v1::PhaseReport& report, const ExplainFacts& facts,
                                                double threshold);

struct LimitRule {
  const char* name;
  const char* signal;  // with its threshold, as in docs/explain.md
  double threshold;
  const char* meaning;
  const char* advice;  // with alternatives in braces: AdviceFor in coordinator/analysis/marks/advice.h
  const char* source;
  FindLimit find;
  const char* cause = "";  // of a change of the rate (PhaseReport.changes), as the report names it; empty: of none
};

// Of the others' rate: storage targets below it are slow (analysis/storage_targets.h).
inline constexpr double kSlowTargetShare = 0.50;

// Of equally strong limits, that of the earlier rule comes first.
std::span<const LimitRule> LimitRules();

// What the rule of this name finds. REQUIRES: there is such a rule.
std::optional<FoundLimit> FindByRule(std::string_view name, const v1::PhaseReport& report,
                                     const ExplainFacts& facts);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_LIMIT_RULES_H_
