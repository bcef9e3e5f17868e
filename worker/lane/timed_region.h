// The timed region of one lane: open (by option), ops, fsync (by option) and close, each timed separately.
#ifndef WORKER_LANE_TIMED_REGION_H_
#define WORKER_LANE_TIMED_REGION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/time.h"
#include "worker/lane/lane_files.h"
#include "worker/lane/lane_setup.h"
#include "worker/lane/lane_work.h"
#include "worker/loop/lane_context.h"

namespace iobench {

// Adds its lifetime to a sum of nanoseconds.
class Stopwatch {
 public:
  explicit Stopwatch(int64_t& sum_ns) : sum_ns_(sum_ns), begin_ns_(MonotonicNowNs()) {}
  ~Stopwatch() { sum_ns_ += MonotonicNowNs() - begin_ns_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  int64_t& sum_ns_;
  const int64_t begin_ns_;
};

// What a lane did in its timed region, besides what its recorder holds. Plain values; times are on CLOCK_MONOTONIC.
struct RegionOutcome {
  WorkerTime start;
  // Ops were begun, so the recorder has a start time.
  bool ran = false;
  // How the latest run of ops ended. hit_deadline stays true after the ops that wear-out adds. The end of --time is no
  // deadline.
  LoopEnd end;
  bool hit_deadline = false;
  // Parts of the ops' time: the op hook, generating long ops' data directly in a queue's buffers, and all flushes and
  // page drops between passes.
  uint64_t hook_ticks = 0;
  int64_t copying_ns = 0;
  int64_t pass_end_ns = 0;
  int64_t first_pass_flushed_ns = 0;  // when the flush after the first pass ended; 0: there was none
  // Begins, ends and durations of the other parts. A begin or end of 0: not in the timed region.
  int64_t open_begin_ns = 0;
  int64_t open_ns = 0;
  int64_t fsync_ns = 0, fsync_end_ns = 0;
  int64_t close_ns = 0, close_end_ns = 0;
  // CPU time of the lane's thread from Begin to Close.
  double cpu_user_s = 0, cpu_system_s = 0;
  // The same for the time in which it was ready to run, but had no processor. Negative: the kernel does not say.
  double run_delay_s = -1;
  uint64_t found_items = 0;
  std::optional<v1::MpiIoFacts> mpi_io = {};
};

// The lane's thread calls the functions in the order of their declaration. If one fails, only EndOps and Close follow.
// A plain status concerns the lane's first file.
class TimedRegion {
 public:
  // All arguments must outlive it.
  TimedRegion(const LaneWork& work, LaneSetup& setup, LaneDirectory& directory)
      : work_(work), setup_(setup), directory_(directory) {}
  TimedRegion(const TimedRegion&) = delete;  // the set-up's context refers to it
  TimedRegion& operator=(const TimedRegion&) = delete;

  // Before the lane waits for the start: reads what would take too long afterwards.
  void RecordBefore();
  // At the start; with region.open, opens the files.
  absl::Status Begin(WorkerTime start);
  // Runs ops until done, stopped, failed, or the deadline.
  std::optional<LaneFailure> RunOps();
  // RunOps ended at the deadline and the plan has wear-out: call one of the next two.
  bool waits_at_deadline() const;
  std::optional<LaneFailure> RunToGoal(uint64_t ops_goal);
  void RecordStoppedAtDeadline();  // the lane was stopped before it got a goal
  // Completes the lane's record; nothing that follows is in it.
  void EndOps();
  // Flushes with region.fsync if the lane writes, otherwise does nothing.
  absl::Status Flush();
  // Always closes, also if Begin was not called.
  absl::Status Close();

  const RegionOutcome& outcome() const { return outcome_; }
  // The number of ops that remain to be done unmeasured: later phases need more of the files that this phase creates, or
  // items of a tree that have not been changed (LanePlan.finish_bytes).
  uint64_t UnfinishedOps() const;

 private:
  void SetRules(WorkerTime start);
  std::optional<LaneFailure> Run();
  bool GoesOnAfterFailure();
  bool IsAfterDeadline() const;
  uint64_t OpsToFinish() const;
  bool EndPass();  // false: failed, or the time of whole_passes is over

  const LaneWork& work_;
  LaneSetup& setup_;
  LaneDirectory& directory_;
  RegionOutcome outcome_;
  std::optional<double> run_delay_before_s_;
  absl::Status pass_end_status_;
  int64_t last_pass_begins_ns_ = INT64_MAX;  // whole_passes: no pass begins from then on
};

}  // namespace iobench

#endif  // WORKER_LANE_TIMED_REGION_H_
