// Numbers the records of a lane's files: first those of file 0, then those of file 1, and so on.
#ifndef WORKER_PATTERN_RECORD_GRID_H_
#define WORKER_PATTERN_RECORD_GRID_H_

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/model/op.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// Divides by a fixed number with a multiplication instead of a division: 2 ns instead of up to 10 ns. A plain value.
// REQUIRES: divisor > 0.
class Divisor {
 public:
  struct Result {
    uint64_t quotient;
    uint64_t remainder;
  };

  explicit Divisor(uint64_t divisor) : divisor_(divisor), reciprocal_(UINT64_MAX / divisor) {
    assert(divisor > 0);
  }

  // Multiplies by floor((2^64 - 1) / divisor) and takes the upper half, which is the quotient or one less; the
  // remainder tells which. REQUIRES: dividend < 2^63, so that the estimate is at most one too small.
  Result Divide(uint64_t dividend) const {
    uint64_t quotient = static_cast<uint64_t>((static_cast<unsigned __int128>(dividend) * reciprocal_) >> 64);
    uint64_t remainder = dividend - quotient * divisor_;
    if (remainder >= divisor_) {
      remainder -= divisor_;
      ++quotient;
    }
    return {quotient, remainder};
  }

 private:
  uint64_t divisor_;
  uint64_t reciprocal_;
};

// A plain value. All orders of records use it, so that they agree on where records begin and that only the last record
// of a file may be shorter.
class RecordGrid {
 public:
  // REQUIRES: object_count > 0, 0 < op_bytes <= object_bytes.
  explicit RecordGrid(const StreamShape& shape)
      : object_count_(shape.object_count),
        object_bytes_(shape.object_bytes),
        op_bytes_(shape.op_bytes),
        records_per_object_((shape.object_bytes - 1) / shape.op_bytes + 1),
        by_object_(records_per_object_) {}

  // Leaves out the last record of each file if it is shorter than the others.
  static RecordGrid OfWholeRecords(StreamShape shape) {
    shape.object_bytes -= shape.object_bytes % shape.op_bytes;
    return RecordGrid(shape);
  }

  // The last record of each file counts like the others, also in record_count().
  uint64_t records_per_object() const { return records_per_object_; }
  uint64_t record_count() const { return records_per_object_ * object_count_; }
  uint64_t total_bytes() const { return object_bytes_ * object_count_; }
  uint32_t op_bytes() const { return op_bytes_; }

  // The quotient is the file, the remainder the record within it.
  Divisor::Result Split(uint64_t index) const { return by_object_.Divide(index); }

  // Returns the op on a record of a file, or on a record counted over all files. REQUIRES: the record exists.
  Op OpAt(OpKind kind, uint64_t object, uint64_t record) const {
    const uint64_t offset = record * op_bytes_;
    const uint64_t length = std::min<uint64_t>(op_bytes_, object_bytes_ - offset);
    return Op{kind, static_cast<uint32_t>(object), offset, static_cast<uint32_t>(length)};
  }
  Op OpAt(OpKind kind, uint64_t index) const {
    const Divisor::Result at = Split(index);
    return OpAt(kind, at.quotient, at.remainder);
  }

 private:
  uint64_t object_count_;
  uint64_t object_bytes_;
  uint32_t op_bytes_;
  uint64_t records_per_object_;
  Divisor by_object_;
};

}  // namespace iobench

#endif  // WORKER_PATTERN_RECORD_GRID_H_
