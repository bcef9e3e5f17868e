// Takes all workers through one phase and brings back its raw record:
// prepare all -> ping -> arm all at one instant -> wait for Done -> ping -> collect.
#ifndef COORDINATOR_PHASE_CONDUCTOR_H_
#define COORDINATOR_PHASE_CONDUCTOR_H_

#include <set>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/client_steps.h"
#include "coordinator/clock_sync.h"
#include "coordinator/cluster.h"
#include "coordinator/data_keeper.h"
#include "coordinator/data_ledger.h"
#include "coordinator/layout.h"
#include "coordinator/run_observer.h"
#include "coordinator/start_lead.h"
#include "coordinator/tree_ledger.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One phase; made anew for each. Everything passed in must outlive it.
class PhaseConductor {
 public:
  struct Context {
    Cluster& cluster;
    ClockSync& clock_sync;
    const v1::Plan& plan;
    const Layout& layout;
    RunObserver& observer;
    bool data_must_exist = false;            // kept data are used
    const std::set<uint32_t>& broken_files;  // owner lanes whose files cannot be relied on
    const TreeLedger& trees;
    const DataLedger& data;    // which has begun the phase
    const DataKeeper& keeper;  // which has claimed the data
    uint32_t phase_count = 0;  // of the run, for the display
    StartLead& start_lead;     // learns from each start; kept for the next phase
  };

  PhaseConductor(const Context& context, const v1::Phase& phase, uint32_t index, uint32_t repetition);

  // Fills record(). Cancelled: the user interrupted; the record then holds what had been done (interrupted is set), or
  // has no workers where nothing had started. Other errors: the transport failed; the record is as far as it got.
  absl::Status Run();
  v1::PhaseRecord& record() { return record_; }

 private:
  struct WorkerState {
    bool takes_part = false;
    bool done = false;  // LanesDone came
    bool at_deadline = false;
    uint64_t most_ops = 0;
    v1::LanesDone ends;
    v1::Progress progress;  // last known
    bool collected = false;
    uint64_t poll_call_id = 0;  // 0: none is on its way
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
  absl::Status EndEarly();  // interrupted: stop lanes, wait a little for their ends
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
  std::vector<WorkerState> states_;  // by worker number
  std::vector<bool> crowded_;        // likewise: more lanes than processors
  CoordTime start_;                  // T
  bool by_owners_ = false;           // what is prepared is prepared by the lanes whose files they are
  bool owners_prepared_ = false;
  bool before_client_steps_ = false;
  bool client_steps_done_ = false;
  StepsOfWorkers client_steps_;
  StepsOfWorkers earlier_steps_;  // that wrote data, of attempts before the last
  bool stop_sent_ = false;
  bool goal_sent_ = false;
  bool stonewall_noted_ = false;
  CoordTime next_clock_poll_{INT64_MAX};
};

}  // namespace iobench

#endif  // COORDINATOR_PHASE_CONDUCTOR_H_
