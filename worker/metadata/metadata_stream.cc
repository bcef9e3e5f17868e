#include "worker/metadata/metadata_stream.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

#include "common/model/metadata_operation.h"
#include "common/model/tree_state.h"
#include "worker/pattern/mix.h"
#include "worker/pattern/permutation.h"

namespace iobench {
namespace {

// Common part of all streams: the number of positions in a pass, and the current one.
class CountedStream : public OpStream {
 public:
  explicit CountedStream(uint64_t ops_per_pass, uint64_t bytes_per_pass)
      : ops_per_pass_(ops_per_pass), bytes_per_pass_(bytes_per_pass) {}
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    position_ -= op_count;
  }
  void Restart(uint64_t) override { position_ = 0; }
  uint64_t ops_per_pass() const override { return ops_per_pass_; }
  uint64_t bytes_per_pass() const override { return bytes_per_pass_; }

 protected:
  size_t RoomIn(std::span<Op> batch) const {
    return std::min<uint64_t>(batch.size(), ops_per_pass_ - position_);
  }
  uint64_t position_ = 0;

 private:
  uint64_t ops_per_pass_;
  uint64_t bytes_per_pass_;
};

class InOrder final : public CountedStream {
 public:
  InOrder(OpKind kind, const LaneTree& tree, const MetadataShape& shape, const ItemSizes& sizes)
      : CountedStream(shape.item_count, sizes.SumOf(shape.item_count)),
        kind_(kind),
        sizes_(sizes),
        tree_(tree) {}
  size_t Fill(std::span<Op> batch) override {
    const size_t count = RoomIn(batch);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t item = position_ + i;
      batch[i] = {kind_, tree_.DirectoryOf(item), item, sizes_.Of(item)};
    }
    position_ += count;
    return count;
  }

 private:
  OpKind kind_;
  ItemSizes sizes_;
  LaneTree tree_;
};

class InRandomOrder final : public CountedStream {
 public:
  InRandomOrder(OpKind kind, const LaneTree& tree, const MetadataShape& shape, uint64_t count,
                const ItemSizes& sizes, bool of_directories)
      : CountedStream(count, sizes.SumOf(count)),
        kind_(kind),
        sizes_(sizes),
        of_directories_(of_directories),
        tree_(tree),
        shape_(shape),
        order_(count, KeyOf(0)) {}
  size_t Fill(std::span<Op> batch) override {
    std::array<uint64_t, 64> numbers;
    const size_t count = order_.Fill(std::span(numbers).first(std::min(batch.size(), numbers.size())));
    for (size_t i = 0; i < count; ++i) {
      const uint64_t number = numbers[i];
      const uint32_t directory = of_directories_ ? static_cast<uint32_t>(number) : tree_.DirectoryOf(number);
      batch[i] = {kind_, directory, number, sizes_.Of(number)};
    }
    position_ += count;
    return count;
  }
  void Unread(size_t op_count) override {
    CountedStream::Unread(op_count);
    order_.Unread(op_count);
  }
  void Restart(uint64_t pass) override {
    CountedStream::Restart(pass);
    order_ = Permutation(ops_per_pass(), KeyOf(pass));
  }

 private:
  uint64_t KeyOf(uint64_t pass) const { return MixAll(shape_.seed, shape_.lane, shape_.phase, pass); }

  OpKind kind_;
  ItemSizes sizes_;
  bool of_directories_;
  LaneTree tree_;
  MetadataShape shape_;
  Permutation order_;
};

class DirectoriesInOrder final : public CountedStream {
 public:
  DirectoriesInOrder(OpKind kind, uint64_t directory_count) : CountedStream(directory_count, 0), kind_(kind) {}
  size_t Fill(std::span<Op> batch) override {
    const size_t count = RoomIn(batch);
    for (size_t i = 0; i < count; ++i) {
      batch[i] = {kind_, static_cast<uint32_t>(position_ + i), position_ + i, 0};
    }
    position_ += count;
    return count;
  }

 private:
  OpKind kind_;
};

constexpr OpKinds kWithData = {OpKind::kOpenClose, OpKind::kAppend, OpKind::kCreate, OpKind::kCopy,
                               OpKind::kCopyRange};

bool MovesData(OpKind kind) {
  return kWithData.Has(kind);
}

uint64_t OpsWithData(std::span<const OpKind> cycle) {
  return static_cast<uint64_t>(std::count_if(cycle.begin(), cycle.end(), MovesData));
}

class Cycle final : public CountedStream {
 public:
  Cycle(const MetadataSpec& spec, const LaneTree& tree, const MetadataShape& shape)
      : CountedStream(spec.cycle.size() * shape.item_count,
                      OpsWithData(spec.cycle) * shape.sizes.SumOf(shape.item_count)),
        kinds_(spec.cycle),
        moves_(spec.effect.moves),
        tree_(tree),
        item_count_(shape.item_count),
        sizes_(shape.sizes) {}
  size_t Fill(std::span<Op> batch) override {
    const size_t count = RoomIn(batch);
    for (size_t i = 0; i < count; ++i) batch[i] = At(position_ + i);
    position_ += count;
    return count;
  }

 private:
  Op At(uint64_t position) const {
    const uint64_t oldest = position / kinds_.size();
    const OpKind kind = kinds_[position % kinds_.size()];
    const uint64_t item = kind == OpKind::kAppend ? (oldest + item_count_ / 2) % item_count_ : oldest;
    uint32_t directory = tree_.DirectoryOf(item);
    if (moves_ && position % kinds_.size() == 1) directory = tree_.NextDirectory(directory);  // and back
    return {kind, directory, item, MovesData(kind) ? sizes_.Of(item) : 0};
  }

  std::span<const OpKind> kinds_;
  bool moves_;
  LaneTree tree_;
  uint64_t item_count_;
  ItemSizes sizes_;
};

// The items of each directory in turn, and then the directories that hold nothing any more, from the lowest one up.
class TreeRemoval final : public CountedStream {
 public:
  TreeRemoval(const LaneTree& tree, const MetadataShape& shape) : TreeRemoval(tree, shape, BeginsOf(tree, shape.item_count)) {}
  size_t Fill(std::span<Op> batch) override {
    const size_t count = RoomIn(batch);
    auto directory = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), position_) - begins_.begin() - 1);
    for (size_t i = 0; i < count; ++i, ++position_) {
      while (position_ >= begins_[directory + 1]) ++directory;
      batch[i] = At(static_cast<uint32_t>(directory), position_ - begins_[directory]);
    }
    return count;
  }

 private:
  TreeRemoval(const LaneTree& tree, const MetadataShape& shape, std::vector<uint64_t> begins)
      : CountedStream(begins.back(), 0), tree_(tree), item_count_(shape.item_count), begins_(std::move(begins)) {}

  // The position at which each directory begins, and the end.
  static std::vector<uint64_t> BeginsOf(const LaneTree& tree, uint64_t item_count) {
    std::vector<uint64_t> begins = {0};
    for (uint32_t directory = 0; directory < tree.directory_count(); ++directory)
      begins.push_back(begins.back() + tree.ItemsIn(directory, item_count) + tree.LevelsEndingAt(directory));
    return begins;
  }
  Op At(uint32_t directory, uint64_t number) const {
    const uint64_t items = tree_.ItemsIn(directory, item_count_);
    if (number < items) return {OpKind::kUnlink, directory, number, 0};
    return {OpKind::kRmdir, directory, tree_.depth() - (number - items), 0};
  }

  LaneTree tree_;
  uint64_t item_count_;
  std::vector<uint64_t> begins_;
};

}  // namespace

std::unique_ptr<OpStream> MakeMetadataStream(const OperationSpec& operation, const LaneTree& tree,
                                             const MetadataShape& shape) {
  assert(shape.item_count > 0 && shape.item_count <= tree.item_count());
  const MetadataSpec& spec = MetadataSpecOf(operation);
  if (!spec.cycle.empty()) return std::make_unique<Cycle>(spec, tree, shape);
  if (spec.removes_tree) return std::make_unique<TreeRemoval>(tree, shape);
  const OpKind kind = spec.kind;
  if (spec.names == OpNames::kDirectories) {
    const uint64_t count = uint64_t{tree.DirectoryOf(shape.item_count - 1)} + 1;
    if (!shape.random_order) return std::make_unique<DirectoriesInOrder>(kind, count);
    return std::make_unique<InRandomOrder>(kind, tree, shape, count, ItemSizes(), /*of_directories=*/true);
  }
  const ItemSizes sizes = spec.effect.reads_data || spec.effect.writes_data ? shape.sizes : ItemSizes();
  if (!shape.random_order) return std::make_unique<InOrder>(kind, tree, shape, sizes);
  return std::make_unique<InRandomOrder>(kind, tree, shape, shape.item_count, sizes,
                                         /*of_directories=*/false);
}

}  // namespace iobench
