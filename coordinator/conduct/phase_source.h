// Where the phases of a run come from: the interface for what decides which phase is next.
#ifndef COORDINATOR_CONDUCT_PHASE_SOURCE_H_
#define COORDINATOR_CONDUCT_PHASE_SOURCE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "common/time.h"
#include "coordinator/cluster/cluster.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The basis for choosing the next phase. The references are valid during the call.
struct PhasesSoFar {
  Cluster& cluster;             // no worker is in a phase
  const v1::Plan& plan;         // as it is run, with the phases that were added to it
  const v1::RunReport& report;  // with briefs of its phases
  CoordTime begin;              // when the first phase could begin
  const v1::PhaseReport* newest = nullptr;  // of the phase chosen before; null: there was none, or it was skipped
};

struct NextPhase {
  int place = 0;                   // of the phase in the plan
  std::optional<uint32_t> index = {};  // in the run; nullopt: after the phase that ran before
  std::optional<v1::Phase> added;  // added to the plan and run, in place of one that the plan has
  uint32_t repetition = 0;         // of the plan's phases, from 0
  uint32_t phase_count = 0;        // of the run, as far as it is known, for display
  bool goes_on = false;            // phases of the plan, or phases like them, may follow this repetition
};

// Used on the conductor's thread, while no worker is in a phase. An added phase uses no more lanes, files or kinds of files
// than the plan's, which were checked.
class PhaseSource {
 public:
  virtual ~PhaseSource() = default;
  // Returns the phase to run next; nullopt: the run ends. May wait, with the cluster, for the time at which it begins. An
  // error ends the run.
  virtual absl::StatusOr<std::optional<NextPhase>> Next(const PhasesSoFar& so_far) = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_PHASE_SOURCE_H_
