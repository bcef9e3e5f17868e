#include "worker/pattern/shuffled.h"

#include <cassert>

#include "worker/pattern/fill_by_order.h"
#include "worker/pattern/kinds.h"
#include "worker/pattern/permutation.h"
#include "worker/pattern/record_grid.h"

namespace iobench {
namespace {

template <typename Kinds>
class Shuffled final : public OpStream {
 public:
  Shuffled(const Kinds& kinds, const StreamShape& shape)
      : kinds_(kinds), shape_(shape), grid_(shape), order_(grid_.record_count(), KeyOf(shape, 0)) {
    kinds_.Restart(KeyOf(shape, 0));
  }

  size_t Fill(std::span<Op> batch) override {
    return FillByOrder(order_, batch, [&](std::span<const uint64_t> indexes, std::span<Op> ops) {
      for (size_t i = 0; i < indexes.size(); ++i) ops[i] = grid_.OpAt(kinds_.At(position_ + i), indexes[i]);
      position_ += indexes.size();
    });
  }
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    order_.Unread(op_count);
    position_ -= op_count;
  }
  void Restart(uint64_t pass) override {
    const uint64_t key = KeyOf(shape_, pass);
    order_ = Permutation(grid_.record_count(), key);
    kinds_.Restart(key);
    position_ = 0;
  }
  uint64_t ops_per_pass() const override { return grid_.record_count(); }
  uint64_t bytes_per_pass() const override { return grid_.total_bytes(); }

 private:
  Kinds kinds_;
  StreamShape shape_;
  RecordGrid grid_;
  Permutation order_;
  uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<OpStream> MakeShuffled(OpKind kind, const StreamShape& shape) {
  return std::make_unique<Shuffled<OneKind>>(OneKind{kind}, shape);
}

std::unique_ptr<OpStream> MakeMixedShuffled(OpKind other, const StreamShape& shape) {
  return std::make_unique<Shuffled<ByPercent>>(ByPercent(shape.read_percent, other), shape);
}

}  // namespace iobench
