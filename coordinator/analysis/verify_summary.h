// What lay between ops, and what was found in the data that were read.
#ifndef COORDINATOR_ANALYSIS_VERIFY_SUMMARY_H_
#define COORDINATOR_ANALYSIS_VERIFY_SUMMARY_H_

#include <optional>

#include "coordinator/analysis/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills verify, where anything was verified, and adds the first mismatches to the errors.
void FillVerify(const PhaseView& view, v1::PhaseReport& report);

// What a lane was asked to keep and what it kept; nullopt: as fast as possible, or too short to say.
struct Pace {
  double asked_ops_per_s = 0;
  double kept_ops_per_s = 0;
};
std::optional<Pace> PaceOf(const PhaseView& view, const AlignedLane& lane);

// Fills between_s, pause_s, data_s (means over lanes), asked_ops_per_s and paced_ops_per_s.
void FillBetween(const PhaseView& view, v1::PhaseReport& report);

// data_time: making and checking data took so much of the lanes' time that the rates say less of the storage.
// REQUIRES: FillBetween, and the regions are filled.
std::optional<v1::Mark> DataTimeMark(const v1::PhaseReport& report);

// pace_missed: lanes that did not keep the pace that each was asked for.
std::optional<v1::Mark> PaceMark(const PhaseView& view);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_VERIFY_SUMMARY_H_
