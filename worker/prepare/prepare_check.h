// Validates a Prepare request before the worker acts on it.
#ifndef WORKER_PREPARE_PREPARE_CHECK_H_
#define WORKER_PREPARE_PREPARE_CHECK_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "iobench/v1/control.pb.h"
#include "worker/pattern/replayed.h"

namespace iobench {

// The whole vector is one op. Only a single record may be longer than this.
inline constexpr uint64_t kMaxVectorBytes = uint64_t{1} << 30;

// A regular coordinator has already checked its plan by the same rules, but a worker does not rely on that: it refuses
// everything that it could not do or that would crash it. Returns InvalidArgument; ResourceExhausted: the phase needs
// more memory than this worker takes; PermissionDenied: the worker's rights do not cover it. `spec` and `engine` are
// those of the request's operation.
absl::Status CheckPrepare(const v1::Prepare& prepare, const OperationSpec& spec, const EngineSpec& engine);

// ---- its parts that concern resources (prepare_limits.cc)

// What a phase takes besides files. Sums that exceed 64 bits are UINT64_MAX.
struct PhaseNeeds {
  uint64_t memory_bytes = 0;  // of all lanes: buffers, data, recorders, lists of files, logs and traces
  uint64_t data_bytes = 0;    // of all lanes: the size of the files that they write or read
};

// Returns an upper estimate; pure. `replayed`: the trace that the lanes replay, whose ops may be longer than records;
// CheckPrepare does not know it yet. REQUIRES: the request's record, depth and lists are within the limits of
// CheckPrepare.
PhaseNeeds NeedsOf(const v1::Prepare& prepare, const OperationSpec& spec, const EngineSpec& engine,
                   std::span<const TraceOp> replayed = {});

// Returns how much memory a phase may take on this worker: --max-memory, or else what is available now. 0: unknown.
uint64_t MemoryLimitBytes();

// ResourceExhausted: the phase needs more than `memory_limit_bytes` (0: unlimited), or its sizes do not fit into 62
// bits. The message says what it needs, and which options change that.
absl::Status CheckNeeds(const PhaseNeeds& needs, uint64_t memory_limit_bytes);

// InvalidArgument: more lanes, files, targets or trees, or longer names than a worker accepts, or a malformed path.
// Safe to call before any other check.
absl::Status CheckCounts(const v1::Prepare& prepare, uint32_t max_lanes);

}  // namespace iobench

#endif  // WORKER_PREPARE_PREPARE_CHECK_H_
