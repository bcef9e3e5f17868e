// Verdicts on ratios: the words that reports show, and when each is given. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_VERDICTS_H_
#define COORDINATOR_ANALYSIS_COMPARE_VERDICTS_H_

#include <span>
#include <string>

#include "coordinator/analysis/compare/bootstrap.h"
#include "iobench/v1/compare.pb.h"

namespace iobench {

inline constexpr char kBetter[] = "better";
inline constexpr char kWorse[] = "worse";
inline constexpr char kNoDifference[] = "no difference";
inline constexpr char kCannotTell[] = "cannot tell";
inline constexpr char kBelowLimit[] = "below";
inline constexpr char kNotBelowLimit[] = "not below";

// Returns the estimate without its verdict and its corrected p.
v1::RatioEstimate EstimateFrom(const RatioInterval& interval);
// Returns an estimate of which at most the ratio is known.
v1::RatioEstimate UnknownEstimate(double ratio, std::string why);

enum class Better { kAbove, kBelow };  // which side of 1
// Corrects the p-values of these estimates as one family and gives each its verdict. Estimates without a p-value are
// not counted as tests.
void SetFamilyVerdicts(std::span<v1::RatioEstimate* const> family, Better better, double level);

// `adjusted_p`: the corrected p of not being below the limit; NaN: cannot tell.
const char* LimitVerdict(double adjusted_p, double level);
void CountLimitVerdict(const std::string& verdict, v1::Gate& gate);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_VERDICTS_H_
