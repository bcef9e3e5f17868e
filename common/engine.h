// The engine table: how bytes move, and what each engine can do. Names are those of --engine and of plans.
#ifndef COMMON_ENGINE_H_
#define COMMON_ENGINE_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/enum_set.h"
#include "common/operation.h"

namespace iobench {

// What an operation may ask for and not every engine can do. What an engine would have to ignore is refused with the
// plan.
enum class EngineFeature {
  kUpdate,       // ops of OpKind::kUpdate
  kFileLock,     // -W
  kRecordLocks,  // -+l
  kJitter,       // -K
  kFileAdvice,   // --fadvise
  kMapping,      // -D, -G, -+A, -Z: it maps files
  kCopy,         // -H
  kBuffers,      // -m
};
using EngineFeatures = EnumSet<EngineFeature>;

struct EngineSpec {
  std::string_view name;
  std::string_view what;  // one line for help
  bool uses_files;        // false: no space, no directory, no prefill
  bool mounted;           // works below a directory; false: --path is a URL (libnfs) or nothing
  bool has_queue;         // --depth: several ops in flight per lane
  bool direct;            // -I has a meaning
  bool sync;              // -o, -+D and -+r have a meaning
  Calls calls;
  EngineFeatures features = {};
};

std::span<const EngineSpec> Engines();

// By its name, or by one that others have for it (io_uring). NotFound lists what there is.
absl::StatusOr<const EngineSpec*> FindEngine(std::string_view name);

// The engine that does an operation where the user asked for `engine`: stdio operations have their own in place of
// posix, metadata operations theirs. InvalidArgument names both where they cannot go together.
absl::StatusOr<const EngineSpec*> EngineFor(const OperationSpec& operation, std::string_view engine);

// False also for engines that nobody knows.
bool EngineUsesFiles(std::string_view engine);

}  // namespace iobench

#endif  // COMMON_ENGINE_H_
