#include "worker/pattern/record_deck.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace iobench {

RecordDeck::RecordDeck(std::span<const RecordShare> shares, uint64_t bytes) : size_count_(shares.size()) {
  assert(!shares.empty() && shares.size() <= kMaxRecordSizes);
  double percents = 0, percent_bytes = 0;
  for (const RecordShare& share : shares) {
    percents += share.percent;
    percent_bytes += share.percent * static_cast<double>(share.record_bytes);
  }
  const double op_count = std::floor(static_cast<double>(bytes) * percents / percent_bytes);
  std::array<uint64_t, kMaxRecordSizes> counts{};
  std::array<double, kMaxRecordSizes> remainders{};
  std::array<size_t, kMaxRecordSizes> by_remainder{};
  uint64_t dealt = 0;
  for (size_t i = 0; i < size_count_; ++i) {
    const double wanted = op_count * shares[i].percent / percents;
    counts[i] = static_cast<uint64_t>(wanted);
    // Rounding of doubles could make it one too many.
    counts[i] = std::min(counts[i], (bytes - bytes_) / shares[i].record_bytes);
    remainders[i] = wanted - static_cast<double>(counts[i]);
    by_remainder[i] = i;
    dealt += counts[i];
    bytes_ += counts[i] * shares[i].record_bytes;
    lengths_[i] = static_cast<uint32_t>(shares[i].record_bytes);
  }
  std::stable_sort(by_remainder.begin(), by_remainder.begin() + size_count_,
                   [&remainders](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  const uint64_t most = std::max<uint64_t>(1, static_cast<uint64_t>(op_count));
  for (size_t i = 0; i < size_count_ && dealt < most; ++i) {
    const size_t size = by_remainder[i];
    if (shares[size].record_bytes > bytes - bytes_) continue;
    ++counts[size];
    ++dealt;
    bytes_ += shares[size].record_bytes;
  }
  uint64_t end = 0;
  for (size_t i = 0; i < size_count_; ++i) ends_[i] = end += counts[i];
  assert(end > 0 && bytes_ <= bytes);
}

}  // namespace iobench
