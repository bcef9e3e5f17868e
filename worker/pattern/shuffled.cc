#include "worker/pattern/shuffled.h"

#include <algorithm>
#include <array>
#include <cassert>

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
    std::array<uint64_t, 64> indexes;
    size_t filled = 0;
    while (filled < batch.size()) {
      const size_t want = std::min(batch.size() - filled, indexes.size());
      const size_t count = order_.Fill(std::span(indexes).first(want));
      for (size_t i = 0; i < count; ++i) batch[filled + i] = grid_.OpAt(kinds_.At(position_ + i), indexes[i]);
      filled += count;
      position_ += count;
      if (count < want) break;
    }
    return filled;
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
