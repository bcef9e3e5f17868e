// The figures of a run with --each-path side by side: the same phases on each target.
#ifndef COORDINATOR_REPORT_TEXT_TARGET_TABLE_H_
#define COORDINATOR_REPORT_TEXT_TARGET_TABLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/analysis/statistics/rate_ratio.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Phases that are equal but for their target.
struct TargetRow {
  std::string name;  // of the phase, without its target
  bool in_ops = false;
  // The headline rate (ops/s if `in_ops`, otherwise bytes/s) on each target; the median of whole repetitions. NaN:
  // there is none.
  std::vector<double> rates;
  // Of each target to the first one, if both have at least two complete repetitions.
  std::vector<std::optional<RateRatio>> ratios;

  // Returns "85 %": the rate on a target relative to that on the first one; "-" if one of them is unknown.
  std::string RatioText(size_t target) const;
  // Returns what the repetitions show: "better (+3 % to +9 %)", "worse (…)", "not shown (-4 % to +7 %)"; without
  // repetitions "".
  std::string VerdictText(size_t target) const;
  bool has_verdicts() const;
};

struct TargetTable {
  std::vector<std::string> paths;  // of the targets, in the plan's order
  std::vector<TargetRow> rows;     // in the plan's order
  // Why the paths may not be compared: they send over the same connections (mark shared_transport); empty: nothing is
  // known against it.
  std::string doubt;
  bool has_verdicts() const;  // of any row
};

// Returns an empty table if the run's phases do not use at least two targets one after the other. The phases may be
// briefs (coordinator/analysis/brief.h). Repetitions that are not whole are excluded.
TargetTable TargetTableOf(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_TARGET_TABLE_H_
