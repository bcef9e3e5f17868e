// The sequence of ops of one lane. It depends only on operation and shape, so that repeating a run gives the same
// offsets.
#ifndef WORKER_PATTERN_OP_STREAM_H_
#define WORKER_PATTERN_OP_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/memory/own_lines.h"
#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/text/access_text.h"
#include "common/text/record_share_text.h"

namespace iobench {

// The caller takes one pass after the other: Fill until it returns 0, then Restart. A new stream is at the start of
// pass 0. Not thread-safe, except that ops_per_pass() and bytes_per_pass() are constant and callable from any thread.
// Fill and Restart allocate nothing.
class OpStream : public OnOwnLines {
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

  // The number of ops of a complete pass, and the sum of their lengths. Both are the same for every pass.
  virtual uint64_t ops_per_pass() const = 0;
  virtual uint64_t bytes_per_pass() const = 0;
};

// What a lane does in a mixed operation: draw each op, only read, or only write (--mix-by-lane).
enum class LaneMix { kPerOp, kReader, kWriter };

// What an op stream needs to know besides the operation. Streams of equal shapes yield equal ops.
struct StreamShape {
  // The number of the lane's files.
  uint32_t object_count = 1;
  // The size of each file. Its last record may be shorter than the others.
  uint64_t object_bytes = 0;
  // The size of an op: one record, or for vectors all records of one call. The largest, if there are several.
  uint32_t op_bytes = 0;
  // The sizes of the ops and their shares; empty: all ops have op_bytes.
  std::vector<RecordShare> records = {};
  // For stride-read: every stride_records-th record is visited first. 17 is IOzone's default.
  uint32_t stride_records = 17;
  // For mixed operations with LaneMix::kPerOp, 0 to 100.
  uint32_t read_percent = 50;
  LaneMix mix = LaneMix::kPerOp;
  // For random orders of existing records: how often which one is used. Unless it is kEachOnce, a pass has as many ops
  // as there are whole records, and may use a record more than once or not at all.
  Access access = {};
  // For random orders of existing records: how many follow each other from each place.
  uint32_t burst_records = 1;
  // Random orders and the kinds of a mix are derived from these three and the pass.
  uint64_t seed = 0;
  uint32_t lane = 0;
  uint32_t phase = 0;
};

// Creates the stream of an operation on records; metadata operations have streams of their own. InvalidArgument: no
// object; record or object of size 0; a record larger than the object or than one system call can transfer (2 GiB - 4
// KiB); more than 2^62 records; stride 0 or percentage above 100 in operations that use them; several sizes in an order that
// needs one; bursts of 0 records, larger than a file or than one call can transfer, or in an order that has none.
absl::StatusOr<std::unique_ptr<OpStream>> MakeOpStream(const OperationSpec& operation,
                                                       const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_OP_STREAM_H_
