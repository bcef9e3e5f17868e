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

// What an engine can do besides its calls. Everything that depends on the engine follows from this set: the fields that
// options set, the checks of a plan and their messages. What an engine cannot do is refused; nothing is silently
// ignored.
enum class EngineFeature {
  // The engine can execute ops of OpKind::kUpdate.
  kUpdate,
  // -I: O_DIRECT, which bypasses the memory of the client.
  kDirect,
  // -o, -+D and -+r: O_SYNC, O_DSYNC and O_RSYNC; libnfs requests the same of the server for each WRITE.
  kSync,
  // --depth: several ops of a lane are in flight at a time.
  kQueue,
  // -H: the engine copies between buffers of its own and those of the lane.
  kCopy,
  // -W: the whole file is locked (fcntl) while it is in use.
  kFileLock,
  // -+l: each record is locked during its op, within the latency of the op.
  kRecordLocks,
  // -K: one small read at the start of the file every N reads.
  kJitter,
  // --fadvise: posix_fadvise() on each file.
  kFileAdvice,
  // -D, -G, -+A and -Z, which exist for mapped files only.
  kMapping,
  // -m: the lane takes the next of several buffers for each op instead of reusing one.
  kBuffers,
  // --preallocate: fallocate() when files are created.
  kPreallocate,
  // --interleaved: the records of all lanes alternate in a shared file.
  kInterleaved,
  // --libc-calls: the data calls are functions of the C library, so that a preloaded library can see them.
  kLibcCalls,
  // --flush-call: the engine calls fsync, fdatasync or sync_file_range as asked. The others have a flush of their own.
  kFlushCallChoice,
  // --collective, --mpi-view, --mpi-hint: MPI's ways to share a file.
  kMpiIo,
};
using EngineFeatures = EnumSet<EngineFeature>;

// The threads in which the kernel sees the calls of an engine. A lane may have its own descriptor table only if it
// makes all calls itself. Kernels before 5.12 do not charge writes of kernel threads to this process.
enum class CallThreads {
  // The thread of the lane itself.
  kOwn,
  // Threads of this process that serve all lanes (glibc's POSIX AIO).
  kShared,
  // Threads of the kernel, which take over ops that would block (io_uring).
  kKernel,
};

// One row of the table. Rows are constants; pointers to them stay valid until the program ends.
struct EngineSpec {
  std::string_view name;
  // One line for the help.
  std::string_view what;
  // False for engines without storage (null, which measures the tool, and sim): they need no space, directory or prefill.
  bool uses_files;
  // True if the engine works on a directory. False: --path is a URL (libnfs), or is not used at all.
  bool mounted;
  // The calls that the engine implements. An operation can run on it only if its call is among them (EngineFor).
  Calls calls;
  EngineFeatures features;
  CallThreads threads = CallThreads::kOwn;

  bool Can(EngineFeature feature) const { return features.Has(feature); }
};

// All rows in the order in which the help and messages list them.
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

// True if the engine works on files and thus needs a target, space and prefill. False for unknown engines: plan checks
// report those with a better message.
bool EngineUsesFiles(std::string_view engine);

}  // namespace iobench

#endif  // COMMON_MODEL_ENGINE_H_
