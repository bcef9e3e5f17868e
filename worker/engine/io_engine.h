// How bytes move. One instance a lane, used by that lane's thread only.
#ifndef WORKER_ENGINE_IO_ENGINE_H_
#define WORKER_ENGINE_IO_ENGINE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/operation.h"
#include "worker/file_set.h"
#include "worker/lane_context.h"

namespace iobench {

class IoEngine {
 public:
  virtual ~IoEngine() = default;

  // Opens every file of the set; the set must outlive the engine's use. The Status names file and errno.
  virtual absl::Status Open(const FileSet& files, const OpenMode& mode) = 0;

  // The timed loop. Virtual once a phase; allocates, logs and locks nothing. REQUIRES: Open. Starts the recorder
  // unless lane.resume. The op after a failed one is not run.
  virtual LoopEnd Run(LaneContext& lane) = 0;

  // fsync of every file.
  virtual absl::Status Flush() = 0;

  // Closes every file and says the first error; idempotent.
  virtual absl::Status Close() = 0;
};

// `name`: "posix" or "null"; NotFound lists what there is. `call` picks read()/write() or pread()/pwrite().
absl::StatusOr<std::unique_ptr<IoEngine>> MakeEngine(std::string_view name, Call call, TickSource ticks);
std::vector<std::string_view> EngineNames();

// False for engines that touch no files (null): no space, no directory, no prefill needed.
bool EngineUsesFiles(std::string_view name);

// Mean ns that the loop itself takes per op, measured on the null engine (20,000 sequential ops, median of 5).
// The basis of the "tool share" in reports.
double MeasureLoopNs(TickSource ticks);

}  // namespace iobench

#endif  // WORKER_ENGINE_IO_ENGINE_H_
