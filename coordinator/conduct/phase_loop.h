// Runs the phases of a source one after the other, on data that it claims, keeps up to date and removes.
#ifndef COORDINATOR_CONDUCT_PHASE_LOOP_H_
#define COORDINATOR_CONDUCT_PHASE_LOOP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/assemble/assembly.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/cluster/samplers.h"
#include "coordinator/cluster/start_lead.h"
#include "coordinator/conduct/conductor_options.h"
#include "coordinator/conduct/data/broken_files.h"
#include "coordinator/conduct/data/client_steps.h"
#include "coordinator/conduct/data/data_ledger.h"
#include "coordinator/conduct/data/tree_ledger.h"
#include "coordinator/conduct/phase_source.h"
#include "coordinator/conduct/run_recorder.h"
#include "coordinator/hook/phase_hooks.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/selftest/phase_cost.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What a loop works with. All of it must outlive the loop.
struct LoopContext {
  Cluster& cluster;
  Look& look;  // with a decision about the data
  RunRecorder& recorder;  // has begun; its plan is resolved
  RunObserver& observer;
  const Interrupt& interrupt;
  const ConductorOptions& options;
};

// Use each object once, on the cluster's thread: Claim, Run, then EndData, also after an error.
class PhaseLoop {
 public:
  explicit PhaseLoop(const LoopContext& context);

  // Claims the data, and with that decides that the run takes place.
  absl::Status Claim();
  // Runs each phase of the source, records it and tells the observer. Cancelled: interrupted. Unavailable: every worker was
  // lost. Other errors: a phase could not be run, or not saved. REQUIRES: Claim succeeded.
  absl::Status Run(PhaseSource& source);
  // Removes the data of the run, or marks them as kept, also after an error: DataKeeper::Finish.
  absl::Status EndData(DataKeeper::AtEnd at_end);
  // What each phase cost, in the order of the phases that ended.
  const std::vector<PhaseCost>& costs() const { return costs_; }

 private:
  const v1::Plan& plan() const { return context_.recorder.plan(); }
  bool EndedByLauncher() const;
  // `index`: in the run. Returns whether --max-duration left time for the phase.
  absl::StatusOr<bool> RunPhase(const NextPhase& next, uint32_t index, std::optional<v1::PhaseReport>& report);
  absl::StatusOr<StepsOfWorkers> FillSpace(uint32_t index, const v1::Phase& phase);
  bool HasTimeFor(const v1::Phase& phase, v1::Phase& fitted);
  void SizeGrowingFiles(v1::Phase& phase) const;
  CoordTime EndOfDuration() const;
  RunPart Part() const;

  const LoopContext context_;
  DataLedger ledger_;
  StartLead start_lead_;
  Samplers samplers_;
  BrokenFiles broken_files_;
  TreeLedger trees_;
  PhaseHooks hooks_;
  CoordTime begin_;
  std::optional<uint32_t> filled_for_;  // the last phase whose part of the space was filled
  std::vector<PhaseCost> costs_;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_PHASE_LOOP_H_
