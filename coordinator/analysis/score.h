// The score of a suite that says which of its phases make one (Phase.score). Pure.
#ifndef COORDINATOR_ANALYSIS_SCORE_H_
#define COORDINATOR_ANALYSIS_SCORE_H_

#include <optional>

#include "iobench/v1/result.pb.h"

namespace iobench {

struct Score {
  double bandwidth_gib_per_s = 0;  // geometric mean over the bandwidth phases
  double metadata_kops_per_s = 0;  // geometric mean over the metadata phases
  double total = 0;                // the root of their product
  size_t bandwidth_phases = 0, metadata_phases = 0;
};

// Of the first repetition. Nothing where the plan names no phases of both kinds, or one of them is missing, has no
// figure (yet), was interrupted, is partial, or is a find that found nothing.
std::optional<Score> ScoreOf(const v1::RunReport& report);

// The score and its formula among the report's notes, once there is one.
void NoteScore(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SCORE_H_
