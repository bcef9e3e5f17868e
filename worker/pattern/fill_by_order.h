// Ops in the order of a permutation, a part of a batch at a time.
#ifndef WORKER_PATTERN_FILL_BY_ORDER_H_
#define WORKER_PATTERN_FILL_BY_ORDER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/model/op.h"
#include "worker/pattern/permutation.h"

namespace iobench {

// Takes numbers from `order` until `batch` is full or there are none. `put(numbers, ops)` makes an op of each number; it is called
// with at most Permutation::kMostAtOnce. Returns how many ops were made.
template <typename Put>
size_t FillByOrder(Permutation& order, std::span<Op> batch, const Put& put) {
  std::array<uint64_t, Permutation::kMostAtOnce> numbers;
  size_t filled = 0;
  while (filled < batch.size()) {
    const size_t want = std::min(batch.size() - filled, numbers.size());
    const size_t count = order.Fill(std::span(numbers).first(want));
    put(std::span<const uint64_t>(numbers).first(count), batch.subspan(filled, count));
    filled += count;
    if (count < want) break;
  }
  return filled;
}

}  // namespace iobench

#endif  // WORKER_PATTERN_FILL_BY_ORDER_H_
