// One I/O thread's part in a phase: its files, op stream, engine and results.
#ifndef WORKER_LANE_LANE_H_
#define WORKER_LANE_LANE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "iobench/v1/control.pb.h"
#include "worker/engine/io_engine.h"
#include "worker/lane/lane_files.h"
#include "worker/lane/lane_hook.h"
#include "worker/lane/lane_work.h"
#include "worker/lane/phase_spec.h"
#include "worker/lane/trace_hook.h"
#include "worker/metadata/metadata_work.h"
#include "worker/metadata/tree_keeper.h"
#include "worker/storage/directory.h"

namespace iobench {

// The lane's own thread calls the steps of a phase in the order in which they are declared. After a failed step, the
// later steps do nothing; in a lane that sits out, no step does anything. Other threads may call Stop and Quit at any
// time, live() after MakeReady, and the results only while the lane's thread waits or has ended.
class Lane {
 public:
  // `spec` and `directory` must outlive the lane. `directory` holds the files of all lanes of a target. It is null if
  // no files are used, or if `target` is a URL, to which each lane connects on its own.
  Lane(const PhaseSpec& spec, const v1::LanePlan& plan, const std::string& target,
       const Directory* directory);

  // ---- before the phase's start
  void TakeOwnDescriptors();  // of the calling thread (own_descriptors.h), before it opens anything
  void Bind();       // binds the calling thread to a processor
  void MakeReady();  // op stream, recorder, buffers: everything that would take time later
  void CreateFiles();
  void Prefill();  // if the operation needs data: writes it, or only checks it (data_must_exist)
  void ForgetPages();
  void Open();  // not with region.open, which opens in the timed region

  // ---- the timed region
  void BeginRegion(WorkerTime start);  // at the start; with region.open, opens the files
  void RunOps();                       // until done, stopped, failed, or the deadline
  bool waits_at_deadline() const;      // RunOps ended at the deadline and the plan has wear-out
  void RunToGoal(uint64_t ops_goal);   // the ops after the deadline
  void NoteStoppedAtDeadline();        // the lane was stopped before it got a goal
  void EndRegion();                    // fsync with region.fsync, always close

  // ---- after it
  void Settle();  // reopen, complete an unfinished file, fsync, close
  void WriteTrace();
  void Release();  // releases files and buffers, keeps the results

  void Stop() { stop_.stop.store(true, std::memory_order_relaxed); }
  void Quit();  // Stop, and leave unfinished files as they are

  bool takes_part() const { return !work_.plan.sits_out() && !failed(); }
  bool failed() const { return problem_.has_value(); }
  bool ended_by_itself() const;  // the ops ended without a stop, a failure or a wait at the deadline
  uint64_t ops() const;          // completed so far; only for the lane's thread, or while it waits
  uint64_t bytes_per_pass() const { return stream_ == nullptr ? 0 : stream_->bytes_per_pass(); }
  uint64_t ops_per_pass() const { return stream_ == nullptr ? 0 : stream_->ops_per_pass(); }
  const LiveCell* live() const { return recorder_ == nullptr ? nullptr : &recorder_->live(); }
  uint32_t number() const { return work_.plan.lane(); }
  uint32_t index_on_client() const { return work_.plan.index_on_client(); }
  const std::optional<v1::Problem>& problem() const { return problem_; }
  // An error if the lane found another run's data in place of its own. Only for lanes that open their directory
  // themselves.
  const absl::Status& lost_claim() const { return directory_.lost_claim(); }

  // Durations of the steps before the start, for the phase's StepResults.
  struct StepTimes {
    int64_t create_ns = 0, prefill_ns = 0, forget_ns = 0, open_ns = 0;
  };
  const StepTimes& step_times() const { return step_times_; }
  uint64_t prefilled_bytes() const { return prefilled_bytes_; }
  int64_t pass_end_ns() const { return pass_end_ns_; }  // total of all flushes and page drops between passes
  uint64_t traced_ops() const { return traced_ops_; }  // number of ops written to the trace; 0: no trace was requested
  uint64_t untraced_ops() const { return trace_ ? trace_->left_out_count() : 0; }
  const TreePrepared& tree_prepared() const { return tree_prepared_; }
  std::string engine_note() const { return engine_ == nullptr ? std::string() : engine_->Note(); }

  // Converts with the tick scale from the start of the phase, which is off by a few millionths of the phase's length.
  // REQUIRES: RunOps.
  WorkerTime AboutEndOfOps() const { return EndOfOps(*scale_); }
  // `scale` is built from two tick pairs around the phase. REQUIRES: EndRegion, or the lane does not take part.
  WorkerTime EndOfOps(const TickScale& scale) const;
  v1::LaneEnds EndsOn(const TickScale& scale) const;
  v1::LaneResult ResultOn(const TickScale& scale, std::span<const WorkerTime> instants) const;

 private:
  // The number of unmeasured ops that remain: a file that this phase creates is incomplete, or only some items of a
  // tree have been changed.
  uint64_t UnfinishedOps() const;
  void NoteResidentBytes();
  WorkerTime ToWorker(int64_t monotonic_ns) const { return {monotonic_ns + work_.spec.clock.offset_ns()}; }
  WorkerTime EndOfRegion(const TickScale& scale) const;
  void Run();
  bool EndPass();  // false: failed
  void FinishOps(uint64_t op_count);
  absl::StatusOr<std::unique_ptr<OpStream>> MakeStream(const StreamShape& shape) const;
  absl::Status MakeHook();
  int64_t LongestAskedPauseNs();
  absl::Status MakeTrace();
  void ReadyDataForOps();
  void Fail(const absl::Status& status, const std::string& file, uint64_t offset = 0);
  void FailWith(const LoopEnd& end);

  const LaneWork work_;
  LaneDirectory directory_;
  StopCell stop_, quit_;

  std::unique_ptr<OpStream> stream_;
  std::unique_ptr<LaneRecorder> recorder_;
  std::unique_ptr<IoEngine> engine_;
  std::optional<Payload> payload_;
  std::optional<AlignedBuffer> read_buffer_;
  std::optional<LaneHook> between_;  // the op hook, if anything runs between ops
  std::optional<TraceHook> trace_;   // wraps the op hook if a trace is replayed or written
  UniqueFd trace_file_;
  uint64_t traced_ops_ = 0;
  std::optional<LaneContext> context_;
  std::optional<TickScale> scale_;  // accurate enough for rules and histograms; results use the phase's own scale

  std::optional<v1::Problem> problem_;
  StepTimes step_times_;
  uint64_t prefilled_bytes_ = 0;
  std::optional<uint64_t> resident_bytes_;  // bytes of the files in this host's memory before the start
  TreePrepared tree_prepared_;
  uint64_t found_items_ = 0;
  WorkerTime start_;
  bool ran_ = false;  // RunOps was called, so the recorder has a start time
  uint64_t hook_ticks_ = 0;
  int64_t copying_ns_ = 0;  // time to generate long ops' data directly in a queue's buffers
  LoopEnd end_;
  bool hit_deadline_ = false;
  uint64_t deadline_ops_ = 0;
  int64_t pass_end_ns_ = 0;
  absl::Status pass_end_status_;
  int64_t open_begin_ns_ = 0;                // CLOCK_MONOTONIC; 0: not opened in the timed region
  int64_t fsync_ns_ = 0, fsync_end_ns_ = 0;  // duration, and end time on CLOCK_MONOTONIC (0: not done)
  int64_t close_ns_ = 0, close_end_ns_ = 0;
  int64_t settle_ns_ = 0;
  double cpu_user_s_ = 0, cpu_system_s_ = 0;
};

}  // namespace iobench

#endif  // WORKER_LANE_LANE_H_
