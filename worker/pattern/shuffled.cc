#include "worker/pattern/shuffled.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "worker/pattern/mix.h"
#include "worker/pattern/permutation.h"
#include "worker/pattern/record_grid.h"

namespace iobench {
namespace {

uint64_t KeyOf(const StreamShape& shape, uint64_t pass) {
  return MixAll(shape.seed, shape.lane, shape.phase, pass);
}

struct OneKind {
  void Restart(uint64_t) {}
  OpKind At(uint64_t) const { return kind; }
  OpKind kind;
};

struct ByPercent {
  explicit ByPercent(uint32_t read_percent)
      : read_below(std::min<uint64_t>(read_percent, 100) * ((uint64_t{1} << 32) / 100 + 1)) {}
  void Restart(uint64_t new_key) { key = Mix(new_key); }
  OpKind At(uint64_t position) const {
    return Mix(key + position * kGoldenRatio64) >> 32 < read_below ? OpKind::kRead : OpKind::kWrite;
  }
  uint64_t read_below;  // of 2^32; 100 % lies above every 32-bit number
  uint64_t key = 0;
};

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

std::unique_ptr<OpStream> MakeMixed(const StreamShape& shape) {
  return std::make_unique<Shuffled<ByPercent>>(ByPercent(shape.read_percent), shape);
}

}  // namespace iobench
