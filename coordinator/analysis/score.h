// The score of a suite that defines one with Phase.score. Pure.
#ifndef COORDINATOR_ANALYSIS_SCORE_H_
#define COORDINATOR_ANALYSIS_SCORE_H_

#include <optional>

#include "iobench/v1/result.pb.h"

namespace iobench {

// How long each phase that writes or creates must last for the score to be valid: the IO500's rule. Its stonewall is set
// to this time, and the wear-out follows it.
inline constexpr double kMinScoredWriteSeconds = 300;

// Returns the score of the first repetition. The formula is the IO500's: the geometric mean over the figures of each
// kind, then over both kinds, so that a phase that is twice as fast raises the score by the same factor as any other of
// its kind. It is not valid if a phase of it did not run, is not whole, has no figure, is a find without results, or
// writes or creates for less than kMinScoredWriteSeconds. nullopt: the plan does not have phases of both kinds, or the
// run has not ended and some of them are still to come.
std::optional<v1::ScoreReport> ScoreOf(const v1::RunReport& report);

// Sets report.score, and adds it with its formula and its problems to the report's notes, once there is one.
void UpdateScore(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SCORE_H_
