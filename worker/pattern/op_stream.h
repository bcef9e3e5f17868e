// The sequence of ops of one lane. It depends only on operation and shape, so that repeating a run gives the same
// offsets.
#ifndef WORKER_PATTERN_OP_STREAM_H_
#define WORKER_PATTERN_OP_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "common/model/op.h"
#include "common/model/operation.h"

namespace iobench {

// Not thread-safe. Fill and Restart allocate nothing.
class OpStream {
 public:
  virtual ~OpStream() = default;

  // Writes the next ops of this pass into `batch` and returns their number; 0: the pass is complete. It is one virtual
  // call per batch.
  virtual size_t Fill(std::span<Op> batch) = 0;

  // Puts back the last `op_count` ops that Fill returned, because they were not run: the next Fill starts with them.
  // REQUIRES: Fill has returned at least `op_count` ops in this pass.
  virtual void Unread(size_t op_count) = 0;

  // Begins pass number `pass`, counted from 0. Random orders differ between passes.
  virtual void Restart(uint64_t pass) = 0;

  virtual uint64_t ops_per_pass() const = 0;
  virtual uint64_t bytes_per_pass() const = 0;
};

enum class LaneMix { kPerOp, kReader, kWriter };  // mixed operations only

struct StreamShape {
  uint32_t object_count = 1;  // number of the lane's files
  uint64_t object_bytes = 0;  // size of each file; its last record may be shorter
  uint32_t record_bytes = 0;
  uint32_t stride_records = 17;  // stride-read
  uint32_t read_percent = 50;    // mixed operations with LaneMix::kPerOp
  LaneMix mix = LaneMix::kPerOp;
  uint64_t seed = 0;   // seed of the run
  uint32_t lane = 0;   // random orders differ between lanes …
  uint32_t phase = 0;  // … and between phases
};

// InvalidArgument: no object; record or object of size 0; a record larger than the object or than one system call can
// transfer (2 GiB - 4 KiB); stride 0 or percentage above 100 in operations that use them.
absl::StatusOr<std::unique_ptr<OpStream>> MakeOpStream(const OperationSpec& operation,
                                                       const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_OP_STREAM_H_
