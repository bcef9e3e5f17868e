// Everything that a lane's timed region needs, made before the start: op stream, engine, recorder, data, op hook.
#ifndef WORKER_LANE_LANE_SETUP_H_
#define WORKER_LANE_LANE_SETUP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/memory/own_lines.h"
#include "common/unique_fd.h"
#include "worker/data/aligned_buffer.h"
#include "worker/data/payload.h"
#include "worker/engine/io_engine.h"
#include "worker/lane/lane_hook.h"
#include "worker/lane/lane_work.h"
#include "worker/lane/trace_hook.h"
#include "worker/loop/lane_context.h"
#include "worker/loop/lane_recorder.h"
#include "worker/op_log/op_log.h"

namespace iobench {

// The failure that ends a lane's work.
struct LaneFailure {
  absl::Status status;
  std::string file;  // its path; empty: no file is concerned
  uint64_t offset = 0;
};

// The lane's thread makes, uses and releases it. Other threads may read live() of the recorder and the stream's
// constants at any time, and the rest of what the last section returns while the lane's thread waits or after it has
// settled.
class LaneSetup {
 public:
  // Makes all that takes time or may fail, except for the parts below. `work` and `stop` must outlive it.
  static absl::StatusOr<std::unique_ptr<LaneSetup>> Create(const LaneWork& work, StopCell& stop);
  LaneSetup(const LaneSetup&) = delete;  // the context refers to the other members
  LaneSetup& operator=(const LaneSetup&) = delete;

  // Call each once, in this order.
  absl::Status MakeTrace();  // if a trace is replayed or written; errors concern the trace file
  absl::Status MakeOpLog();  // if offsets and latencies are logged
  absl::Status MakeEngineReady() { return engine_->MakeReady(context_); }

  // Switches the payload from the prefill's data to that of the ops, and turns on checks of the data read. Create calls
  // it if no data is needed.
  absl::Status ReadyDataForOps(uint64_t prefilled_bytes);
  void DropPayload();  // after the prefill, if the ops do not write

  // No wait between ops ends later than this time of CLOCK_MONOTONIC.
  void EndWaitsAt(int64_t monotonic_ns);
  const Pauses* pauses() const { return hook_ ? hook_->pauses() : nullptr; }

  // The lane's files have just been flushed between two passes, bursts or ops.
  void RecordFlushed();
  // Times each flush call of the engine. REQUIRES: Release has not been called.
  void BeginTimedCalls() { engine_->TimeCallsWith(&call_timer_); }
  void EndTimedCalls() { engine_->TimeCallsWith(nullptr); }
  // The first flush between ops that failed.
  absl::Status FlushStatus() const;
  // The lane goes on after its last op has failed: that op is not in the trace that is written.
  void LeaveFailedOpOut() {
    if (trace_) trace_->LeaveLastOut();
  }

  // Runs up to `op_count` more ops of the stream, which continues where it stopped. They count only in the recorder's
  // overall totals; between them there are no pauses, checks or records. `stop` ends them.
  std::optional<LaneFailure> RunUnmeasured(uint64_t op_count, StopCell& stop);
  // REQUIRES: `end` is a failure.
  LaneFailure FailureOf(const LoopEnd& end) const;

  // Writes the ops that were recorded, if a trace is to be written. Errors concern the trace file.
  absl::Status WriteTrace();

  // Appends the logged ops to the lane's file, if ops are logged. `times`: of the timed region.
  absl::Status WriteOpLog(const LoggedTimes& times);

  // Closes and frees everything that the last section does not return. Removes the trace file if WriteTrace was not
  // called: an empty file would be in the way of the next run.
  void Release();

  // REQUIRES: Release has not been called.
  IoEngine& engine() { return *engine_; }
  Payload* payload() { return context_.payload; }  // null: not needed
  LaneContext& context() { return context_; }
  const LaneContext& context() const { return context_; }
  std::string engine_note() const { return engine_ == nullptr ? std::string() : engine_->Note(); }

  // ---- also after Release
  const OpStream& stream() const { return *stream_; }
  LaneRecorder& recorder() { return recorder_; }
  const LaneRecorder& recorder() const { return recorder_; }
  // Accurate enough for rules and histograms; results use the phase's own scale.
  const TickScale& scale() const { return scale_; }
  // Null: not used in this phase. If all are null, nothing runs between ops.
  OpenLoop* open_loop() { return open_loop_ ? &*open_loop_ : nullptr; }
  const OpenLoop* open_loop() const { return open_loop_ ? &*open_loop_ : nullptr; }
  const LaneHook* hook() const { return hook_ ? &*hook_ : nullptr; }
  const TraceHook* trace() const { return trace_ ? &*trace_ : nullptr; }
  const OpLog* op_log() const { return op_log_ ? &*op_log_ : nullptr; }
  // The number of ops that WriteTrace wrote.
  uint64_t traced_ops() const { return traced_ops_; }
  uint64_t logged_ops() const { return logged_ops_; }  // the same for WriteOpLog

 private:
  LaneSetup(const LaneWork& work, StopCell& stop, std::unique_ptr<OpStream> stream,
            std::unique_ptr<IoEngine> engine, const TickScale& scale);
  absl::Status MakeBuffers();
  absl::Status MakeHook();
  void JoinOpenLoop();
  int64_t LongestAskedPauseNs() const;
  size_t MostLoggedOps() const;

  const LaneWork& work_;
  StopCell& stop_;
  const std::unique_ptr<OpStream> stream_;
  std::unique_ptr<IoEngine> engine_;
  const TickScale scale_;
  LaneRecorder recorder_;
  CallTimer call_timer_;
  std::optional<Payload> payload_;
  std::optional<AlignedBuffer> read_buffer_;
  std::optional<LaneHook> hook_;
  std::optional<OpenLoop> open_loop_;
  std::optional<TraceHook> trace_;  // wraps the op hook
  std::optional<OpLog> op_log_;     // wraps both
  UniqueFd trace_file_;
  uint64_t traced_ops_ = 0;
  uint64_t logged_ops_ = 0;
  LaneContext context_;
};
// The recorder brings it: what the lane writes per op is in here, or on lines of its own (OnOwnLines).
static_assert(alignof(LaneSetup) == kOwnLinesBytes);

}  // namespace iobench

#endif  // WORKER_LANE_LANE_SETUP_H_
