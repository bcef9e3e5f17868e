// What follows from all lanes of a phase together, and from those that are missing.
#ifndef COORDINATOR_ANALYSIS_LANE_SUMMARIES_H_
#define COORDINATOR_ANALYSIS_LANE_SUMMARIES_H_

#include "coordinator/analysis/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The parts of one lane's time. With the open in the timed region s_i is the open's start, and the ops come after it.
v1::RegionSeconds RegionsOf(const v1::LaneResult& lane, bool open_in_region);

// Fills regions_s (mean) and regions_max_s, lanes_bytes_per_s, stragglers, tool.
void FillLaneSummaries(const PhaseView& view, v1::PhaseReport& report);

// Fills workers_lost, lanes_failed, lanes_sat_out, rotated and lanes_on_own_client; adds the errors of failed lanes and
// lost workers.
void FillLosses(const PhaseView& view, v1::PhaseReport& report);

// Fills steps: each name once, with the slowest worker's seconds, all bytes, and the outcomes with how many had them
// where they differ.
void FillSteps(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_LANE_SUMMARIES_H_
