// The ops of one lane, in order. Deterministic in (operation, shape): the same run gives the same offsets.
#ifndef WORKER_PATTERN_OP_STREAM_H_
#define WORKER_PATTERN_OP_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "common/op.h"
#include "common/operation.h"

namespace iobench {

// One thread uses a stream. Fill and Restart allocate nothing.
class OpStream {
 public:
  virtual ~OpStream() = default;

  // Writes the next ops of this pass and returns how many; 0: the pass is complete. Virtual once per batch.
  virtual size_t Fill(std::span<Op> batch) = 0;

  // The last `op_count` ops that Fill handed out were not run: the next Fill begins with them. REQUIRES: Fill handed
  // out so many in this pass.
  virtual void Unread(size_t op_count) = 0;

  // Begins pass number `pass` (0 is the first). Random orders differ from pass to pass.
  virtual void Restart(uint64_t pass) = 0;

  virtual uint64_t ops_per_pass() const = 0;
  virtual uint64_t bytes_per_pass() const = 0;
};

enum class LaneMix { kPerOp, kReader, kWriter };  // random-mix only

struct StreamShape {
  uint32_t object_count = 1;  // files of the lane
  uint64_t object_bytes = 0;  // of each; the last record of a file may be short
  uint32_t record_bytes = 0;
  uint32_t stride_records = 17;  // stride-read
  uint32_t read_percent = 50;    // random-mix per op
  LaneMix mix = LaneMix::kPerOp;
  uint64_t seed = 0;   // of the run
  uint32_t lane = 0;   // random orders differ per lane …
  uint32_t phase = 0;  // … and per phase
};

// InvalidArgument: no object; record or object of size 0; record larger than the object or than one system call
// moves (2 GiB - 4 KiB); stride 0 or percentage above 100 where they matter.
absl::StatusOr<std::unique_ptr<OpStream>> MakeOpStream(const OperationSpec& operation,
                                                       const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_OP_STREAM_H_
