// Results that depend on all lanes of a phase together, and on the lanes that are missing.
#ifndef COORDINATOR_ANALYSIS_LANE_SUMMARIES_H_
#define COORDINATOR_ANALYSIS_LANE_SUMMARIES_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the parts of one lane's time. If the timed region includes the open, s_i is the start of the open, and the
// ops follow it.
v1::RegionSeconds RegionsOf(const v1::LaneResult& lane, const v1::TimedRegion& region);

// Fills regions_s (mean) and regions_max_s, lanes_bytes_per_s, stragglers, tool, buffers.
void FillLaneSummaries(const PhaseView& view, v1::PhaseReport& report);

// Fills workers_lost, lanes_failed, lanes_sat_out, rotated and lanes_on_own_client. Adds the errors of failed lanes and
// lost workers.
void FillLosses(const PhaseView& view, v1::PhaseReport& report);

// Adds failed ops or retries of one lane to the sums over lanes, by kind and errno.
void AddCounts(const google::protobuf::RepeatedPtrField<v1::ErrorCount>& counts,
               google::protobuf::RepeatedPtrField<v1::FailedOps>& sums);

// Fills steps: one entry per name, with the seconds of the slowest worker, the bytes of all, and, if outcomes differ,
// each outcome with its number of workers.
void FillSteps(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_LANE_SUMMARIES_H_
