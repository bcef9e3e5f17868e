// Ratios of a sweep as a map: file sizes by record sizes. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_RATIO_MAPS_H_
#define COORDINATOR_ANALYSIS_COMPARE_RATIO_MAPS_H_

#include <optional>
#include <span>

#include "coordinator/analysis/compare/figure_error.h"
#include "iobench/v1/compare.pb.h"

namespace iobench {

// Adds a map for each operation (and number of lanes, engine, stride and target) that the compared phases have with
// several sizes or records, each combination once, and gives the geometric means their verdicts. `rates`: one per
// phase of the report; nullopt: its ratio has no interval. REQUIRES: the phases have their verdicts.
void AddRatioMaps(std::span<const std::optional<RatioInterval>> rates, double level,
                  double margin, v1::CompareReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_RATIO_MAPS_H_
