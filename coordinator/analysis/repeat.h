// Several repetitions of one figure: what they agree on, and how sure that is.
#ifndef COORDINATOR_ANALYSIS_REPEAT_H_
#define COORDINATOR_ANALYSIS_REPEAT_H_

#include <span>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Median with its distribution-free interval: the k-th smallest to the k-th largest value, which holds the median of
// whatever distribution they come from with probability 1 - 2 P(Bin(n, 1/2) < k). The tightest with 95 % or more; where
// n is too small for that, smallest to largest with the level it has (5 repetitions: 93.75 %). Without a name; NaN and
// count 0 for no value. Values must be finite.
v1::RepetitionReport RepetitionsOf(std::span<const double> values);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_REPEAT_H_
