// How large the files of a tree are: all alike, or each of a size of its own, which follows from the run's seed and the
// item alone, so that whoever reads a file knows it without asking. Pure.
#ifndef WORKER_METADATA_ITEM_SIZES_H_
#define WORKER_METADATA_ITEM_SIZES_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"
#include "worker/pattern/mix.h"

namespace iobench {

// Values only.
class ItemSizes {
 public:
  ItemSizes() = default;
  explicit ItemSizes(uint32_t all_bytes) : least_bytes_(all_bytes) {}
  // REQUIRES: a tree that CheckPlan allows. `owner`: the lane whose items they are.
  ItemSizes(const v1::Tree& tree, uint64_t seed, uint32_t owner)
      : least_bytes_(
            static_cast<uint32_t>(tree.random_sizes() ? tree.least_file_bytes() : tree.file_bytes())),
        choices_(tree.random_sizes() ? tree.file_bytes() - tree.least_file_bytes() + 1 : 1),
        key_(MixAll(seed, owner, kOfSizes, 0)) {}

  uint32_t Of(uint64_t item) const {
    if (choices_ == 1) return least_bytes_;
    // The upper 32 bits of the hash, times the choices (at most 2^31), over 2^32: no division.
    return least_bytes_ + static_cast<uint32_t>(((Mix(key_ ^ item) >> 32) * choices_) >> 32);
  }
  uint64_t SumOf(uint64_t item_count) const {  // of the first so many
    if (choices_ == 1) return item_count * least_bytes_;
    uint64_t sum = 0;
    for (uint64_t item = 0; item < item_count; ++item) sum += Of(item);
    return sum;
  }

 private:
  static constexpr uint64_t kOfSizes =
      0x73697a6573;  // orders and data derive from the same seed, lane and phase

  uint32_t least_bytes_ = 0;
  uint64_t choices_ = 1;  // sizes from least_bytes_ on
  uint64_t key_ = 0;
};

}  // namespace iobench

#endif  // WORKER_METADATA_ITEM_SIZES_H_
