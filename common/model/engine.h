// The engine table: the I/O engines and what each supports. The names are those of --engine and of plans.
#ifndef COMMON_MODEL_ENGINE_H_
#define COMMON_MODEL_ENGINE_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/enum_set.h"
#include "common/model/operation.h"

namespace iobench {

// Features that an operation may request but not every engine supports. A plan that requests an unsupported feature is
// refused; nothing is silently ignored.
enum class EngineFeature {
  kUpdate,       // ops of OpKind::kUpdate
  kFileLock,     // -W
  kRecordLocks,  // -+l
  kJitter,       // -K
  kFileAdvice,   // --fadvise
  kMapping,      // -D, -G, -+A, -Z: options for mapped files
  kCopy,         // -H
  kBuffers,      // -m
};
using EngineFeatures = EnumSet<EngineFeature>;

struct EngineSpec {
  std::string_view name;
  std::string_view what;  // one-line description for the help
  bool uses_files;        // false: needs no space, directory or prefill
  bool mounted;           // works on a directory; false: --path is a URL (libnfs) or unused
  bool has_queue;         // supports --depth: several ops in flight per lane
  bool direct;            // supports -I
  bool sync;              // supports -o, -+D and -+r
  Calls calls;
  EngineFeatures features = {};
  bool shares_threads = false;  // makes its calls in threads that serve all lanes
};

std::span<const EngineSpec> Engines();

// Finds an engine by its name or an alias used by other tools (such as io_uring). NotFound: the message lists the
// engines.
absl::StatusOr<const EngineSpec*> FindEngine(std::string_view name);

// Returns the engine that runs `operation` if the user selected `engine`. In place of posix, stdio and metadata
// operations use their own engines. InvalidArgument: the engine is unknown, or it cannot run the operation.
absl::StatusOr<const EngineSpec*> EngineFor(const OperationSpec& operation, std::string_view engine);

// Also false for unknown engines.
bool EngineUsesFiles(std::string_view engine);

}  // namespace iobench

#endif  // COMMON_MODEL_ENGINE_H_
