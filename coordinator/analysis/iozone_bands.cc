#include "coordinator/analysis/iozone_bands.h"

#include <algorithm>
#include <limits>

namespace iobench {
namespace {

constexpr int64_t kUs = 1'000;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kS = 1'000'000'000;

// clang-format off
constexpr IozoneBand kBands[] = {
    {20 * kUs,  "20us", 1},  {40 * kUs,  "40us", 1},  {60 * kUs,  "60us", 1},  {80 * kUs,  "80us", 1},  {100 * kUs,  "100us", 1},
    {200 * kUs, "200us", 2}, {400 * kUs, "400us", 2}, {600 * kUs, "600us", 2}, {800 * kUs, "800us", 2}, {1000 * kUs, "1000us", 2},
    {2 * kMs,   "2ms", 3},   {4 * kMs,   "4ms", 3},   {6 * kMs,   "6ms", 3},   {8 * kMs,   "8ms", 3},   {10 * kMs,   "10ms", 3},
    {12 * kMs,  "12ms", 4},  {14 * kMs,  "14ms", 4},  {16 * kMs,  "16ms", 4},  {18 * kMs,  "18ms", 4},  {20 * kMs,   "20ms", 4},
    {40 * kMs,  "40ms", 5},  {60 * kMs,  "60ms", 5},  {80 * kMs,  "80ms", 5},  {100 * kMs, "100ms", 5},
    {200 * kMs, "200ms", 6}, {400 * kMs, "400ms", 6}, {600 * kMs, "600ms", 6}, {800 * kMs, "800ms", 6}, {1000 * kMs, "1000ms", 6},
    {2 * kS,    "2s", 7},    {4 * kS,    "4s", 7},    {6 * kS,    "6s", 7},    {8 * kS,    "8s", 7},    {10 * kS,    "10s", 7},
    {20 * kS,   "20s", 8},   {30 * kS,   "30s", 8},   {60 * kS,   "60s", 8},   {90 * kS,   "90s", 8},   {120 * kS,   "120s", 8},
    {std::numeric_limits<int64_t>::max(), "120+s", 9},
};
// clang-format on

}  // namespace

std::span<const IozoneBand> IozoneBands() {
  return kBands;
}

std::vector<uint64_t> CountsInIozoneBands(const Histogram& latency) {
  const std::span<const IozoneBand> bands = IozoneBands();
  std::vector<uint64_t> counts(bands.size(), 0);
  const v1::Histogram sparse = latency.ToProto();
  uint32_t index = 0;
  for (int i = 0; i < sparse.counts_size(); ++i) {
    index += sparse.index_gaps(i);
    const auto ns = static_cast<int64_t>(std::min(Histogram::UpperEdge(index), latency.max_ns()));
    const auto band =
        std::lower_bound(bands.begin(), bands.end(), ns,
                         [](const IozoneBand& each, int64_t value) { return each.up_to_ns < value; });
    counts[static_cast<size_t>(band - bands.begin())] += sparse.counts(i);
  }
  counts.back() += latency.overflow_count();
  return counts;
}

}  // namespace iobench
