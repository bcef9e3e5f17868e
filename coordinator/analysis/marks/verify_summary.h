// Summarises data verification and the time between ops.
#ifndef COORDINATOR_ANALYSIS_MARKS_VERIFY_SUMMARY_H_
#define COORDINATOR_ANALYSIS_MARKS_VERIFY_SUMMARY_H_

#include <optional>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills verify if anything was verified, and adds the first mismatches to the errors.
void FillVerify(const PhaseView& view, v1::PhaseReport& report);

// The requested and the actual pace of a lane. PaceOf returns nullopt if no pace was requested or the phase is too
// short.
struct Pace {
  double asked_ops_per_s = 0;
  double kept_ops_per_s = 0;
};
std::optional<Pace> PaceOf(const PhaseView& view, const AlignedLane& lane);

// Fills between_s, pause_s, data_s (means over lanes), asked_ops_per_s and paced_ops_per_s.
void FillBetween(const PhaseView& view, v1::PhaseReport& report);

// Returns data_time: generating and checking data took so much of the lanes' time that the rates say less about the
// storage. REQUIRES: FillBetween was called and the regions are filled.
std::optional<v1::Mark> DataTimeMark(const v1::PhaseReport& report);

// Returns pace_missed: some lanes did not keep their requested pace.
std::optional<v1::Mark> PaceMark(const PhaseView& view);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_VERIFY_SUMMARY_H_
