// Runs one phase on a worker's lanes, one thread per lane, from Prepare to Collect.
#ifndef WORKER_LANE_PHASE_RUNNER_H_
#define WORKER_LANE_PHASE_RUNNER_H_

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
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
#include "worker/client/host_counters.h"
#include "worker/lane/lane.h"
#include "worker/prepare/phase_spec.h"
#include "worker/storage/directory.h"

namespace iobench {

// Prepare, RecordStart, Collect and WaitForLanes block and must be called by one thread that is not a lane's; the other
// functions return at once and may be called from any thread. Objects are held by shared_ptr, also by the lanes'
// threads, so that a lane stuck in the kernel can be abandoned. Also in phase_progress.cc and phase_collection.cc.
class PhaseRunner : public std::enable_shared_from_this<PhaseRunner> {
 public:
  // Receives the events that the phase sends on its own, in order and with only the body set: LaneEnded,
  // DeadlineReached, LanesDone. Lanes call it, also between their timed parts, without holding a lock. It must only
  // take the event and let another thread send it, because a lane has its own descriptor table.
  using EventTaker = std::function<void(v1::WorkerEvent)>;

  PhaseRunner(v1::Prepare prepare, const WorkerClock& clock, double loop_ns, EventTaker take_event);
  ~PhaseRunner();  // REQUIRES: WaitForLanes was called
  PhaseRunner(const PhaseRunner&) = delete;
  PhaseRunner& operator=(const PhaseRunner&) = delete;

  // Starts the lanes, performs the steps before the start and opens the files; the lanes then wait. An error means that
  // the phase as a whole cannot run; a lane that cannot take part has its problem in its result. Cancelled: Cancel
  // was called.
  absl::StatusOr<v1::Prepared> Prepare();

  // Sets the start time; call it once. `now` is the time when the request arrived. If it is too late for the start, the
  // answer says so and the lanes keep waiting. REQUIRES: Prepare has succeeded.
  v1::Armed Arm(const v1::Arm& arm, WorkerTime now);

  // Lanes end after the op in flight. Their regions end as usual, and Collect lets them settle.
  void Stop();
  // Stop, and leave the files as they are: the run ends here.
  void Quit();
  // Wear-out: lanes that wait at the deadline continue until each has done this many ops.
  void SetGoal(uint64_t ops_goal);
  // Quit, and report nothing more. Waiting calls return Cancelled.
  void Cancel();

  // Returns the sums over all lanes of what is done so far; 0 until Prepare has succeeded. If the poll asks for them,
  // adds their latencies, and what the busy lanes' threads are doing, from the beginning of their preparation. Does not
  // set the pong.
  v1::Progress Progress(const v1::Poll& poll) const;

  // Waits until shortly before the start, then reads the counters of the client and of this process again, so that they
  // cover the phase but not the wait. If the start is too close, the counters read by Prepare are used. REQUIRES: Arm
  // was called and was not late; the calling thread is that of Prepare and Collect.
  void RecordStart();

  // Waits until all timed regions have ended, and passes the results to `give` in chunks, the last of which is marked. If
  // lanes have something to settle, the results come first, the one that completes them marked as measured; then the
  // lanes settle, and the last chunk has what that changed. So whatever becomes of the settling, what was measured has
  // been handed over. Lanes settle only now: when the coordinator collects, the lanes of all workers are done, so that no
  // flush or remaining work disturbs another lane's timed part. At `settle_until` they leave the rest as it is (Quit).
  // May be called again. Cancelled: Cancel was called.
  absl::Status Collect(std::span<const WorkerTime> instants, std::optional<WorkerTime> settle_until,
                       const std::function<void(v1::ResultChunk)>& give);

  // True if all timed regions have ended and Collect would give its results at once, in one chunk, whatever the
  // instants: no lane has anything to settle, or a long timeline, which depends on the instants. After the last end, it
  // waits until the counters are read. REQUIRES: the calling thread is that of Collect.
  bool HasShortResults();

  // Waits for the lanes' threads to end, which they do after Collect or Cancel, until CLOCK_MONOTONIC reaches
  // `until_ns`. Returns false if some are stuck; these have been abandoned.
  bool WaitForLanes(int64_t until_ns);

  // Closes the directories, so that their file systems can be unmounted. Nothing can be prepared afterwards. REQUIRES:
  // WaitForLanes returned true.
  void CloseDirectories() { directories_.clear(); }

 private:
  // The counters of the client and of this process, read together.
  struct Counters {
    HostCounters host;
    rusage process{};
  };
  // The points where lanes synchronise. Every lane arrives at each; at kFilesReady and kRegionOver, lanes continue only
  // when it is opened.
  enum Meeting { kFilesReady, kFilesOpen, kRegionOver, kSettled, kMeetingCount };

  // What a lane's thread is doing, for messages about a thread that hangs. Written by that thread, read by any.
  struct AtWork {
    std::atomic<pid_t> thread{0};            // 0: not running
    std::atomic<const char*> step{nullptr};  // null: it waits for other lanes or for the coordinator
  };

  // What stopped lanes do with files that they have not written completely.
  enum class UnfinishedFiles { kCompleted, kLeft };

  absl::StatusOr<v1::Prepared> PrepareLanes();
  bool Rest();  // returns false if cancelled
  absl::Status MakeLanes();
  uint32_t NumberOfTarget(const v1::LanePlan& plan) const;  // within the run
  absl::Status OpenTargetOf(const v1::LanePlan& plan);
  absl::Status StartLanes();
  void FindCarriers();
  void RecordSpaces();
  void RecordBuffers();
  Counters CountersBefore() const;
  void StopLanes(UnfinishedFiles unfinished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // These run on the lanes' threads.
  void RunLane(Lane& lane, AtWork& work);
  void RunPhaseOn(Lane& lane, AtWork& work);
  std::optional<WorkerTime> WaitForStart();  // nullopt: cancelled
  void RunTimedRegion(Lane& lane, WorkerTime start, AtWork& work);
  std::optional<uint64_t> WaitForGoal(const Lane& lane);
  void RecordOpsEnded(const Lane& lane);
  void RecordRegionEnded();
  void ReportDone();
  void RecordCounters();
  void RecordMeasured();
  void AddTotals(v1::ResultChunk& chunk) const;
  bool WaitForSettling(std::optional<WorkerTime> until);  // returns false if cancelled
  void GiveLanes(std::span<const WorkerTime> instants, const std::function<void(v1::ResultChunk)>& give,
                 v1::ResultChunk end);
  void AddThreadWork(v1::Progress& progress) const;
  // Returns the event if all lanes are at the deadline or done and it has not been sent yet.
  std::optional<v1::WorkerEvent> DeadlineEvent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Arrive(Meeting meeting, size_t lane_count = 1);
  bool WaitAllArrived(Meeting meeting);  // returns false if cancelled
  void OpenMeeting(Meeting meeting);
  bool WaitMeetingOpen(Meeting meeting);  // returns false if cancelled

  const v1::Prepare prepare_;
  const WorkerClock clock_;
  const double loop_ns_;
  const EventTaker take_event_;
  const std::shared_ptr<RanksTogether> together_;  // null: its lane works alone

  // Set by Prepare before the lanes' threads start, or read only after the lanes have synchronised.
  PhaseSpec spec_;
  std::map<uint32_t, std::unique_ptr<Directory>> directories_;  // by target
  std::map<uint32_t, std::string> nfs_mount_points_;
  std::set<std::string> mount_points_;    // of mounted targets, if --cold may remount them
  std::map<uint32_t, v1::Space> spaces_;  // by number of the target, when the phase was prepared
  std::set<std::string> servers_;         // addresses of the targets' servers
  std::set<std::string> carriers_;        // network interfaces that lead to them
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::deque<AtWork> at_work_;  // index = lane; a deque, because atomics cannot be moved
  std::vector<v1::StepResult> steps_;
  v1::BufferPages buffers_;
  uint64_t missed_arrivals_ = 0;
  bool measured_noted_ = false, settled_ = false;  // only the thread of Collect uses them
  TickPair early_pair_;
  std::optional<TickScale> scale_;  // tick scale of this phase, set by the lane that ended last
  v1::HostDelta host_;
  double process_cpu_user_s_ = 0, process_cpu_system_s_ = 0;
  std::atomic<bool> prepared_ = false;  // the lanes may be read
  std::atomic<bool> resting_ = false;

  mutable Mutex mutex_;
  // The lanes wait for the phase's thread, and it for them: with one condition for both, each step of a lane woke all.
  CondVar lanes_may_go_on_;
  CondVar lane_moved_on_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool lanes_made_ ABSL_GUARDED_BY(mutex_) = false;  // lanes_ is final
  std::array<bool, kMeetingCount> open_ ABSL_GUARDED_BY(mutex_){};
  std::array<size_t, kMeetingCount> arrived_ ABSL_GUARDED_BY(mutex_){};
  std::optional<WorkerTime> start_ ABSL_GUARDED_BY(mutex_);
  Counters before_ ABSL_GUARDED_BY(mutex_);
  std::optional<uint64_t> goal_ ABSL_GUARDED_BY(mutex_);
  size_t ops_over_ ABSL_GUARDED_BY(mutex_) = 0;  // lanes whose ops have ended
  size_t regions_over_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // lanes that wait for the goal
  uint64_t max_ops_ ABSL_GUARDED_BY(mutex_) = 0;
  bool deadline_sent_ ABSL_GUARDED_BY(mutex_) = false;
  bool end_sent_ ABSL_GUARDED_BY(mutex_) = false;
  size_t threads_started_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t threads_ended_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // WORKER_LANE_PHASE_RUNNER_H_
