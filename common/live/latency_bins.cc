#include "common/live/latency_bins.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/not_a_number.h"

namespace iobench {
namespace {

// More than the lanes of a worker do in months; the counts of 16,000 workers still fit into 64 bits.
constexpr uint64_t kMaxOps = uint64_t{1} << 50;

double MiddleNs(uint32_t bin) {
  const uint32_t first = bin * LatencyBins::kBucketsPerBin;
  const uint64_t lower = Histogram::LowerEdge(first);
  const uint64_t upper = Histogram::UpperEdge(first + LatencyBins::kBucketsPerBin - 1);
  return static_cast<double>(lower) + static_cast<double>(upper - lower) / 2;
}

}  // namespace

void LatencyBins::AddFrom(const Histogram& histogram) {
  for (uint32_t bucket = 0; bucket < Histogram::kBucketCount; ++bucket) {
    counts_[bucket / kBucketsPerBin] += histogram.LiveCount(bucket);
  }
}

void LatencyBins::Merge(const LatencyBins& other) {
  for (uint32_t bin = 0; bin < kBinCount; ++bin) counts_[bin] += other.counts_[bin];
}

LatencyBins LatencyBins::Since(const LatencyBins& before) const {
  LatencyBins since;
  for (uint32_t bin = 0; bin < kBinCount; ++bin) {
    if (counts_[bin] < before.counts_[bin]) return *this;
    since.counts_[bin] = counts_[bin] - before.counts_[bin];
  }
  return since;
}

uint64_t LatencyBins::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

double LatencyBins::MeanNs() const {
  double sum_ns = 0;
  for (uint32_t bin = 0; bin < kBinCount; ++bin) sum_ns += static_cast<double>(counts_[bin]) * MiddleNs(bin);
  const uint64_t n = count();
  return n == 0 ? kNaN : sum_ns / static_cast<double>(n);
}

double LatencyBins::PercentileNs(double p) const {
  const double rank = std::max(1.0, std::ceil(p * static_cast<double>(count())));
  double cumulated = 0;
  for (uint32_t bin = 0; bin < kBinCount; ++bin) {
    cumulated += static_cast<double>(counts_[bin]);
    if (cumulated >= rank) return MiddleNs(bin);
  }
  return kNaN;
}

v1::LatencyBins LatencyBins::ToProto() const {
  v1::LatencyBins message;
  uint32_t previous = 0;
  for (uint32_t bin = 0; bin < kBinCount; ++bin) {
    if (counts_[bin] == 0) continue;
    message.add_bin_gaps(bin - previous);
    message.add_counts(counts_[bin]);
    previous = bin;
  }
  return message;
}

absl::Status LatencyBins::AddProto(const v1::LatencyBins& message) {
  if (message.bin_gaps_size() != message.counts_size()) {
    return absl::InvalidArgumentError(absl::StrCat("latency bins: ", message.bin_gaps_size(), " bins for ",
                                                   message.counts_size(), " counts"));
  }
  LatencyBins sum = *this;
  uint64_t bin = 0, ops = 0;
  for (int i = 0; i < message.counts_size(); ++i) {
    if (i > 0 && message.bin_gaps(i) == 0)
      return absl::InvalidArgumentError("latency bins: a bin comes twice");
    bin += message.bin_gaps(i);  // 64 bits, so that 32-bit gaps cannot overflow it
    if (bin >= kBinCount) {
      return absl::InvalidArgumentError(
          absl::StrCat("latency bins: bin ", bin, " of ", kBinCount, "; is the worker of another version?"));
    }
    if (message.counts(i) > kMaxOps - ops) {
      return absl::InvalidArgumentError(absl::StrCat("latency bins: more than ", kMaxOps, " ops"));
    }
    ops += message.counts(i);
    sum.counts_[bin] += message.counts(i);
  }
  *this = sum;
  return absl::OkStatus();
}

}  // namespace iobench
