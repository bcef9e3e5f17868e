// The sizes of a pass's ops, where ops have several sizes: exact shares, which are dealt in random order.
#ifndef WORKER_PATTERN_RECORD_DECK_H_
#define WORKER_PATTERN_RECORD_DECK_H_

#include <array>
#include <cstdint>
#include <span>

#include "common/text/record_share_text.h"

namespace iobench {

// A deck of ops that together move a given number of bytes, or a little less. Of its n ops, each size has its share of n,
// rounded to whole ops (the method of the largest remainder; a size that no longer fits into the bytes gives way to the
// next one). So shares are exact in each pass, and not only on average over many. The ops are numbered, those of one size
// after those of another; whoever deals them takes the numbers in random order. A plain value.
class RecordDeck {
 public:
  // REQUIRES: 1 to kMaxRecordSizes sizes, each from 1 to `bytes`; percentages above 0 that add up to about 100.
  RecordDeck(std::span<const RecordShare> shares, uint64_t bytes);

  uint64_t op_count() const { return ends_[size_count_ - 1]; }
  uint64_t bytes() const { return bytes_; }

  // Returns the position of the size in the list that op `number` has. REQUIRES: number < op_count().
  size_t SizeOf(uint64_t number) const {
    size_t size = 0;  // without a branch, which would often be predicted wrongly
    for (size_t i = 0; i + 1 < size_count_; ++i) size += number >= ends_[i] ? 1 : 0;
    return size;
  }
  uint32_t LengthOf(uint64_t number) const { return lengths_[SizeOf(number)]; }

 private:
  size_t size_count_;
  std::array<uint64_t, kMaxRecordSizes> ends_{};  // the number after the last op of each size
  std::array<uint32_t, kMaxRecordSizes> lengths_{};
  uint64_t bytes_ = 0;
};

}  // namespace iobench

#endif  // WORKER_PATTERN_RECORD_DECK_H_
