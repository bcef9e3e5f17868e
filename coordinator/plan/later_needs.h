// What the rest of a run needs of the files and trees that one of its phases creates. Pure.
//
// A phase that a stop rule, --max-duration or the stonewall ends early has created only a part of them. What later phases
// need is then written after its timed region, and nothing else: it takes time that no limit bounds, and no figure has it.
#ifndef COORDINATOR_PLAN_LATER_NEEDS_H_
#define COORDINATOR_PLAN_LATER_NEEDS_H_

#include <cstdint>
#include <map>
#include <string>

#include "coordinator/plan/files_of_owner.h"
#include "coordinator/plan/layout.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Returns how many of the first bytes of each lane's files must exist before this operation of the phase begins; 0: it
// needs none.
uint64_t BytesNeededBy(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation);

struct LaterNeeds {
  // By files that the phase creates: how many of their first bytes are needed, at most what the phase writes to them.
  // Files that are not listed are not needed.
  std::map<FilesOfOwner, uint64_t> bytes;
  bool trees = false;    // the phase changes trees, and later phases work on trees
  bool nothing = false;  // nothing follows in the run, and the data are not kept
  // The first phase that needs any of this, by name; "-w": only a later run does. Empty: nobody does.
  std::string first;

  uint64_t BytesOf(const FilesOfOwner& files) const {
    const auto found = bytes.find(files);
    return found == bytes.end() ? 0 : found->second;
  }
};

// `phase`: its index in the plan. `again`: after the plan's last phase, all are run once more (another repetition, or a
// soak). A phase that creates files anew needs nothing of what they held before. `layout`: that of the plan.
LaterNeeds LaterNeedsOf(const v1::Plan& plan, const Layout& layout, int phase, bool again);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_LATER_NEEDS_H_
