// Verdicts on ratios: the words that reports show, and when each is given. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_VERDICTS_H_
#define COORDINATOR_ANALYSIS_COMPARE_VERDICTS_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/analysis/compare/figure_error.h"
#include "iobench/v1/compare.pb.h"

namespace iobench {

inline constexpr char kBetter[] = "better";
inline constexpr char kWorse[] = "worse";
inline constexpr char kEqual[] = "equal";         // the whole interval is within the margin
inline constexpr char kNotShown[] = "not shown";  // neither a difference nor that there is none
inline constexpr char kBelowLimit[] = "below";
inline constexpr char kNotBelowLimit[] = "not below";
inline constexpr char kInconclusive[] = "inconclusive";

// Returns the estimate without its verdict and its corrected p.
v1::RatioEstimate EstimateFrom(const RatioInterval& interval);
// Returns an estimate of which at most the ratio is known.
v1::RatioEstimate UnknownEstimate(double ratio, std::string why);

enum class Better { kAbove, kBelow };  // which side of 1
// Corrects the p-values of these estimates as one family and gives each its verdict. Estimates without a p-value are
// not counted as tests. `margin`: 0.05 for +- 5 %.
void SetFamilyVerdicts(std::span<v1::RatioEstimate* const> family, Better better, double level, double margin);

// The verdict on a phase: a loss of either figure counts. Latency without an interval leaves it to the rate.
const char* VerdictOnBoth(const v1::RatioEstimate& rate, const v1::RatioEstimate& latency);

// For each phase, whether its rate is below the limit, or its p99 above 1 / limit, by tests corrected as one family; or,
// by a family of its own, whether its rate is not below it. nullopt: no interval. REQUIRES: equally many of both.
std::vector<const char*> LimitVerdicts(std::span<const std::optional<RatioInterval>> rates,
                                       std::span<const std::optional<RatioInterval>> latencies, double limit,
                                       double level);
void CountLimitVerdict(const std::string& verdict, v1::Gate& gate);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_VERDICTS_H_
