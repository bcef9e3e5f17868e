// Statistics over several repetitions of one figure.
#ifndef COORDINATOR_ANALYSIS_ACROSS_REPEAT_H_
#define COORDINATOR_ANALYSIS_ACROSS_REPEAT_H_

#include <span>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the median with its distribution-free confidence interval: from the k-th smallest to the k-th largest value,
// which contains the median of any distribution with probability 1 - 2 P(Bin(n, 1/2) < k). It selects the tightest
// interval with at least 95 %, or, if n is too small, min. to max. with the level of that interval (5 repetitions:
// 93.75 %). The name is left empty. NaN and count 0 if there are no values. REQUIRES: finite values.
v1::RepetitionReport RepetitionsOf(std::span<const double> values);

// Returns these figures of the headline, one entry per phase name; empty if no name occurs at least twice. Repetitions that
// are not whole are only counted.
std::vector<v1::RepetitionReport> SummarizeRepetitions(std::span<const v1::PhaseReport> phases);
std::vector<v1::RepetitionReport> SummarizeRepetitions(
    const google::protobuf::RepeatedPtrField<v1::PhaseReport>& phases);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ACROSS_REPEAT_H_
