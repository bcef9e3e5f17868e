// How many workers a phase has, and how much their files hold.
#ifndef COMMON_PHASE_FILES_H_
#define COMMON_PHASE_FILES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/phase_shape.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

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

#endif  // COMMON_PHASE_FILES_H_
