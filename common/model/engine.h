// The engine table: the I/O engines and what each supports. The names are those of --engine and of plans.
#ifndef COMMON_MODEL_ENGINE_H_
#define COMMON_MODEL_ENGINE_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/enum_set.h"
#include "common/model/operation.h"

namespace iobench {

// What an engine can do besides its calls. This set decides all that depends on the engine: the fields that options
// set, the checks of a plan and their messages. What an engine cannot do is refused; nothing is silently ignored.
enum class EngineFeature {
  kUpdate,       // ops of OpKind::kUpdate
  kDirect,       // -I
  kSync,         // -o, -+D and -+r
  kQueue,        // --depth: several ops in flight per lane
  kCopy,         // -H
  kFileLock,     // -W
  kRecordLocks,  // -+l
  kJitter,       // -K
  kFileAdvice,   // --fadvise
  kMapping,      // -D, -G, -+A, -Z: options for mapped files
  kBuffers,      // -m
  kPreallocate,  // --preallocate
  kInterleaved,  // --interleaved
};
using EngineFeatures = EnumSet<EngineFeature>;

// The threads in which the kernel sees an engine's calls.
enum class CallThreads {
  kOwn,     // the lane's own
  kShared,  // threads of the process that serve all lanes
  kKernel,  // threads of the kernel, for ops that would block
};

struct EngineSpec {
  std::string_view name;
  std::string_view what;  // one-line description for the help
  bool uses_files;        // false: needs no space, directory or prefill
  bool mounted;           // works on a directory; false: --path is a URL (libnfs) or unused
  Calls calls;
  EngineFeatures features;
  CallThreads threads = CallThreads::kOwn;

  bool Can(EngineFeature feature) const { return features.Has(feature); }
};

std::span<const EngineSpec> Engines();

// The engine of a plan that names none. It also stands for the engines of stdio and metadata operations.
inline constexpr char kDefaultEngine[] = "posix";

// Finds an engine by its name or an alias used by other tools (such as io_uring). NotFound: the message lists the
// engines.
absl::StatusOr<const EngineSpec*> FindEngine(std::string_view name);

// Returns the engine that runs `operation` if the user selected `engine`. In place of the default engine, stdio
// and metadata operations use their own. InvalidArgument: the engine is unknown, or it cannot run the operation.
absl::StatusOr<const EngineSpec*> EngineFor(const OperationSpec& operation, std::string_view engine);

// Returns the names of the engines with this feature that move data, in the order of the table: "posix-aio, uring".
std::string EnginesWith(EngineFeature feature);

// Also false for unknown engines.
bool EngineUsesFiles(std::string_view engine);

}  // namespace iobench

#endif  // COMMON_MODEL_ENGINE_H_
