// Computes how many workers a phase uses, how large their files are, and how often it runs.
#ifndef COMMON_MODEL_PHASE_FILES_H_
#define COMMON_MODEL_PHASE_FILES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// True if the list of phases is repeated in rounds whose number is not known before: --soak, --until steady.
inline bool RunsInRounds(const v1::Plan& plan) { return plan.soak_s() > 0 || plan.has_until_steady(); }

// How often the list of phases runs at most, as far as the plan says: --repeat, --max-rounds; 1 for a soak.
inline uint32_t MostRepetitions(const v1::Plan& plan) {
  return std::max(1u, plan.has_until_steady() ? plan.until_steady().max_rounds() : plan.repetitions());
}

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

// Files grow with what the storage can do in the time of a phase: a phase that writes new files for a time may have a size of
// its own that is larger than the plan's. Its lanes go on until the time is over, at most to that size and to what fits; later
// phases without a size of their own use what every lane has written. The plan's size is that of files that no phase has
// written. The functions below are defined in growing_files.cc.

// The least size of such files, if later phases need them: what is missing when the time is over is written untimed.
inline constexpr uint64_t kLeastGrownBytes = uint64_t{4} << 20;

// True if a lane of this operation can write new files beyond their size: one file, in its order, by calls that need not
// know its size before.
bool CanGrow(const v1::FileLayout& files, const v1::Operation& operation);
bool GrowsFiles(const v1::Plan& plan, const v1::Phase& phase);
bool GrowsFiles(const v1::Plan& plan);  // some phase does

// As ShapeOf, with the plan's size where files grow: what a phase needs at least of the storage.
PhaseShape LeastShapeOf(const v1::Plan& plan, const v1::Phase& phase);

// The first so many bytes that are whole records of all operations of the phase.
uint64_t WholeRecordsIn(uint64_t bytes, const v1::Phase& phase);

// Returns the size of each lane's files in a phase that grows them: beyond it, lanes begin again. `free_bytes`: of the
// target with the least space; nullopt: unknown. `lane_count`: of the run.
uint64_t MostGrownBytes(const v1::Plan& plan, const v1::Phase& phase, std::optional<uint64_t> free_bytes,
                        uint64_t lane_count);

}  // namespace iobench

#endif  // COMMON_MODEL_PHASE_FILES_H_
