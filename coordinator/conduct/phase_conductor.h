// Takes all workers through one phase and returns its raw record: prepare all -> ping -> arm all for one instant ->
// wait until they are done -> ping -> collect.
#ifndef COORDINATOR_CONDUCT_PHASE_CONDUCTOR_H_
#define COORDINATOR_CONDUCT_PHASE_CONDUCTOR_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/ping_ride.h"
#include "coordinator/cluster/samplers.h"
#include "coordinator/cluster/start_lead.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/plan/later_needs.h"
#include "coordinator/plan/layout.h"
#include "coordinator/conduct/data/broken_files.h"
#include "coordinator/conduct/data/client_steps.h"
#include "coordinator/conduct/data/data_keeper.h"
#include "coordinator/conduct/data/data_ledger.h"
#include "coordinator/conduct/data/tree_ledger.h"
#include "coordinator/conduct/running_lanes.h"
#include "coordinator/selftest/phase_cost.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Handles one phase; create a new one for each. All arguments must outlive it. Runs on the cluster's thread and sets the
// cluster's on_event during Run. A start is attempted up to six times: if a worker learns of T too late, all are
// disarmed, prepared again and given a later T (StartLead); the last attempt starts anyway, and the record says so.
// What is made of the answers is in phase_results.cc.
class PhaseConductor {
 public:
  // What the phases of a run share. The ledgers are not changed here: the conductor notes the record in them.
  struct Context {
    Cluster& cluster;
    ClockSync& clock_sync;
    const v1::Plan& plan;
    const Layout& layout;
    RunObserver& observer;
    bool data_must_exist = false;  // kept data is used
    const LaterNeeds& later;       // what the rest of the run needs of this phase's files
    // When lanes must leave unfinished what they have not settled (--max-duration).
    CoordTime settle_until{INT64_MAX};
    const BrokenFiles& broken_files;
    const TreeLedger& trees;
    const DataLedger& data;    // has begun the phase
    const DataKeeper& keeper;  // has claimed the data
    int64_t timeout_ns = 0;    // of a phase, preparation and collection included; 0: none
    std::function<bool()> ended_by_launcher = [] {
      return false;
    };                         // after an interrupt: it came from mpirun
    uint32_t phase_count = 0;  // number of phases in the run, for display
    StartLead& start_lead;     // adapts to each start; kept for the next phase
    Samplers& samplers;
  };

  // `index`: of the phase in the run, over all repetitions, from 0; its raw file is named by it. `repetition`: from 0.
  PhaseConductor(const Context& context, const v1::Phase& phase, uint32_t index, uint32_t repetition);

  // Runs the phase and fills record(). Cancelled: the user interrupted; the record contains what was done so far (with
  // `interrupted` set, unless the lanes had ended: then only their settling was cut short), and workers without lanes if nothing had started. Aborted: the same because a worker was lost
  // (ClusterPatience.abort_on_lost). Other errors: no worker at all could prepare or start (the first one's own code;
  // the message names it), or the transport failed; the record is incomplete. A lost worker is no error, nor is one
  // that refuses while others do not: its lanes have the problem. If the lanes did not start, the workers have been
  // disarmed, so that they can still perform the run's last steps.
  absl::Status Run();
  // One WorkerPhaseResult per member, at the index of its number, also for workers that do not take part.
  v1::PhaseRecord& record() { return record_; }
  // What Run took besides the lanes' timed part. Nothing is analysed or saved yet.
  const PhaseCost& cost() const { return cost_; }

 private:
  enum class Purpose {
    kPhase,             // the phase itself
    kOwnersFiles,       // only the files, by the lanes that own them
    kBeforeClientSteps  // only the files, in the state in which the clients' steps find them
  };
  enum class IfLate { kTryAgain, kStartAnyway };
  enum class Start { kInTime, kLate };
  // kBrieflyAwaited: only those that arrive within kInterruptGraceNs, without regard to interrupts.
  enum class Answers { kAwaited, kBrieflyAwaited };

  // Returns what `step` returns, and adds the time that it takes to a part of the phase's cost.
  template <typename Step>
  auto Timed(double PhaseCost::*part, Step step) {
    const CoordTime begin = context_.cluster.Now();
    auto outcome = step();
    cost_.*part += SecondsFrom(context_.cluster.Now() - begin);
    return outcome;
  }

  absl::Status PrepareAndArm();
  absl::Status PrepareByOwners();
  absl::Status PrepareAroundClientSteps();
  absl::Status Prepare(Purpose purpose);
  v1::Prepare PrepareFor(const Member& member, const v1::Assignment& assignment, Purpose purpose) const;
  void AddLanes(const Member& member, const v1::Operation& operation, v1::Prepare& prepare) const;
  void FindCrowded();
  void ShareArrivals();
  absl::StatusOr<Start> Arm(IfLate if_late);
  // The patience for requests that work on files. `work`: for messages, such as "prepare the phase".
  Cluster::Patience PatienceFor(const char* work) const;
  // The same, with a deadline that has not passed (RenewDeadline).
  Cluster::Patience PatienceToStart(const char* work);
  // If --phase-timeout has passed and the phase goes on, the late workers have been dropped. The others, which have
  // waited for them, get that time again.
  void RenewDeadline();
  // Notes a worker's answer that reports a problem: the worker does not take part in the rest of the phase.
  void RecordRefusal(const Member& member, const ReceivedEvent& received);
  absl::Status GoOnWithoutRefused();
  bool AnyTakesPart() const;
  void AddRefusedLanes(const Member& member);
  absl::Status RunAndCollect();
  absl::Status Collect(Answers answers);
  // Collects what workers can report at once, and uses these calls as pings of their clocks.
  absl::Status CollectWithPings();
  bool AwaitsResultOf(uint32_t worker) const { return lanes_.TakesPart(worker) && !IsMeasured(worker); }
  // Its lanes' results have arrived; the lanes may still settle.
  bool IsMeasured(uint32_t worker) const { return notes_[worker].measured_at.has_value(); }
  void RecordUnfinished(const v1::ResultChunk& chunk);
  v1::Collect CollectFrom(const Member& member, const std::vector<CoordTime>& instants) const;
  // Notes the results that came with the ends of lanes.
  void RecordReported();
  void AddChunk(uint32_t number, const v1::ResultChunk& chunk, CoordTime received_at);
  void RefuseImpossibleResults();
  std::string WhyRefused(uint32_t worker) const;
  // Pings the clocks of these workers again, and notes the pings.
  void PingAgain(const std::set<uint32_t>& workers);
  void RecordBursts(uint32_t worker);
  void AddStepsOf(uint32_t worker, const google::protobuf::RepeatedPtrField<v1::StepResult>& steps);
  void RecordHowWorkersEnded(bool lanes_ran);
  void RecordStandstills(bool lanes_ran);
  void EndLanesEarly(const absl::Status& why);
  void DropDeadRanks(const absl::Status& status);
  v1::WorkerPhaseResult& ResultOf(uint32_t worker) {
    return *record_.mutable_workers(static_cast<int>(worker));
  }

  Context context_;
  const v1::Phase phase_;
  const WorkerAssignments assignments_;  // of phase_
  const PhaseShape shape_;
  v1::PhaseRecord record_;
  PhaseCost cost_;
  RunningLanes lanes_;
  CoordTime deadline_{INT64_MAX};
  struct WorkerNotes {
    uint32_t reconnects_before = 0;
    double prepare_s = 0;  // how long it took to answer all prepares
    // Of the latest Prepare.
    std::vector<v1::LanePlan> lanes;
    double arrival_share = 0;
    double first_arrival_gap = 0;
    uint32_t rate_share_count = 0;
    // Max. error of the start that it was told, as known then: later pings say more about its clock.
    int64_t start_error_ns = 0;
    bool reported = false;                 // its results came with the end of its lanes
    std::optional<CoordTime> measured_at;  // arrival of the last of its results; nullopt: some are missing
  };
  std::vector<WorkerNotes> notes_;           // index = worker number
  std::vector<bool> crowded_;                // the same; more lanes than processors
  std::map<uint32_t, v1::Problem> refused_;  // by worker number
  absl::Status first_refusal_;
  std::vector<uint32_t> unsaid_refusals_;  // of these workers
  // Done once per phase, however many attempts its start needs.
  bool owners_prepared_ = false;
  bool client_steps_done_ = false;
  StepsOfWorkers client_steps_;
  ColdnessOfWorkers coldness_;  // of the latest preparation
  bool remounted_for_cold_ = false;
  bool ended_early_ = false;  // the lanes were told to leave things as they are
  // Steps of all prepares that wrote data or rested. The last attempt finds their results in place, so the record shows
  // theirs.
  StepsOfWorkers earlier_steps_;
  // What workers that have sent their results still write for later phases; announced once all have sent them.
  Unfinished unfinished_;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_PHASE_CONDUCTOR_H_
