// The file sizes of a tree: all equal, or random. A random size depends only on the run's seed and the item, so that
// readers know it without asking the file system. Pure.
#ifndef WORKER_METADATA_ITEM_SIZES_H_
#define WORKER_METADATA_ITEM_SIZES_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"
#include "worker/pattern/mix.h"

namespace iobench {

// Plain values.
class ItemSizes {
 public:
  ItemSizes() = default;
  explicit ItemSizes(uint32_t all_bytes) : min_bytes_(all_bytes) {}
  // `owner`: the lane that owns the items. REQUIRES: a tree that CheckPlan accepts.
  ItemSizes(const v1::Tree& tree, uint64_t seed, uint32_t owner)
      : min_bytes_(
            static_cast<uint32_t>(tree.random_sizes() ? tree.min_file_bytes() : tree.file_bytes())),
        choices_(tree.random_sizes() ? tree.file_bytes() - tree.min_file_bytes() + 1 : 1),
        key_(MixAll(seed, owner, kOfSizes, 0)) {}

  uint32_t Of(uint64_t item) const {
    if (choices_ == 1) return min_bytes_;
    // Multiplies the hash's upper 32 bits by the number of choices (at most 2^31) and divides by 2^32, without a
    // division.
    return min_bytes_ + static_cast<uint32_t>(((Mix(key_ ^ item) >> 32) * choices_) >> 32);
  }
  uint64_t SumOf(uint64_t item_count) const {  // sum over the first `item_count` items
    if (choices_ == 1) return item_count * min_bytes_;
    uint64_t sum = 0;
    for (uint64_t item = 0; item < item_count; ++item) sum += Of(item);
    return sum;
  }

 private:
  static constexpr uint64_t kOfSizes =
      0x73697a6573;  // distinguishes sizes from orders and data, which use the same seed and lane

  uint32_t min_bytes_ = 0;
  uint64_t choices_ = 1;  // number of sizes, starting at min_bytes_
  uint64_t key_ = 0;
};

}  // namespace iobench

#endif  // WORKER_METADATA_ITEM_SIZES_H_
