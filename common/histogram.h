// A latency histogram with one fixed log-linear layout: 128 sub-buckets per octave (relative width below 0.8 %), range
// 1 ns to 2^42 ns (73 minutes), exact below 128 ns.
//
// It also keeps the exact count, min, max, sum and sum of squares, and the number of values above the range. Histograms
// merge by addition; percentiles are never averaged. Not thread-safe, except for LiveCount().
#ifndef COMMON_HISTOGRAM_H_
#define COMMON_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The latencies of one lane or, after merging, of several; about 37 KB. Only Add() is fast enough for the timed loop;
// count(), means and percentiles iterate over all buckets.
class Histogram {
 public:
  static constexpr int kSubBucketBits = 7;
  static constexpr int kMaxBits = 42;
  static constexpr uint32_t kBucketCount = (kMaxBits - kSubBucketBits + 1) << kSubBucketBits;  // 4608

  // Returns the bucket of a value: the value itself below 128 ns, otherwise the octave and the 7 bits after its leading
  // one. REQUIRES: ns < 2^42.
  static constexpr uint32_t IndexOf(uint64_t ns) {
    if (ns < (1u << kSubBucketBits)) return static_cast<uint32_t>(ns);
    const int shift = std::bit_width(ns) - 1 - kSubBucketBits;
    return (static_cast<uint32_t>(shift) << kSubBucketBits) + static_cast<uint32_t>(ns >> shift);
  }
  // Return the smallest and the largest value of a bucket, in ns; both belong to it.
  static uint64_t LowerEdge(uint32_t index);
  static uint64_t UpperEdge(uint32_t index);

  // Counts one value and returns its bucket. A value above the range counts in overflow_count(), and exactly in min,
  // max and sums; the last bucket is returned for it.
  uint32_t Add(uint64_t ns) {
    uint32_t index = kBucketCount - 1;
    if (ns >= (uint64_t{1} << kMaxBits)) [[unlikely]] {
      ++overflow_count_;
    } else {
      index = IndexOf(ns);
      SetBucket(index, buckets_[index] + 1);
    }
    if (ns > max_ns_) max_ns_ = ns;
    if (ns < min_ns_) min_ns_ = ns;
    sum_ns_ += static_cast<double>(ns);
    sum_squares_ns2_ += static_cast<double>(ns) * static_cast<double>(ns);
    return index;
  }
  void Merge(const Histogram& other);
  void Clear();

  // Returns the number of values in a bucket. Callable from any thread while another adds or clears; all other
  // functions are not.
  uint64_t LiveCount(uint32_t bucket) const {
    return std::atomic_ref(const_cast<uint64_t&>(buckets_[bucket])).load(std::memory_order_relaxed);
  }

  // Includes values above the range. Computed from all buckets, so that Add() maintains one counter less.
  uint64_t count() const;
  uint64_t overflow_count() const { return overflow_count_; }
  uint64_t min_ns() const;  // 0 when empty
  uint64_t max_ns() const { return max_ns_; }
  double mean_ns() const;    // NaN when empty
  double stddev_ns() const;  // of the population; NaN when empty

  // Returns the nearest-rank percentile: the upper edge of the first bucket whose cumulative count is >= ceil(p * n),
  // limited to max_ns(). `p` is in (0, 1]. NaN when empty. Returns max_ns() if the rank falls into the overflow.
  double PercentileNs(double p) const;
  // True if there are enough values to report this percentile: n * (1 - p) >= 100, so p99 needs 10,000 values. Reports
  // flag other percentiles as unsure.
  bool Trusted(double p) const;

  // Returns the sparse form: the gaps between the indices of buckets that are not empty, and their counts.
  v1::Histogram ToProto() const;
  // Adds the counts of `message`. InvalidArgument: it is damaged or has another layout (a bucket out of range or twice,
  // counts that do not add up, sums that are no numbers, a minimum over the maximum); the histogram is then unchanged.
  absl::Status AddProto(const v1::Histogram& message);

 private:
  // A plain store to the processor; atomic only so that LiveCount() may read at the same time.
  void SetBucket(uint32_t index, uint64_t count) {
    std::atomic_ref(buckets_[index]).store(count, std::memory_order_relaxed);
  }

  uint64_t min_ns_ = UINT64_MAX;
  uint64_t max_ns_ = 0;
  double sum_ns_ = 0;
  double sum_squares_ns2_ = 0;
  uint64_t overflow_count_ = 0;
  std::array<uint64_t, kBucketCount> buckets_{};
};

}  // namespace iobench

#endif  // COMMON_HISTOGRAM_H_
