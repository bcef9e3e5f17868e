// Computes how many workers a phase uses and how large their files are.
#ifndef COMMON_MODEL_PHASE_FILES_H_
#define COMMON_MODEL_PHASE_FILES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Returns, for each assignment of the phase, how many of the run's workers execute it. An assignment takes the workers
// that it selects, or all remaining ones if it selects none. The sum is at most `worker_count`, even if a plan selects
// workers that did not come; workers that no assignment takes sit out.
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

// Returns the total size of all files of a phase in bytes: what the files of records occupy on the targets, if every
// worker of `worker_count` takes part. An extent of a shared file counts like a file. If the lanes of a worker share
// the first lane's files, they count once.
inline uint64_t FileBytesOf(const v1::Plan& plan, const v1::Phase& phase, uint32_t worker_count) {
  const PhaseShape shape = ShapeOf(plan, phase);
  const std::vector<uint32_t> workers = WorkersOfAssignments(phase, worker_count);
  uint64_t bytes = 0;
  for (int i = 0; i < phase.assignments_size(); ++i) {
    if (IsMetadata(phase.assignments(i).operation())) continue;  // its files are in a tree
    const bool first_only = phase.assignments(i).operation().first_lane_files();
    bytes += workers[static_cast<size_t>(i)] * uint64_t{first_only ? 1 : shape.lanes_per_worker} *
             shape.files.bytes_per_lane();
  }
  return bytes;
}

}  // namespace iobench

#endif  // COMMON_MODEL_PHASE_FILES_H_
