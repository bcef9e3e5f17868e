// The file sizes of a tree: all equal, evenly random, or from a distribution. A random size depends only on the run's seed
// and the item, so that readers know it without asking the file system. Pure.
#ifndef WORKER_METADATA_ITEM_SIZES_H_
#define WORKER_METADATA_ITEM_SIZES_H_

#include <cstdint>
#include <optional>

#include "common/file_sizes/file_size_law.h"
#include "iobench/v1/plan.pb.h"
#include "worker/pattern/mix.h"

namespace iobench {

// A plain value, which costs no memory per item. The default has files without data. With random sizes, each size in
// bytes from min_file_bytes to file_bytes is equally likely; with a distribution (Tree.sizes), file_bytes is the largest.
class ItemSizes {
 public:
  ItemSizes() = default;
  explicit ItemSizes(uint32_t all_bytes) : min_bytes_(all_bytes) {}
  // `owner`: the lane that owns the items. REQUIRES: a tree that CheckPlan accepts.
  ItemSizes(const v1::Tree& tree, uint64_t seed, uint32_t owner)
      : min_bytes_(static_cast<uint32_t>(tree.random_sizes() ? tree.min_file_bytes() : tree.file_bytes())),
        choices_(tree.random_sizes() ? tree.file_bytes() - tree.min_file_bytes() + 1 : 1),
        key_(MixAll(seed, owner, kOfSizes, 0)) {
    if (tree.sizes().empty()) return;
    if (const auto law = ParseFileSizes(tree.sizes()); law.ok()) law_ = *law;
    largest_bytes_ = tree.file_bytes();
  }

  // Returns the size of an item's file in bytes.
  uint32_t Of(uint64_t item) const {
    if (law_) return OfLaw(item);
    if (choices_ == 1) return min_bytes_;
    // Multiplies the hash's upper 32 bits by the number of choices (at most 2^31) and divides by 2^32, without a
    // division.
    return min_bytes_ + static_cast<uint32_t>(((Mix(key_ ^ item) >> 32) * choices_) >> 32);
  }
  // Returns the sum over the first `item_count` items, in bytes. It visits each item if sizes are random, so it is not
  // for the timed region.
  uint64_t SumOf(uint64_t item_count) const {
    if (!law_ && choices_ == 1) return item_count * min_bytes_;
    uint64_t sum = 0;
    for (uint64_t item = 0; item < item_count; ++item) sum += Of(item);
    return sum;
  }

 private:
  uint32_t OfLaw(uint64_t item) const {
    const uint64_t random = Mix(key_ ^ item);
    const uint64_t first = Mix(random + kGoldenRatio64), second = Mix(random + 2 * kGoldenRatio64);
    return static_cast<uint32_t>(law_->SizeAt(random, first, second, largest_bytes_));
  }

  // The letters "sizes". Distinguishes sizes from orders and data, which use the same seed and lane.
  static constexpr uint64_t kOfSizes = 0x73697a6573;

  uint32_t min_bytes_ = 0;
  uint64_t choices_ = 1;  // number of sizes, starting at min_bytes_
  uint64_t key_ = 0;
  std::optional<FileSizeLaw> law_;
  uint64_t largest_bytes_ = 1;
};

}  // namespace iobench

#endif  // WORKER_METADATA_ITEM_SIZES_H_
