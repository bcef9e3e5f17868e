// Which phases of a run are run now: all of them, or in a resumed run those that are left.
#ifndef COORDINATOR_SAVED_RUN_RUN_PART_H_
#define COORDINATOR_SAVED_RUN_RUN_PART_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace iobench {

// Phases are given by their index in the run, over all repetitions. A value type.
struct RunPart {
  // This phase and all after it are run.
  uint32_t first_phase = 0;
  // Phases before first_phase that are measured again, because their saved results are missing or damaged; ascending.
  std::vector<uint32_t> again = {};
  // An earlier part of the run may have begun first_phase, and may have left files of it such as traces. It has run all
  // of `again`.
  bool begun_before = false;

  bool IsAgain(uint64_t index) const { return std::find(again.begin(), again.end(), index) != again.end(); }
  bool MayHaveBegun(uint64_t index) const { return IsAgain(index) || (begun_before && index == first_phase); }
  // The first phase that is run now.
  uint32_t first() const { return again.empty() ? first_phase : again.front(); }
};

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_RUN_PART_H_
