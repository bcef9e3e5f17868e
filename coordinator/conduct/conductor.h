// Conducts one run from start to end: assembles the workers, claims the data, runs the phases of a source and saves after
// each, then keeps or removes the data.
#ifndef COORDINATOR_CONDUCT_CONDUCTOR_H_
#define COORDINATOR_CONDUCT_CONDUCTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "common/transport/transport.h"
#include "coordinator/assemble/assembly.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/conduct/conductor_options.h"
#include "coordinator/conduct/phase_loop.h"
#include "coordinator/conduct/phase_source.h"
#include "coordinator/conduct/run_recorder.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/preflight/preflight.h"
#include "coordinator/selftest/phase_cost.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Use each object only once: Assemble; then Conduct, or Refuse, or Dismiss. The transport, observer and interrupt must
// outlive it. Everything runs on the thread that calls them, which must be the one that owns the transport; the observer is
// called on it too.
class Conductor {
 public:
  // `coordinator`: the facts of this process, with which those of the workers are compared. `plan`: complete and
  // checked by CheckPlan; what depends on the workers is checked when they have joined.
  Conductor(Transport& transport, RunObserver& observer, const Interrupt& interrupt,
            const v1::WorkerFacts& coordinator, v1::Plan plan, ConductorOptions options);

  // Waits for the workers, looks at them, and resolves the plan for those that take part. Nothing has been written to the
  // targets, except check files, which are gone. An error says why the run is refused (plan does not fit these hosts,
  // versions differ …); the caller then passes it to Refuse.
  absl::Status Assemble();
  // Runs the phases and returns the exit code. The report is saved in out_directory. If the run is refused after all,
  // because the results cannot be saved there, refusal() has the reason. Otherwise the code is the first that applies:
  // kExitInterrupted; kExitIo if I/O or verification failed or a phase could not be saved; kExitPartial if a worker was
  // lost; kExitThreshold if a criterion was not met or --until steady not reached; kExitOk. Blocks until the end of the
  // run. The workers have been dismissed when it returns. `conclude` gets that code when everything is measured, does what
  // else can fail (documents, output), and returns the exit code of the process, which the saved results then have. REQUIRES: Assemble succeeded.
  using Conclude = std::function<int(int exit_code)>;
  int Conduct(PhaseSource& source, const Conclude& conclude = nullptr);
  // Ends the run before its first phase, for this one-line reason, and returns the exit code: kExitInterrupted after an
  // interrupt, kExitPartial if workers are missing, otherwise kExitUsage. No data have been written.
  int Refuse(absl::Status why);
  // Sends the workers away without running anything.
  void Dismiss() { cluster_.Dismiss(); }

  const v1::RunReport& report() const { return recorder_.report(); }
  const v1::RunRecord& record() const { return recorder_.record(); }
  // OK: the run was not refused.
  const absl::Status& refusal() const { return refusal_; }
  // OK, or the first failure to write to out_directory.
  const absl::Status& saved() const { return recorder_.saved(); }
  // What happens to data that is there. REQUIRES: Assemble succeeded.
  const DataDecision& decision() const { return look_->data->decision(); }
  // What each phase cost, in the order of the phases that ended.
  const std::vector<PhaseCost>& phase_costs() const { return phase_costs_; }
  Cluster& cluster() { return cluster_; }
  const Assembly& assembly() const { return assembly_; }
  const PreflightReport& preflight() const { return assembly_.preflight(); }

 private:
  absl::Status RunPhases(PhaseLoop& loop, PhaseSource& source);
  void SayWhereAtSecondSignal() const;
  int RefuseClaim(PhaseLoop& loop, const absl::Status& why);
  void LeaveData(PhaseLoop& loop);
  int Verdict(const absl::Status& status) const;

  const Interrupt& interrupt_;
  RunObserver& observer_;
  const v1::WorkerFacts coordinator_;
  const ConductorOptions options_;
  Cluster cluster_;
  RunRecorder recorder_;
  Assembly assembly_;
  std::unique_ptr<Look> look_;  // null: not yet
  absl::Status refusal_;
  std::vector<PhaseCost> phase_costs_;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_CONDUCTOR_H_
