// Names the files that a lane works on in a phase, for what the coordinator keeps about them from phase to phase.
#ifndef COORDINATOR_PLAN_FILES_OF_OWNER_H_
#define COORDINATOR_PLAN_FILES_OF_OWNER_H_

#include <compare>
#include <cstdint>
#include <set>

#include "common/model/phase_shape.h"
#include "coordinator/plan/layout.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// A lane owns files of its own and, in phases with a shared file, a part of that file: these are different files.
// Other lanes may use them too (rotated clients, first_lane_files).
struct FilesOfOwner {
  uint32_t target = 0;  // index in the plan
  bool shared = false;  // the owner's part of the target's shared file; false: files of its own
  uint32_t owner = 0;   // number of the lane

  auto operator<=>(const FilesOfOwner&) const = default;
};

// `lane`: as Layout::LanesOf returns it for a phase of this shape.
inline FilesOfOwner FilesOf(const v1::LanePlan& lane, const PhaseShape& shape) {
  return {.target = lane.target(), .shared = shape.files.shared_file(), .owner = lane.file_owner()};
}

// Returns the targets whose shared files the phase creates anew, so that they must be removed before it: those where
// any lane creates files, whichever assignment it executes. Lanes that only read there have their data prepared again.
// A background load removes nothing: the victims would then read other data than when undisturbed.
std::set<uint32_t> TargetsOfNewSharedFiles(const v1::Plan& plan, const v1::Phase& phase,
                                           const Layout& layout);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_FILES_OF_OWNER_H_
