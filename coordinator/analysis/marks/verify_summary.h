// Summarises data verification and the time between ops.
#ifndef COORDINATOR_ANALYSIS_MARKS_VERIFY_SUMMARY_H_
#define COORDINATOR_ANALYSIS_MARKS_VERIFY_SUMMARY_H_

#include <optional>
#include <vector>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills verify if anything was verified, and adds the first ten mismatches to the errors. Failed lanes count too, since
// what they had checked before they failed is valid.
void FillVerify(const PhaseView& view, v1::PhaseReport& report);

// The requested and the actual pace of a lane. n ops have n - 1 intervals between their starts, so the actual pace is
// (n - 1) / (time from the first start to the last one). PaceOf returns nullopt if no pace was requested or the phase
// is too short to tell.
struct Pace {
  double asked_ops_per_s = 0;
  double kept_ops_per_s = 0;
};
std::optional<Pace> PaceOf(const PhaseView& view, const AlignedLane& lane);

// Fills between_s, pause_s, data_s (means over lanes), asked_ops_per_s and paced_ops_per_s.
void FillBetween(const PhaseView& view, v1::PhaseReport& report);

// Returns data_time: generating and checking data took over 10 % of the lanes' timed regions, so that the rates say
// less about the storage. REQUIRES: FillBetween was called and the regions are filled.
std::optional<v1::Mark> DataTimeMark(const v1::PhaseReport& report);

// Returns pace_missed: some lanes did less than 99 % of their requested pace. The mark names the slowest.
std::optional<v1::Mark> PaceMark(const PhaseView& view);
// Returns generator_bound for the phase, or for each part of a mix: ops of an open loop began late, or never, because all
// lanes were busy when they were due. The p99 of the lag is over 25 % of that of the response times, or less than 99 %
// of the due ops were done. REQUIRES: report.open_loop and report.parts are filled.
std::vector<v1::Mark> GeneratorMarks(const v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_VERIFY_SUMMARY_H_
