// Estimates what a run writes outside the timed parts of its phases: the data that a phase needs and nobody has written,
// and what phases that end early leave unfinished although later ones need it. Pure.
#ifndef COORDINATOR_PREFLIGHT_UNTIMED_WORK_H_
#define COORDINATOR_PREFLIGHT_UNTIMED_WORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// Over all repetitions.
struct UntimedWork {
  uint64_t prefill_bytes = 0;  // written before phases …
  uint64_t prefill_names = 0;  // … and names made in trees
  std::string prefill_for;     // the first of these phases
  uint64_t finish_bytes = 0;   // written after phases, at most, because a time limit decides how much it is …
  uint64_t finish_names = 0;
  std::string finish_for;  // … for the sake of this phase, or of others after it; "-w": of a later run
};

// `has_data`: the run uses data that an earlier one has kept. REQUIRES: a checked plan.
UntimedWork UntimedWorkOf(const v1::Plan& plan, uint32_t worker_count, bool has_data);

// Lines for a dry run, each without an end: "preparing files for read writes 30 GiB: 30 s at 1 GiB/s".
std::vector<std::string> UntimedLines(const UntimedWork& work);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_UNTIMED_WORK_H_
