// How bytes move. One instance a lane, used by that lane's thread only.
#ifndef WORKER_ENGINE_IO_ENGINE_H_
#define WORKER_ENGINE_IO_ENGINE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/operation.h"
#include "iobench/v1/plan.pb.h"
#include "worker/file_set.h"
#include "worker/lane_context.h"

namespace iobench {

// What an engine is made for: all that does not change during a phase. Engines take what concerns them; the plan was
// checked before, so that nothing stands here that an engine would have to ignore.
struct EngineOptions {
  Call call = Call::kPositional;
  TickSource ticks = TickSource::kMonotonic;
  uint32_t record_bytes = 0;  // of a record; an op of Call::kVector is several
  uint32_t longest_op_bytes = 0;
  uint32_t depth = 1;  // engines with a queue: ops in flight
  bool copy = false;   // posix-aio: copies between its buffers and the lane's
  v1::Mmap mmap = {};
  bool record_locks = false;   // fcntl lock per op, inside its time
  bool file_lock = false;      // fcntl lock of every file, from Open to Close
  uint32_t jitter_every = 0;   // so many reads apart, one small read at the file's begin; 0: never
  std::string advice = {};     // posix_fadvise after open; empty: none
  uint64_t buffer_bytes = 0;   // records come from and go to so much memory in turn; 0: one record's
  std::string directory = {};  // engines without a mount: the URL of the data directory
};

// What went wrong with an op, in the words of the engine.
struct FailedOp {
  absl::Status status;
  std::string file;  // its path
};

class IoEngine {
 public:
  virtual ~IoEngine() = default;

  // Allocates what Run needs (buffers for ops in flight, rings). Once, before Open and before the phase's start, with
  // the context that Run will get.
  virtual absl::Status MakeReady(LaneContext&) { return absl::OkStatus(); }

  // What the engine could not do as it should, and why, in one line for the report; empty: all is well. After
  // MakeReady.
  virtual std::string Note() const { return {}; }

  // Opens every file of the set; the set must outlive the engine's use. The Status names file and errno.
  virtual absl::Status Open(const FileSet& files, const OpenMode& mode) = 0;

  // The timed loop. Virtual once a phase; allocates, logs and locks nothing. REQUIRES: Open. Starts the recorder
  // unless lane.resume. The op after a failed one is not run.
  virtual LoopEnd Run(LaneContext& lane) = 0;

  // Of a Run that ended with kFailed, where the engine knows better than "KIND FILE at offset N" what failed.
  virtual std::optional<FailedOp> Explain(const LoopEnd&) const { return std::nullopt; }

  // Of find: how many of the items that Run looked at were what was looked for.
  virtual uint64_t found_items() const { return 0; }

  // fsync of every file.
  virtual absl::Status Flush() = 0;

  // Closes every file and says the first error; idempotent.
  virtual absl::Status Close() = 0;
};

// `name`: a row of common/engine.h that does options.call; NotFound: none. Unimplemented: not in this build.
absl::StatusOr<std::unique_ptr<IoEngine>> MakeEngine(std::string_view name, const EngineOptions& options);

// Whether this build has the engine and this host lets it be used at all, in words for the user.
absl::Status CheckEngineHere(std::string_view name);

// Engine<Clock> for the clock of the options.
template <template <typename Clock> class Engine>
std::unique_ptr<IoEngine> MakeForTicks(const EngineOptions& options) {
  if (options.ticks == TickSource::kTsc) return std::make_unique<Engine<TscClock>>(options);
  return std::make_unique<Engine<MonotonicClock>>(options);
}

// Mean ns that the loop itself takes per op, measured on the null engine (20,000 sequential ops, median of 5).
// The basis of the "tool share" in reports.
double MeasureLoopNs(TickSource ticks);

}  // namespace iobench

#endif  // WORKER_ENGINE_IO_ENGINE_H_
