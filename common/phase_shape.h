// How large a phase's files are and how many lanes it has: what it says for itself, or else what the plan says for all.
#ifndef COMMON_PHASE_SHAPE_H_
#define COMMON_PHASE_SHAPE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "iobench/v1/plan.pb.h"

namespace iobench {

struct PhaseShape {
  v1::FileLayout files;
  uint32_t lanes_per_worker = 1;
};

// A phase's sizes are its own where they are not 0, and it may share a file where the plan does not.
inline PhaseShape ShapeOf(const v1::Plan& plan, const v1::Phase& phase) {
  PhaseShape shape{.files = plan.files(), .lanes_per_worker = plan.lanes_per_worker()};
  if (phase.files().bytes_per_lane() > 0) shape.files.set_bytes_per_lane(phase.files().bytes_per_lane());
  if (phase.files().files_per_lane() > 0) shape.files.set_files_per_lane(phase.files().files_per_lane());
  if (phase.files().shared_file()) shape.files.set_shared_file(true);
  if (phase.files().interleaved()) shape.files.set_interleaved(true);
  if (phase.lanes_per_worker() > 0) shape.lanes_per_worker = phase.lanes_per_worker();
  return shape;
}

// How many of a run's workers do each of a phase's assignments, which take those that they select, or all that are left.
inline std::vector<uint32_t> WorkersOfAssignments(const v1::Phase& phase, uint32_t worker_count) {
  std::vector<uint32_t> counts;
  uint32_t left = worker_count;
  for (const v1::Assignment& assignment : phase.assignments()) {
    const auto selected = static_cast<uint32_t>(assignment.who().workers_size());
    counts.push_back(std::min(left, selected > 0 ? selected : left));
    left -= counts.back();
  }
  return counts;
}

// The size of all files that a phase works on. Lanes that share their worker's first files add nothing.
inline uint64_t FileBytesOf(const v1::Plan& plan, const v1::Phase& phase, uint32_t worker_count) {
  const PhaseShape shape = ShapeOf(plan, phase);
  const std::vector<uint32_t> workers = WorkersOfAssignments(phase, worker_count);
  uint64_t bytes = 0;
  for (int i = 0; i < phase.assignments_size(); ++i) {
    const bool first_only = phase.assignments(i).operation().first_lane_files();
    bytes += workers[static_cast<size_t>(i)] * uint64_t{first_only ? 1 : shape.lanes_per_worker} *
             shape.files.bytes_per_lane();
  }
  return bytes;
}

}  // namespace iobench

#endif  // COMMON_PHASE_SHAPE_H_
