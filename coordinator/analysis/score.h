// The score of a suite that defines one with Phase.score. Pure.
#ifndef COORDINATOR_ANALYSIS_SCORE_H_
#define COORDINATOR_ANALYSIS_SCORE_H_

#include <optional>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The formula is the IO500's: the geometric mean over the figures of each kind, then over both kinds. A phase that is
// twice as fast thus raises the score by the same factor as any other of its kind.
struct Score {
  double bandwidth_gib_per_s = 0;  // geometric mean over the bandwidth phases
  double metadata_kops_per_s = 0;  // geometric mean over the metadata phases
  double total = 0;                // square root of their product
  size_t bandwidth_phases = 0, metadata_phases = 0;
};

// Returns the score of the first repetition. nullopt: the plan does not have phases of both kinds, or one of them is
// missing, has no figure (yet), was interrupted, is partial, or is a find without results.
std::optional<Score> ScoreOf(const v1::RunReport& report);

// Adds the score and its formula to the report's notes, once there is one.
void NoteScore(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SCORE_H_
