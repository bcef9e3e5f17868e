// The engine interface: performs a lane's I/O. Each lane has its own instance, which only its thread uses.
#ifndef WORKER_ENGINE_IO_ENGINE_H_
#define WORKER_ENGINE_IO_ENGINE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/memory/own_lines.h"
#include "common/model/operation.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/loop/call_timer.h"
#include "worker/loop/file_set.h"
#include "worker/loop/lane_context.h"
#include "worker/mpi_io/ranks_together.h"

namespace iobench {

// The settings that stay fixed during a phase. An engine uses those that it supports; the plan check has already
// refused all others.
struct EngineOptions {
  Call call = Call::kPositional;
  TickSource ticks = TickSource::kMonotonic;
  // Size of one record. An op of Call::kVector has several, up to longest_op_bytes.
  uint32_t record_bytes = 0;
  uint32_t longest_op_bytes = 0;
  bool replays_trace = false;  // ops start anywhere, not only on records
  // Engines with a queue: the max number of ops in flight per lane.
  uint32_t depth = 1;
  // posix-aio: copy between the engine's own buffers and the lane's, within the latency (-H).
  bool copy = false;
  v1::Mmap mmap = {};
  bool record_locks = false;  // take an fcntl lock for each op, within its latency
  bool file_lock = false;     // hold an fcntl lock on every file from Open to Close
  // posix: one small read at the start of the file per this many reads, within the latency of the next read; 0: never.
  uint32_t jitter_every = 0;
  // Data calls are those of the C library, where a preloaded library can replace them, instead of direct system calls.
  bool libc_calls = false;
  std::string advice = {};    // posix_fadvise advice to apply after open; empty: none
  uint64_t buffer_bytes = 0;  // total size of the rotating buffers; 0: one buffer is reused
  // sim: the storage to simulate, and the key of the simulated server on this host.
  std::string simulated = {};
  uint64_t simulated_key = 0;
  // libnfs: the URL of the data directory, in the form that libnfs parses.
  std::string directory = {};
  v1::MpiIo mpi_io = {};
  // mpiio, collective: what this rank does in this phase together with the others; it has one lane. Null: lanes work alone.
  std::shared_ptr<RanksTogether> together = {};
};

// An engine's description of a failed op.
struct FailedOp {
  absl::Status status;
  std::string file;  // path of the file
};

// One lane's I/O in one phase. The lane's thread makes all calls, in the order MakeReady, MeetOthers, Open, Run, Flush, Close.
// Open, Run, Flush and Close may follow again on the same object, when the lane finishes a file after its timed region.
class IoEngine : public OnOwnLines {
 public:
  virtual ~IoEngine() = default;

  // The order in which the lane makes its ops, made of the one that its operation asks for. Called once, first of all.
  virtual std::unique_ptr<OpStream> OrderOf(std::unique_ptr<OpStream> stream) { return stream; }

  // Allocates what Run needs (buffers for ops in flight, rings). Called once, before Open and before the phase starts,
  // with the context that Run will get.
  virtual absl::Status MakeReady(LaneContext&) { return absl::OkStatus(); }

  // Returns a one-line note for the report about anything that does not work as intended, or an empty string. Call it
  // after MakeReady.
  virtual std::string Note() const { return {}; }

  // Waits until the lanes of other workers that act together with this one are ready to open `files`, too. Called once. An
  // error: one of them is not, or this one is not.
  virtual absl::Status MeetOthers(const FileSet& /*files*/) { return absl::OkStatus(); }

  // Opens every file of `files`, which must outlive its use. The error names file and errno.
  virtual absl::Status Open(const FileSet& files, const OpenMode& mode) = 0;

  // Runs the timed loop. It is one virtual call per phase and does not allocate, log or lock. Starts the recorder
  // unless lane.resume is set. Stops at the first op that fails. REQUIRES: Open.
  virtual LoopEnd Run(LaneContext& lane) = 0;

  // Describes the failure of a Run that ended with kFailed, if the engine has more detail than "KIND FILE at offset N".
  virtual std::optional<FailedOp> Explain(const LoopEnd&) const { return std::nullopt; }

  // How Run used MPI-IO. Absent: the engine does not use it.
  virtual std::optional<v1::MpiIoFacts> mpi_io_facts() const { return std::nullopt; }

  // For find: how many of the items that Run examined matched.
  virtual uint64_t found_items() const { return 0; }

  // Writes everything to stable storage: fsync for every file, or the engine's equivalent. Returns the first error. The
  // timed region, the end of a pass and the pause after a burst call it.
  virtual absl::Status Flush() = 0;

  // Flushes one file of the set with `call`, one of FlushCallsOfOption (common/model/plan_traits.h). Engines without
  // files do nothing.
  virtual absl::Status FlushFile(uint32_t, OpKind /*call*/) { return Flush(); }

  // Lets go of the files' pages, so that the kernel can drop them from memory although the files are open. REQUIRES:
  // Open.
  virtual void ReleasePages() {}

  // Closes every file and returns the first error. Further calls have no effect.
  virtual absl::Status Close() = 0;

  // From now on, `timer` times each call of Flush, FlushFile and Close: it must outlive its use. Null: none is timed,
  // as at first.
  void TimeCallsWith(CallTimer* timer) { timer_ = timer; }

 protected:
  CallTimer* timer() const { return timer_; }

 private:
  CallTimer* timer_ = nullptr;
};

// Creates an engine. NotFound: there is no engine of this `name`. Unimplemented: this build lacks it. REQUIRES: the
// engine supports options.call (see common/model/engine.h).
absl::StatusOr<std::unique_ptr<IoEngine>> MakeEngine(std::string_view name, const EngineOptions& options);

// Checks that this build contains the engine and that this host permits its use. The message is for the user.
absl::Status CheckEngineHere(std::string_view name);

// Creates Engine<Clock> with the clock that the options select.
template <template <typename Clock> class Engine>
std::unique_ptr<IoEngine> MakeForTicks(const EngineOptions& options) {
  if (options.ticks == TickSource::kTsc) return std::make_unique<Engine<TscClock>>(options);
  return std::make_unique<Engine<MonotonicClock>>(options);
}

// Returns the mean time in ns that the loop itself needs per op: the median of 5 passes of the null engine over 20,000
// sequential ops, or over fewer (at least 100) if the clock is slow: one read takes `clock_read_ns`. Reports derive the
// "tool share" from it.
double MeasureLoopNs(TickSource ticks, double clock_read_ns);

}  // namespace iobench

#endif  // WORKER_ENGINE_IO_ENGINE_H_
