// What lay between ops, and what was found in the data that were read.
#ifndef COORDINATOR_ANALYSIS_VERIFY_SUMMARY_H_
#define COORDINATOR_ANALYSIS_VERIFY_SUMMARY_H_

#include <optional>

#include "coordinator/analysis/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills verify, where anything was verified, and adds the first mismatches to the errors.
void FillVerify(const PhaseView& view, v1::PhaseReport& report);

// Fills between_s, pause_s, data_s (means over lanes), asked_ops_per_s and paced_ops_per_s.
void FillBetween(const PhaseView& view, v1::PhaseReport& report);

// data_time: making and checking data took so much of the lanes' time that the rates say less of the storage.
// REQUIRES: FillBetween, and the regions are filled.
std::optional<v1::Mark> DataTimeMark(const v1::PhaseReport& report);

// pace_missed: the lanes did not keep the pace that they were asked for. REQUIRES: FillBetween.
std::optional<v1::Mark> PaceMark(const v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_VERIFY_SUMMARY_H_
