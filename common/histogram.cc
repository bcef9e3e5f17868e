#include "common/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/not_a_number.h"

namespace iobench {
namespace {

// 128 << shift <= ns < 256 << shift, for octaves above the exact range.
int ShiftOf(uint32_t index) {
  return std::max(0, static_cast<int>(index >> Histogram::kSubBucketBits) - 1);
}

// Every value that was counted is within min and max, so only these buckets need a check: a lane's latencies span about
// an eighth of all buckets. Empty if nothing was counted.
struct BucketRange {
  uint32_t begin = 0, end = 0;
};
BucketRange RangeOf(uint64_t min_ns, uint64_t max_ns) {
  constexpr uint64_t kLargest = (uint64_t{1} << Histogram::kMaxBits) - 1;
  if (min_ns > max_ns) return {};
  return {Histogram::IndexOf(std::min(min_ns, kLargest)), Histogram::IndexOf(std::min(max_ns, kLargest)) + 1};
}

bool IsSum(double value) {
  return std::isfinite(value) && value >= 0;
}

// Returns the first problem of the buckets. REQUIRES: there is a problem, and there are as many gaps as counts.
absl::Status ProblemOf(const v1::Histogram& message) {
  uint64_t total = message.overflow_count();
  uint64_t index = 0;
  for (int i = 0; i < message.counts_size(); ++i) {
    if (i > 0 && message.index_gaps(i) == 0)
      return absl::InvalidArgumentError("histogram: a bucket comes twice");
    index += message.index_gaps(i);
    if (index >= Histogram::kBucketCount) {
      return absl::InvalidArgumentError(absl::StrCat("histogram: bucket ", index, " of ",
                                                     Histogram::kBucketCount,
                                                     "; is the worker of another version?"));
    }
    if (message.counts(i) > UINT64_MAX - total) break;
    total += message.counts(i);
  }
  return absl::InvalidArgumentError("histogram: counts overflow");
}

}  // namespace

uint64_t Histogram::LowerEdge(uint32_t index) {
  const int shift = ShiftOf(index);
  return static_cast<uint64_t>(index - (static_cast<uint32_t>(shift) << kSubBucketBits)) << shift;
}

uint64_t Histogram::UpperEdge(uint32_t index) {
  return LowerEdge(index) + (uint64_t{1} << ShiftOf(index)) - 1;
}

void Histogram::Merge(const Histogram& other) {
  const BucketRange range = RangeOf(other.min_ns_, other.max_ns_);
  for (uint32_t i = range.begin; i < range.end; ++i) buckets_[i] += other.buckets_[i];
  overflow_count_ += other.overflow_count_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
  sum_squares_ns2_ += other.sum_squares_ns2_;
}

void Histogram::Clear() {
  const BucketRange range = RangeOf(min_ns_, max_ns_);
  for (uint32_t i = range.begin; i < range.end; ++i) SetBucket(i, 0);
  min_ns_ = UINT64_MAX;
  max_ns_ = 0;
  sum_ns_ = sum_squares_ns2_ = 0;
  overflow_count_ = 0;
}

uint64_t Histogram::count() const {
  const BucketRange range = RangeOf(min_ns_, max_ns_);
  return std::accumulate(buckets_.begin() + range.begin, buckets_.begin() + range.end, overflow_count_);
}

uint64_t Histogram::min_ns() const {
  return min_ns_ == UINT64_MAX ? 0 : min_ns_;
}

double Histogram::mean_ns() const {
  const uint64_t n = count();
  return n == 0 ? kNaN : sum_ns_ / static_cast<double>(n);
}

double Histogram::stddev_ns() const {
  const uint64_t n = count();
  if (n == 0) return kNaN;
  const double mean = sum_ns_ / static_cast<double>(n);
  // Rounding can make the variance slightly negative if all values are equal.
  return std::sqrt(std::max(0.0, sum_squares_ns2_ / static_cast<double>(n) - mean * mean));
}

double Histogram::PercentileNs(double p) const {
  const uint64_t n = count();
  if (n == 0) return kNaN;
  // 0.07 * 100 is 7.000000000000001, but its rank is 7.
  const double exact_rank = p * static_cast<double>(n) * (1 - 4 * std::numeric_limits<double>::epsilon());
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(exact_rank)), 1, n);
  uint64_t cumulated = 0;
  const BucketRange range = RangeOf(min_ns_, max_ns_);
  for (uint32_t i = range.begin; i < range.end; ++i) {
    cumulated += buckets_[i];
    if (cumulated >= rank) return static_cast<double>(std::min(UpperEdge(i), max_ns_));
  }
  return static_cast<double>(max_ns_);
}

bool Histogram::Trusted(double p) const {
  // 1 - 0.9999 is 0.00009999999999998899, but a million values are enough.
  return static_cast<double>(count()) * (1 - p) >= 100 - 1e-6;
}

v1::Histogram Histogram::ToProto() const {
  v1::Histogram message;
  uint32_t previous = 0;
  const BucketRange range = RangeOf(min_ns_, max_ns_);
  for (uint32_t i = range.begin; i < range.end; ++i) {
    if (buckets_[i] == 0) continue;
    message.add_index_gaps(i - previous);
    message.add_counts(buckets_[i]);
    previous = i;
  }
  message.set_overflow_count(overflow_count_);
  message.set_count(count());
  message.set_min_ns(min_ns());
  message.set_max_ns(max_ns_);
  message.set_sum_ns(sum_ns_);
  message.set_sum_squares_ns2(sum_squares_ns2_);
  return message;
}

absl::Status Histogram::AddProto(const v1::Histogram& message) {
  if (message.index_gaps_size() != message.counts_size()) {
    return absl::InvalidArgumentError(absl::StrCat("histogram: ", message.index_gaps_size(), " indices for ",
                                                   message.counts_size(), " counts"));
  }
  // Everything is checked before anything is added. Reports do this for each lane, so the loop only notes whether
  // something may be wrong; ProblemOf then finds it.
  const int counts = message.counts_size();
  const uint32_t* const gaps = message.index_gaps().data();
  const uint64_t* const in_bucket = message.counts().data();
  uint64_t total = message.overflow_count();
  uint64_t index = 0;  // 64 bits, so that 32-bit gaps cannot overflow it
  bool suspect = false;
  for (int i = 0; i < counts; ++i) {
    suspect |= i > 0 && gaps[i] == 0;
    index += gaps[i];
    suspect |= __builtin_add_overflow(total, in_bucket[i], &total);
  }
  if (suspect || (counts > 0 && index >= kBucketCount)) return ProblemOf(message);
  if (total != message.count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("histogram: its buckets hold ", total, " values, it claims ", message.count()));
  }
  if (!IsSum(message.sum_ns()) || !IsSum(message.sum_squares_ns2())) {
    return absl::InvalidArgumentError("histogram: a sum is not a finite number");
  }
  if (total == 0) return absl::OkStatus();  // the min_ns of 0 is then not a value
  if (message.min_ns() > message.max_ns()) {
    return absl::InvalidArgumentError(
        absl::StrCat("histogram: minimum ", message.min_ns(), " over maximum ", message.max_ns()));
  }
  const BucketRange range = RangeOf(message.min_ns(), message.max_ns());
  if (message.counts_size() > 0 && (message.index_gaps(0) < range.begin || index >= range.end)) {
    return absl::InvalidArgumentError(absl::StrCat("histogram: buckets ", message.index_gaps(0), " to ",
                                                   index, " exceed its minimum or maximum"));
  }

  uint64_t* bucket = buckets_.data();
  for (int i = 0; i < counts; ++i) *(bucket += gaps[i]) += in_bucket[i];
  overflow_count_ += message.overflow_count();
  min_ns_ = std::min(min_ns_, message.min_ns());
  max_ns_ = std::max(max_ns_, message.max_ns());
  sum_ns_ += message.sum_ns();
  sum_squares_ns2_ += message.sum_squares_ns2();
  return absl::OkStatus();
}

}  // namespace iobench
