// The file layout, the number of lanes and the target of a phase: its own settings, or the plan's where it has none.
#ifndef COMMON_MODEL_PHASE_SHAPE_H_
#define COMMON_MODEL_PHASE_SHAPE_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// The settings that phases of a sweep may have of their own. `files` is complete and no longer needs the plan.
struct PhaseShape {
  v1::FileLayout files;
  uint32_t lanes_per_worker = 1;
  uint32_t only_target = 0;  // the phase's: number of the target that all workers use, from 1; 0: their own
};

// Merges the settings of the phase into those of the plan. A size or count of 0 in the phase means the plan's value. A
// phase can turn on shared or interleaved files, but not turn them off, because proto3 cannot tell an unset flag from a
// false one. The user's own files (existing_files) always come from the plan.
inline PhaseShape ShapeOf(const v1::Plan& plan, const v1::Phase& phase) {
  PhaseShape shape{
      .files = plan.files(), .lanes_per_worker = plan.lanes_per_worker(), .only_target = phase.only_target()};
  if (phase.files().bytes_per_lane() > 0) shape.files.set_bytes_per_lane(phase.files().bytes_per_lane());
  if (phase.files().files_per_lane() > 0) shape.files.set_files_per_lane(phase.files().files_per_lane());
  if (phase.files().shared_file()) shape.files.set_shared_file(true);
  if (phase.files().interleaved()) shape.files.set_interleaved(true);
  if (phase.lanes_per_worker() > 0) shape.lanes_per_worker = phase.lanes_per_worker();
  return shape;
}

}  // namespace iobench

#endif  // COMMON_MODEL_PHASE_SHAPE_H_
