// The file layout, the number of lanes and the target of a phase: its own settings, or the plan's where it has none.
#ifndef COMMON_MODEL_PHASE_SHAPE_H_
#define COMMON_MODEL_PHASE_SHAPE_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// Memory of a lane besides its buffers: its thread, its recorder (histograms of up to 18 kinds of ops at 37 KB, timeline,
// latencies over time) and the blocks from which its data are made. A worker checks it before it prepares a phase;
// preflight tells before the run.
inline constexpr uint64_t kLaneMemoryBytes = uint64_t{256} << 10;

// The settings that phases of a sweep may have of their own. `files` is complete and no longer needs the plan.
struct PhaseShape {
  v1::FileLayout files;
  uint32_t lanes_per_worker = 1;
  uint32_t only_target = 0;  // the phase's: number of the target that all workers use, from 1; 0: their own
};

// Merges the settings of the phase into those of the plan: what the phase leaves out is as in the plan. The user's own
// files (existing_files) always come from the plan.
inline PhaseShape ShapeOf(const v1::Plan& plan, const v1::Phase& phase) {
  PhaseShape shape{
      .files = plan.files(), .lanes_per_worker = plan.lanes_per_worker(), .only_target = phase.only_target()};
  const v1::FileLayout& own = phase.files();
  if (own.has_bytes_per_lane()) shape.files.set_bytes_per_lane(own.bytes_per_lane());
  if (own.has_files_per_lane()) shape.files.set_files_per_lane(own.files_per_lane());
  if (own.has_shared_file()) shape.files.set_shared_file(own.shared_file());
  if (own.has_interleaved()) shape.files.set_interleaved(own.interleaved());
  if (own.has_block_bytes()) shape.files.set_block_bytes(own.block_bytes());
  if (phase.has_lanes_per_worker()) shape.lanes_per_worker = phase.lanes_per_worker();
  return shape;
}

}  // namespace iobench

#endif  // COMMON_MODEL_PHASE_SHAPE_H_
