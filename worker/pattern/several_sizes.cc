#include "worker/pattern/several_sizes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "worker/pattern/fill_by_order.h"
#include "worker/pattern/kinds.h"
#include "worker/pattern/permutation.h"
#include "worker/pattern/rank_sampler.h"
#include "worker/pattern/record_deck.h"
#include "worker/pattern/record_grid.h"

namespace iobench {
namespace {

// Sizes, places and kinds use the same positions with different keys.
constexpr uint64_t kSizeKey = 0xD6E8FEB86659FD93u;
constexpr uint64_t kPlaceKey = 0xA3B195354A39B70Du;

// The whole part of `random` / 2^64 x count, which is spread evenly: no more than count / 2^64 is lost to rounding.
uint64_t PartOf(uint64_t random, uint64_t count) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(random) * count) >> 64);
}

uint64_t RandomAt(uint64_t key, uint64_t position) {
  return MixFast(key + position * kGoldenRatio64);
}

// Two ways to place ops at random: Put says where ops are whose sizes are given by their position in shape.records. Draws
// depend on nothing but the op's position in the pass, so ops that are put back are drawn again as they were.

// All whole records of the op's size are as likely.
class EvenPlaces {
 public:
  explicit EvenPlaces(const StreamShape& shape) {
    for (const RecordShare& share : shape.records) {
      const uint64_t in_object = shape.object_bytes / share.record_bytes;
      of_size_.push_back({in_object * shape.object_count, share.record_bytes, Divisor(in_object)});
    }
  }
  void Put(std::span<const size_t> sizes, uint64_t key, uint64_t position, std::span<Op> ops) const {
    for (size_t i = 0; i < ops.size(); ++i) {
      const OfSize& places = of_size_[sizes[i]];
      const Divisor::Result at = places.by_object.Divide(PartOf(RandomAt(key, position + i), places.count));
      ops[i].object = static_cast<uint32_t>(at.quotient);
      ops[i].offset = at.remainder * places.bytes;
      ops[i].length = static_cast<uint32_t>(places.bytes);
    }
  }

 private:
  struct OfSize {
    uint64_t count, bytes;
    Divisor by_object;
  };
  std::vector<OfSize> of_size_;
};

// A record of the largest size is drawn from shape.access, and the op is anywhere in it, so that hot places are the same
// for all sizes.
class HotPlaces {
 public:
  explicit HotPlaces(const StreamShape& shape)
      : shape_(shape),
        grid_(RecordGrid::OfWholeRecords(shape)),
        ranks_(shape.access, grid_.record_count()),
        places_(grid_.record_count(), HotPlacesKeyOf(shape)) {}
  void Put(std::span<const size_t> sizes, uint64_t key, uint64_t position, std::span<Op> ops) const {
    std::array<uint64_t, Permutation::kMostAtOnce> records;
    for (size_t i = 0; i < ops.size(); ++i) records[i] = ranks_.RankAt(RandomAt(key, position + i));
    places_.Map(std::span(records).first(ops.size()));
    for (size_t i = 0; i < ops.size(); ++i) {
      const uint64_t bytes = shape_.records[sizes[i]].record_bytes;
      const Op record = grid_.OpAt(OpKind::kRead, records[i]);
      const uint64_t within = PartOf(RandomAt(key ^ kWithinKey, position + i), shape_.op_bytes / bytes);
      ops[i].object = record.object;
      ops[i].offset = record.offset + within * bytes;
      ops[i].length = static_cast<uint32_t>(bytes);
    }
  }

 private:
  static constexpr uint64_t kWithinKey = 0x8BB84B93962EACC9u;

  StreamShape shape_;
  RecordGrid grid_;
  RankSampler ranks_;
  Permutation places_;
};

template <typename Kinds, typename Places>
class SizedRandom final : public OpStream {
 public:
  SizedRandom(const Kinds& kinds, const StreamShape& shape)
      : kinds_(kinds),
        shape_(shape),
        deck_(shape.records, shape.object_bytes * shape.object_count),
        places_(shape),
        order_(deck_.op_count(), 0) {
    Restart(0);
  }

  size_t Fill(std::span<Op> batch) override {
    std::array<size_t, Permutation::kMostAtOnce> sizes;
    return FillByOrder(order_, batch, [&](std::span<const uint64_t> numbers, std::span<Op> ops) {
      for (size_t i = 0; i < numbers.size(); ++i) sizes[i] = deck_.SizeOf(numbers[i]);
      places_.Put(std::span(sizes).first(numbers.size()), key_, position_, ops);
      for (size_t i = 0; i < numbers.size(); ++i) ops[i].kind = kinds_.At(position_ + i);
      position_ += numbers.size();
    });
  }
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    order_.Unread(op_count);
    position_ -= op_count;
  }
  void Restart(uint64_t pass) override {
    const uint64_t key = KeyOf(shape_, pass);
    order_ = Permutation(deck_.op_count(), Mix(key ^ kSizeKey));
    kinds_.Restart(key);
    key_ = Mix(key ^ kPlaceKey);
    position_ = 0;
  }
  uint64_t ops_per_pass() const override { return deck_.op_count(); }
  uint64_t bytes_per_pass() const override { return deck_.bytes(); }

 private:
  Kinds kinds_;
  StreamShape shape_;
  RecordDeck deck_;
  Places places_;
  Permutation order_;
  uint64_t key_ = 0;
  uint64_t position_ = 0;
};

// Each file has a deck of its own. What the deck leaves of the file is moved by ops of the largest size, the last of which
// is cut.
template <typename Kinds>
class SizedSequence final : public OpStream {
 public:
  SizedSequence(const Kinds& kinds, const StreamShape& shape)
      : kinds_(kinds),
        shape_(shape),
        deck_(shape.records, shape.object_bytes),
        rest_ops_((shape.object_bytes - deck_.bytes() + shape.op_bytes - 1) / shape.op_bytes),
        order_(deck_.op_count(), 0) {
    Restart(0);
  }

  size_t Fill(std::span<Op> batch) override {
    std::array<uint64_t, 64> numbers;
    size_t filled = 0;
    while (filled < batch.size() && object_ < shape_.object_count) {
      const size_t want = std::min(batch.size() - filled, numbers.size());
      const size_t count = order_.Fill(std::span(numbers).first(want));
      for (size_t i = 0; i < count; ++i) batch[filled++] = Next(deck_.LengthOf(numbers[i]));
      if (count == want) continue;
      while (filled < batch.size() && offset_ < shape_.object_bytes)
        batch[filled++] = Next(static_cast<uint32_t>(std::min<uint64_t>(shape_.op_bytes, shape_.object_bytes - offset_)));
      if (offset_ == shape_.object_bytes) BeginFile(object_ + 1);
    }
    return filled;
  }
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    position_ -= op_count;
    for (; op_count > 0; --op_count) {
      if (offset_ == 0) {
        BeginFile(object_ - 1);
        order_.ToEnd();
        offset_ = shape_.object_bytes;
      }
      offset_ -= offset_ > deck_.bytes() ? (offset_ - deck_.bytes() - 1) % shape_.op_bytes + 1 : LengthOfLast();
    }
  }
  void Restart(uint64_t pass) override {
    key_ = KeyOf(shape_, pass);
    kinds_.Restart(key_);
    position_ = 0;
    BeginFile(0);
  }
  uint64_t ops_per_pass() const override { return (deck_.op_count() + rest_ops_) * shape_.object_count; }
  uint64_t bytes_per_pass() const override { return shape_.object_bytes * shape_.object_count; }

 private:
  Op Next(uint32_t length) {
    const Op op{kinds_.At(position_++), static_cast<uint32_t>(object_), offset_, length};
    offset_ += length;
    return op;
  }
  void BeginFile(uint64_t object) {
    object_ = object;
    offset_ = 0;
    order_ = Permutation(deck_.op_count(), Mix(key_ ^ kSizeKey ^ object * kGoldenRatio64));
  }
  // Takes the last op that was dealt back into the deck.
  uint32_t LengthOfLast() {
    std::array<uint64_t, 1> number;
    order_.Unread(1);
    order_.Fill(number);
    order_.Unread(1);
    return deck_.LengthOf(number[0]);
  }

  Kinds kinds_;
  StreamShape shape_;
  RecordDeck deck_;
  uint64_t rest_ops_;
  Permutation order_;
  uint64_t key_ = 0;
  uint64_t position_ = 0;
  uint64_t object_ = 0, offset_ = 0;  // where the next op begins
};

}  // namespace

std::unique_ptr<OpStream> MakeSizedRandom(OpKind kind, const StreamShape& shape) {
  const OneKind kinds{kind};
  if (shape.access.kind != Access::Kind::kEachOnce)
    return std::make_unique<SizedRandom<OneKind, HotPlaces>>(kinds, shape);
  return std::make_unique<SizedRandom<OneKind, EvenPlaces>>(kinds, shape);
}

std::unique_ptr<OpStream> MakeMixedSizedRandom(OpKind other, const StreamShape& shape) {
  const ByPercent kinds(shape.read_percent, other);
  if (shape.access.kind != Access::Kind::kEachOnce)
    return std::make_unique<SizedRandom<ByPercent, HotPlaces>>(kinds, shape);
  return std::make_unique<SizedRandom<ByPercent, EvenPlaces>>(kinds, shape);
}

std::unique_ptr<OpStream> MakeSizedSequence(OpKind kind, const StreamShape& shape) {
  return std::make_unique<SizedSequence<OneKind>>(OneKind{kind}, shape);
}

std::unique_ptr<OpStream> MakeMixedSizedSequence(OpKind other, const StreamShape& shape) {
  return std::make_unique<SizedSequence<ByPercent>>(ByPercent(shape.read_percent, other), shape);
}

uint64_t SizedOpsThatMove(uint64_t bytes, const StreamShape& shape) {
  SizedSequence<OneKind> stream(OneKind{OpKind::kWrite}, shape);
  std::array<Op, 64> batch;
  uint64_t ops = 0, moved = 0;
  while (moved < bytes) {
    const size_t count = stream.Fill(batch);
    if (count == 0) break;
    for (size_t i = 0; i < count && moved < bytes; ++i, ++ops) moved += batch[i].length;
  }
  return ops;
}

}  // namespace iobench
