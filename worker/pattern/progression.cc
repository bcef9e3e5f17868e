#include "worker/pattern/progression.h"

#include <cassert>

#include "worker/pattern/kinds.h"
#include "worker/pattern/record_grid.h"

namespace iobench {
namespace {

// The op at a position of the pass: one type per pattern, inlined into Progression::Fill.

struct Sequential {
  explicit Sequential(const StreamShape& shape) : grid(shape) {}
  Op At(OpKind kind, uint64_t position) const { return grid.OpAt(kind, position); }
  uint64_t bytes_per_pass() const { return grid.total_bytes(); }
  RecordGrid grid;
};

struct Backward {
  explicit Backward(const StreamShape& shape) : grid(shape), last_index(grid.record_count() - 1) {}
  Op At(OpKind kind, uint64_t position) const { return grid.OpAt(kind, last_index - position); }
  uint64_t bytes_per_pass() const { return grid.total_bytes(); }
  RecordGrid grid;
  uint64_t last_index;
};

struct FirstRecord {
  explicit FirstRecord(const StreamShape& shape) : grid(shape) {}
  Op At(OpKind kind, uint64_t position) const { return grid.OpAt(kind, grid.Split(position).quotient, 0); }
  uint64_t bytes_per_pass() const { return grid.record_count() * grid.op_bytes(); }
  RecordGrid grid;
};

// Records 0, s, 2s, … to the end of the file, then 1, s + 1, … : the columns of a table of width s. Each record comes
// exactly once, whatever common divisors s and the count have. The first `long_columns` columns have one more record.
struct Stride {
  explicit Stride(const StreamShape& shape)
      : grid(shape),
        stride(shape.stride_records),
        long_columns(grid.records_per_object() % stride),
        long_count(long_columns * (grid.records_per_object() / stride + 1)),
        by_long_column(grid.records_per_object() / stride + 1),
        by_short_column(std::max<uint64_t>(1, grid.records_per_object() / stride)) {}

  Op At(OpKind kind, uint64_t position) const {
    const Divisor::Result at = grid.Split(position);
    uint64_t column, row;
    if (at.remainder < long_count) {
      const Divisor::Result cell = by_long_column.Divide(at.remainder);
      column = cell.quotient;
      row = cell.remainder;
    } else {
      const Divisor::Result cell = by_short_column.Divide(at.remainder - long_count);
      column = long_columns + cell.quotient;
      row = cell.remainder;
    }
    return grid.OpAt(kind, at.quotient, row * stride + column);
  }
  uint64_t bytes_per_pass() const { return grid.total_bytes(); }

  RecordGrid grid;
  uint64_t stride;
  uint64_t long_columns;
  uint64_t long_count;  // records in the long columns
  Divisor by_long_column;
  Divisor by_short_column;
};

template <typename Order, typename Kinds>
class Progression final : public OpStream {
 public:
  Progression(const Kinds& kinds, const StreamShape& shape) : kinds_(kinds), shape_(shape), order_(shape) {
    kinds_.Restart(KeyOf(shape, 0));
  }

  size_t Fill(std::span<Op> batch) override {
    const size_t count = std::min<uint64_t>(batch.size(), ops_per_pass() - position_);
    for (size_t i = 0; i < count; ++i) batch[i] = order_.At(kinds_.At(position_ + i), position_ + i);
    position_ += count;
    return count;
  }
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    position_ -= op_count;
  }
  void Restart(uint64_t pass) override {
    kinds_.Restart(KeyOf(shape_, pass));
    position_ = 0;
  }
  uint64_t ops_per_pass() const override { return order_.grid.record_count(); }
  uint64_t bytes_per_pass() const override { return order_.bytes_per_pass(); }

 private:
  Kinds kinds_;
  StreamShape shape_;
  Order order_;
  uint64_t position_ = 0;
};

template <typename Order>
std::unique_ptr<OpStream> OfOneKind(OpKind kind, const StreamShape& shape) {
  return std::make_unique<Progression<Order, OneKind>>(OneKind{kind}, shape);
}

}  // namespace

std::unique_ptr<OpStream> MakeProgression(Pattern pattern, OpKind kind, const StreamShape& shape) {
  switch (pattern) {
    case Pattern::kBackward:
      return OfOneKind<Backward>(kind, shape);
    case Pattern::kStride:
      return OfOneKind<Stride>(kind, shape);
    case Pattern::kFirstRecord:
      return OfOneKind<FirstRecord>(kind, shape);
    default:
      assert(pattern == Pattern::kSequential);
      return OfOneKind<Sequential>(kind, shape);
  }
}

std::unique_ptr<OpStream> MakeMixedSequential(OpKind other, const StreamShape& shape) {
  return std::make_unique<Progression<Sequential, ByPercent>>(ByPercent(shape.read_percent, other), shape);
}

}  // namespace iobench
