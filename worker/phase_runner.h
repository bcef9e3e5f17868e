// Runs one phase on the lanes of a worker: one thread a lane, from Prepare to Collect.
#ifndef WORKER_PHASE_RUNNER_H_
#define WORKER_PHASE_RUNNER_H_

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "iobench/v1/control.pb.h"
#include "worker/host_counters.h"
#include "worker/lane.h"
#include "worker/phase_spec.h"
#include "worker/storage/directory.h"

namespace iobench {

// Prepare, Collect and WaitForLanes block and belong to one thread (not the lanes'); the rest returns at once and may
// be called from any thread. Held by shared_ptr: the lanes' threads hold it too, so that one that is stuck in the
// kernel can be abandoned.
class PhaseRunner : public std::enable_shared_from_this<PhaseRunner> {
 public:
  // What the phase says by itself, with no lock held. `soon` is called between the timed parts of a lane and must only
  // take the event; `now` by a lane that has nothing left to time. The events carry a body only.
  struct Events {
    std::function<void(v1::WorkerEvent)> soon;  // LaneEnded
    std::function<void(v1::WorkerEvent)> now;   // DeadlineReached, LanesDone
  };

  PhaseRunner(v1::Prepare prepare, const WorkerClock& clock, double loop_ns, Events events);
  ~PhaseRunner();  // REQUIRES: WaitForLanes
  PhaseRunner(const PhaseRunner&) = delete;
  PhaseRunner& operator=(const PhaseRunner&) = delete;

  // Starts the lanes, does the steps, opens the files; the lanes are parked then. An error: the phase as a whole cannot
  // be run (lanes that cannot take part are in the answer). Cancelled: Cancel was called meanwhile.
  absl::StatusOr<v1::Prepared> Prepare();

  // REQUIRES: Prepare has succeeded; once. `now`: when the request came in. Late: the lanes stay parked.
  v1::Armed Arm(const v1::Arm& arm, WorkerTime now);

  void Stop();                      // lanes end after the op in flight
  void Quit();                      // and leave their files as they are
  void SetGoal(uint64_t ops_goal);  // wear-out: lanes that wait go on
  void Cancel();                    // Quit, and nothing more is reported

  v1::Progress Progress() const;  // without the pong

  // Waits until shortly before the start, then reads the counters of the client and of this process once more, so that
  // they cover the phase and not the wait for it. Where the start is too near for that, what Prepare has read stands.
  // REQUIRES: Arm, and its answer was not late; by the thread of Prepare and Collect.
  void NoteStart();

  // Waits for the ends of all timed regions, lets the lanes settle, then gives the results in chunks, the last marked.
  // Only now do lanes settle: when the coordinator collects, the lanes of all workers are done, and no flush or tail of
  // one disturbs the timed part of another. May be called again. Cancelled: Cancel was called.
  absl::Status Collect(std::span<const WorkerTime> instants,
                       const std::function<void(v1::ResultChunk)>& give);

  // Waits until CLOCK_MONOTONIC shows `until_ns` for the lanes' threads to end, which they do after Collect and Cancel.
  // False: some are stuck and have been abandoned.
  bool WaitForLanes(int64_t until_ns);

  // Closes the directories, so that what they are on can be unmounted; nothing more can be prepared. REQUIRES:
  // WaitForLanes gave true.
  void CloseDirectories() { directories_.clear(); }

 private:
  struct Counters {
    HostCounters host;
    rusage process{};
  };
  // Where lanes meet: all arrive at each; files ready and region over they leave when it is opened.
  enum Meeting { kFilesReady, kFilesOpen, kRegionOver, kSettled, kMeetingCount };

  bool Rest();  // false: cancelled
  absl::Status MakeLanes();
  absl::Status OpenTargetOf(const v1::LanePlan& plan);
  absl::Status StartLanes();
  void FindCarriers();
  Counters CountersBefore() const;
  void StopLanes(bool quit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void RunLane(Lane& lane);
  void RunPhaseOn(Lane& lane);
  std::optional<WorkerTime> WaitForStart();  // nullopt: cancelled
  void RunTimedRegion(Lane& lane, WorkerTime start);
  std::optional<uint64_t> WaitForGoal(const Lane& lane);
  void NoteOpsEnded(const Lane& lane);
  void NoteRegionEnded();
  void ReportDone();
  void NoteCounters();
  // The event where all lanes are at the deadline, or done, and it has not been told yet.
  std::optional<v1::WorkerEvent> DeadlineEvent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Arrive(Meeting meeting, size_t lane_count = 1);
  bool WaitAllArrived(Meeting meeting);  // false: cancelled
  void OpenMeeting(Meeting meeting);
  bool WaitMeetingOpen(Meeting meeting);  // false: cancelled

  const v1::Prepare prepare_;
  const WorkerClock clock_;
  const double loop_ns_;
  const Events events_;

  // Made by Prepare before the lanes' threads start, or read only after they have met.
  PhaseSpec spec_;
  std::map<uint32_t, std::unique_ptr<Directory>> directories_;  // by target
  std::map<uint32_t, std::string> nfs_mount_points_;
  std::set<std::string> servers_;   // of the targets, by address
  std::set<std::string> carriers_;  // the interfaces that lead to them
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<v1::StepResult> steps_;
  bool collected_ = false;  // once; the thread of Collect
  TickPair early_pair_;
  std::optional<TickScale> scale_;  // of this phase; by the lane that ended last
  v1::HostDelta host_;
  double process_cpu_user_s_ = 0, process_cpu_system_s_ = 0;
  std::atomic<bool> prepared_ = false;  // the lanes can be looked at

  mutable Mutex mutex_;
  CondVar changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool lanes_made_ ABSL_GUARDED_BY(mutex_) = false;  // lanes_ does not change any more
  std::array<bool, kMeetingCount> open_ ABSL_GUARDED_BY(mutex_){};
  std::array<size_t, kMeetingCount> arrived_ ABSL_GUARDED_BY(mutex_){};
  std::optional<WorkerTime> start_ ABSL_GUARDED_BY(mutex_);
  Counters before_ ABSL_GUARDED_BY(mutex_);
  std::optional<uint64_t> goal_ ABSL_GUARDED_BY(mutex_);
  size_t ops_over_ ABSL_GUARDED_BY(mutex_) = 0;  // lanes whose ops have ended
  size_t regions_over_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // lanes that wait for the goal
  uint64_t most_ops_ ABSL_GUARDED_BY(mutex_) = 0;
  bool deadline_told_ ABSL_GUARDED_BY(mutex_) = false;
  bool end_told_ ABSL_GUARDED_BY(mutex_) = false;
  size_t threads_started_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t threads_ended_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // WORKER_PHASE_RUNNER_H_
