// The lanes of all workers in one phase, while they run: who takes part, whose lanes have ended, and the messages that
// the coordinator exchanges with them until then.
#ifndef COORDINATOR_CONDUCT_RUNNING_LANES_H_
#define COORDINATOR_CONDUCT_RUNNING_LANES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/time.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/live/run_observer.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Belongs to one phase and is used on the cluster's thread. All times are on the cluster's clock. Workers are named by
// their numbers. For each attempt to start: Reset, Expect for each worker, StartAt, then Disarm or WaitForEnds.
class RunningLanes {
 public:
  // The references must outlive it. `shown`: what the observer sees of the phase at any time. `lanes_per_worker`: those
  // of a worker that takes part.
  RunningLanes(Cluster& cluster, ClockSync& clock_sync, RunObserver& observer, const v1::Phase& phase,
               const PhaseProgress& shown, uint32_t lanes_per_worker);

  // Call it before each attempt to start the phase: no worker takes part, and earlier attempts are forgotten.
  void Reset();
  // The worker takes part.
  void Expect(uint32_t worker) {
    states_[worker].takes_part = true;
    SetAwaited(worker, true);
  }
  bool TakesPart(uint32_t worker) const { return states_[worker].takes_part; }
  // Call it before the workers are armed for this instant.
  void StartAt(CoordTime start) { start_ = start; }
  CoordTime start() const { return start_; }

  // Handles an event that a worker sent on its own, or its answer to a poll. Where the phase asks for it, the first end
  // of a lane stops the others (StopsLanes), and with wear-out the goal is sent when all lanes wait for it. REQUIRES:
  // the cluster passes on all events of the phase.
  void OnEvent(const Member& member, const ReceivedEvent& received);
  // Tells the observer that the phase is being prepared, with the lanes of all workers, since it is not yet known which
  // take part.
  void ShowPreparing();
  // The worker does not take part after all.
  void Exclude(uint32_t worker) {
    states_[worker].takes_part = false;
    SetAwaited(worker, false);
  }
  // Waits until all lanes have ended or their workers are lost. Meanwhile polls all workers: whether they make
  // progress, how far they are, and their clocks. Workers whose lanes make no progress, or have not ended at
  // `deadline`, are dropped as lost. Errors: those of Cluster::WaitUntil. REQUIRES: StartAt, and all workers are armed.
  absl::Status WaitForEnds(CoordTime deadline);
  // After an interrupt: stops the lanes, and waits at most kInterruptGraceNs for their ends. DeadlineExceeded: some
  // have not ended.
  absl::Status EndEarly();
  // Takes the workers back to the state before their preparation. Errors: those of Cluster::Call.
  absl::Status Disarm(const Cluster::Patience& patience);

  // The bytes in the worker's last answer to a poll; 0 if it was never polled. For workers that are lost.
  uint64_t LastKnownBytes(uint32_t worker) const { return states_[worker].progress.bytes(); }
  // Arrival of the message that all lanes of the worker have ended; nullopt: it has not arrived.
  std::optional<CoordTime> DoneAt(uint32_t worker) const { return states_[worker].done_at; }
  // Returns the results that came with that message, once; nullopt: none came, or the worker does not take part.
  std::optional<v1::ResultChunk> PopResults(uint32_t worker);
  // The longest time from a lane's first op to the end of its timed region, on the worker's clock; 0 if no lane ran.
  double LongestTimedSeconds() const;
  // Returns the instants at which analysis needs to know the lanes' progress: possible starts and ends of its windows.
  // They are derived only from the lanes' ends, so that lanes can send a thinned timeline that is exact there. Empty if
  // no lane did anything. Only ends that have arrived count.
  std::vector<CoordTime> Instants() const;

 private:
  struct WorkerState {
    bool takes_part = false;
    bool awaited = false;  // it takes part, is not lost, and its lanes have not ended
    // With wear-out: the worker's lanes have reached the deadline and wait for the goal, and the fastest of them has
    // done `max_ops`.
    bool at_deadline = false;
    uint64_t max_ops = 0;
    std::optional<CoordTime> done_at;  // LanesDone has arrived
    v1::LanesDone ends;
    v1::Progress progress;      // latest known
    uint64_t poll_call_id = 0;  // 0: no poll is pending
    CoordTime poll_sent;
    double progress_at_s = 0;  // since T; 0: no answer yet
  };

  bool AllDone() const { return awaited_count_ == 0; }
  void SetAwaited(uint32_t worker, bool awaited);
  absl::Status WaitWatching(CoordTime deadline);
  void RecordFirstEnd(CoordTime at);
  void RecordStonewall(CoordTime at);
  void RecordProgress(const Member& member, const ReceivedEvent& received);
  void StopLanes();
  void SendGoalWhenAllWait();
  void Poll(const Member& member);
  void PollAll();
  void DropLate();
  void PollForDisplay();
  void Show();
  void NameClients(std::vector<ClientProgress>& clients);
  void PollClocks();
  // Without what workers have answered: no clients and no sums.
  PhaseProgress WholeProgress() const;
  // `clients` is set to the clients' parts, to which the result refers.
  PhaseProgress Progress(std::vector<ClientProgress>& clients) const;

  Cluster& cluster_;
  ClockSync& clock_sync_;
  RunObserver& observer_;
  const v1::Phase& phase_;
  const PhaseProgress shown_;
  const uint32_t lanes_per_worker_;
  std::vector<WorkerState> states_;            // index = worker number
  std::vector<std::string> client_of_worker_;  // the name of its client; empty until it is first shown
  size_t awaited_count_ = 0;
  size_t first_busy_ = 0;  // with wear-out: those before have ended, wait at the deadline, or do not count
  CoordTime start_;        // the start, T
  bool stop_sent_ = false;
  bool goal_sent_ = false;
  bool stonewall_noted_ = false;
  bool show_is_due_ = false;  // the observer has not seen the answers to the last poll for display
  size_t polls_pending_ = 0;  // may include those of lost workers
  CoordTime next_clock_poll_{INT64_MAX};
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_RUNNING_LANES_H_
