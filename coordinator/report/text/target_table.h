// The figures of a run with --each-path side by side: the same phases on each target.
#ifndef COORDINATOR_REPORT_TEXT_TARGET_TABLE_H_
#define COORDINATOR_REPORT_TEXT_TARGET_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Phases that are equal but for their target.
struct TargetRow {
  std::string name;  // of the phase, without its target
  bool in_ops = false;
  // The headline rate (ops/s if `in_ops`, otherwise bytes/s) on each target; the median of whole repetitions. NaN:
  // there is none.
  std::vector<double> rates;

  // Returns "85 %": the rate on a target relative to that on the first one; "-" if one of them is unknown.
  std::string RatioText(size_t target) const;
};

struct TargetTable {
  std::vector<std::string> paths;  // of the targets, in the plan's order
  std::vector<TargetRow> rows;     // in the plan's order
};

// Returns an empty table if the run's phases do not use at least two targets one after the other. The phases may be
// briefs (coordinator/analysis/brief.h). Repetitions that are not whole are excluded.
TargetTable TargetTableOf(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_TARGET_TABLE_H_
