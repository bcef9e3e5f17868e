// Latencies over time: equal slices of time, each with a coarse histogram. A bin joins 64 buckets of
// common/histogram.h, so that there are two per octave. Together they are the columns and rows of a latency map.
#ifndef COMMON_LATENCY_SLICES_H_
#define COMMON_LATENCY_SLICES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/histogram.h"
#include "common/memory/own_lines.h"
#include "common/time.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The recorder that a lane's thread writes while it runs; 36 KB, allocated in the constructor. Slice k covers the times
// from begin + k * length to before begin + (k + 1) * length. When the 64 slices are used up, neighbours are joined and
// the length doubles, so that 33 to 64 slices cover a phase of more than 64 first slices. Counters have 64 bits and
// never overflow. One thread writes; others may read only after it has stopped.
class LatencySlices {
 public:
  static constexpr uint32_t kSliceCount = 64;
  static constexpr uint32_t kBucketsPerBin = 64;
  static constexpr uint32_t kBinCount = Histogram::kBucketCount / kBucketsPerBin;  // 72
  static constexpr int64_t kFirstSliceNs = 1'000'000;

  // Return the smallest latency of a bin, and of the bin above it. REQUIRES: bin < kBinCount.
  static uint64_t LowerEdgeNs(uint32_t bin) { return Histogram::LowerEdge(bin * kBucketsPerBin); }
  static uint64_t UpperEdgeNs(uint32_t bin) { return LowerEdgeNs(bin + 1); }

  // `first_slice_ticks`: initial length of a slice. REQUIRES: > 0.
  explicit LatencySlices(uint64_t first_slice_ticks);

  // Clears everything. The first slice begins at `begin`; ops that end before belong to it too.
  void Start(Ticks begin);

  // Counts an op in the current slice; `bucket` is what Histogram::Add returned. Costs one store.
  void Add(uint32_t bucket) { ++row_[bucket / kBucketsPerBin]; }
  // An op that ends at or after slice_end() belongs to a later slice: call Advance with its end before Add. The caller
  // combines slice_end() with its other limits into a single comparison.
  Ticks slice_end() const { return slice_end_; }
  void Advance(Ticks now);  // REQUIRES: now >= slice_end()

  Ticks begin() const { return begin_; }
  uint64_t slice_ticks() const { return slice_ticks_; }
  uint64_t ops(uint32_t slice, uint32_t bin) const { return (*cells_)[slice * kBinCount + bin]; }

  // Returns the sparse form on the worker's clock, where a slice lasts `slice_ns`. If it would take more than
  // `max_bytes` on the wire, neighbours are joined until it does not or a single slice is left; no op is dropped.
  v1::LatencySlices ToProto(WorkerTime begin, int64_t slice_ns, size_t max_bytes) const;

 private:
  struct Cells : std::array<uint64_t, kSliceCount * kBinCount>, OnOwnLines {};  // slice by slice

  uint64_t* row_;  // the current slice's; the first member: Add uses it for each op
  std::unique_ptr<Cells> cells_;
  uint64_t first_slice_ticks_;
  uint64_t slice_ticks_;
  Ticks begin_;
  Ticks slice_end_;
};

// One cell of the sparse form.
struct LatencyCell {
  uint32_t slice = 0;
  uint32_t bin = 0;
  uint64_t ops = 0;
};
// Returns the cells of a lane in ascending order, at most kSliceCount * kBinCount. InvalidArgument: the message is
// damaged or has another layout (a cell out of range or twice, not as many gaps as counts, a slice without length).
absl::StatusOr<std::vector<LatencyCell>> CellsOf(const v1::LatencySlices& message);

}  // namespace iobench

#endif  // COMMON_LATENCY_SLICES_H_
