// Takes all workers through one phase and returns its raw record: prepare all -> ping -> arm all for one instant ->
// wait until they are done -> ping -> collect.
#ifndef COORDINATOR_RUN_PHASE_CONDUCTOR_H_
#define COORDINATOR_RUN_PHASE_CONDUCTOR_H_

#include <set>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/start_lead.h"
#include "coordinator/plan/layout.h"
#include "coordinator/run/client_steps.h"
#include "coordinator/run/data_keeper.h"
#include "coordinator/run/data_ledger.h"
#include "coordinator/run/run_observer.h"
#include "coordinator/run/tree_ledger.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Handles one phase; create a new one for each. All arguments must outlive it.
class PhaseConductor {
 public:
  struct Context {
    Cluster& cluster;
    ClockSync& clock_sync;
    const v1::Plan& plan;
    const Layout& layout;
    RunObserver& observer;
    bool data_must_exist = false;            // kept data is used
    const std::set<uint32_t>& broken_files;  // owner lanes whose files are not reliable
    const TreeLedger& trees;
    const DataLedger& data;    // has begun the phase
    const DataKeeper& keeper;  // has claimed the data
    uint32_t phase_count = 0;  // number of phases in the run, for display
    StartLead& start_lead;     // adapts to each start; kept for the next phase
  };

  PhaseConductor(const Context& context, const v1::Phase& phase, uint32_t index, uint32_t repetition);

  // Runs the phase and fills record(). Cancelled: the user interrupted; the record contains what was done so far (with
  // `interrupted` set), or has no workers if nothing had started. Other errors: the transport failed; the record is
  // incomplete.
  absl::Status Run();
  v1::PhaseRecord& record() { return record_; }

 private:
  struct WorkerState {
    bool takes_part = false;
    bool done = false;  // LanesDone has arrived
    bool at_deadline = false;
    uint64_t max_ops = 0;
    v1::LanesDone ends;
    v1::Progress progress;  // latest known
    bool collected = false;
    uint64_t poll_call_id = 0;  // 0: no poll is pending
    CoordTime poll_sent;
  };

  absl::Status PrepareAndArm();
  absl::Status PrepareByOwners();
  absl::Status PrepareAroundClientSteps();
  absl::Status Prepare();
  void FindCrowded();
  void NoteSteps(uint32_t worker, const google::protobuf::RepeatedPtrField<v1::StepResult>& steps);
  absl::Status Arm(bool last_attempt, bool& late);
  absl::Status Disarm(const Cluster::Patience& patience);
  absl::Status RunLanes();
  absl::Status EndEarly();  // after an interrupt: stop the lanes, wait briefly for their ends
  absl::Status Collect(bool interruptible);
  void OnEvent(const Member& member, const ReceivedEvent& received);
  void StopLanes();
  void SendGoalWhenAllWait();
  void Poll(const Member& member);
  void PollForDisplay();
  void PollClocks();
  void NoteStonewall(CoordTime at);
  void ShowProgress();
  bool AllDone() const;
  std::vector<CoordTime> Instants() const;
  v1::Prepare PrepareFor(const Member& member, const v1::Assignment& assignment) const;

  Context context_;
  v1::Phase phase_;
  v1::PhaseRecord record_;
  std::vector<WorkerState> states_;  // index = worker number
  std::vector<bool> crowded_;        // index = worker number; more lanes than processors
  CoordTime start_;                  // the start, T
  bool by_owners_ = false;           // files are prepared by the lanes that own them
  bool owners_prepared_ = false;
  bool before_client_steps_ = false;
  bool client_steps_done_ = false;
  StepsOfWorkers client_steps_;
  StepsOfWorkers earlier_steps_;  // steps that wrote data in earlier attempts
  bool stop_sent_ = false;
  bool goal_sent_ = false;
  bool stonewall_noted_ = false;
  CoordTime next_clock_poll_{INT64_MAX};
};

}  // namespace iobench

#endif  // COORDINATOR_RUN_PHASE_CONDUCTOR_H_
