#include "worker/pattern/skewed.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "worker/pattern/kinds.h"
#include "worker/pattern/permutation.h"
#include "worker/pattern/rank_sampler.h"
#include "worker/pattern/record_grid.h"

namespace iobench {
namespace {

// Draws depend on nothing but their position in the pass, so ops that are put back are drawn again as they were.
template <typename Kinds>
class Skewed final : public OpStream {
 public:
  Skewed(const Kinds& kinds, const StreamShape& shape)
      : kinds_(kinds),
        shape_(shape),
        grid_(RecordGrid::OfWholeRecords(shape)),
        ranks_(shape.access, grid_.record_count()),
        places_(grid_.record_count(), HotPlacesKeyOf(shape)) {
    Restart(0);
  }

  size_t Fill(std::span<Op> batch) override {
    const size_t count = std::min<uint64_t>(batch.size(), grid_.record_count() - position_);
    std::array<uint64_t, Permutation::kMostAtOnce> records;
    // One step for several ops at a time, so that the ops overlap in the processor.
    for (size_t filled = 0; filled < count;) {
      const size_t some = std::min(count - filled, records.size());
      for (size_t i = 0; i < some; ++i) records[i] = ranks_.RankAt(MixFast(key_ + (position_ + i) * kGoldenRatio64));
      places_.Map(std::span(records).first(some));
      for (size_t i = 0; i < some; ++i) batch[filled + i] = grid_.OpAt(kinds_.At(position_ + i), records[i]);
      filled += some;
      position_ += some;
    }
    return count;
  }
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    position_ -= op_count;
  }
  void Restart(uint64_t pass) override {
    const uint64_t key = KeyOf(shape_, pass);
    kinds_.Restart(key);
    key_ = Mix(key ^ kDrawKey);
    position_ = 0;
  }
  uint64_t ops_per_pass() const override { return grid_.record_count(); }
  uint64_t bytes_per_pass() const override { return grid_.total_bytes(); }

 private:
  static constexpr uint64_t kDrawKey = 0xA0761D6478BD642Fu;  // kinds use the same positions with another key

  Kinds kinds_;
  StreamShape shape_;
  RecordGrid grid_;
  RankSampler ranks_;
  Permutation places_;
  uint64_t key_ = 0;
  uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<OpStream> MakeSkewed(OpKind kind, const StreamShape& shape) {
  return std::make_unique<Skewed<OneKind>>(OneKind{kind}, shape);
}

std::unique_ptr<OpStream> MakeMixedSkewed(OpKind other, const StreamShape& shape) {
  return std::make_unique<Skewed<ByPercent>>(ByPercent(shape.read_percent, other), shape);
}

}  // namespace iobench
