#include "common/latency_slices.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <span>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

static_assert(Histogram::kBucketCount % LatencySlices::kBucketsPerBin == 0);
static_assert(std::has_single_bit(LatencySlices::kSliceCount));

constexpr uint32_t kCellCount = LatencySlices::kSliceCount * LatencySlices::kBinCount;
// Joining this many times leaves one slice.
constexpr int kMaxJoins = std::bit_width(LatencySlices::kSliceCount) - 1;

// Joins each 2^joins neighbours into one slice, whose number is theirs divided by 2^joins. That slice is further to the
// front, so its own ops have already been moved.
void Join(std::span<uint64_t, kCellCount> cells, int joins) {
  constexpr uint32_t kBins = LatencySlices::kBinCount;
  for (uint32_t slice = 1; slice < LatencySlices::kSliceCount; ++slice) {
    uint64_t* const from = cells.data() + slice * kBins;
    uint64_t* const into = cells.data() + (slice >> std::min(joins, kMaxJoins)) * kBins;
    for (uint32_t bin = 0; bin < kBins; ++bin) into[bin] += from[bin];
    std::fill_n(from, kBins, 0);
  }
}

v1::LatencySlices Sparse(std::span<const uint64_t, kCellCount> cells) {
  v1::LatencySlices message;
  uint32_t previous = 0;
  for (uint32_t cell = 0; cell < kCellCount; ++cell) {
    if (cells[cell] == 0) continue;
    message.add_cell_gaps(cell - previous);
    message.add_counts(cells[cell]);
    previous = cell;
  }
  return message;
}

}  // namespace

LatencySlices::LatencySlices(uint64_t first_slice_ticks)
    : cells_(std::make_unique<Cells>()),
      first_slice_ticks_(first_slice_ticks),
      slice_ticks_(first_slice_ticks) {
  assert(first_slice_ticks > 0);
  Start({0});
}

void LatencySlices::Start(Ticks begin) {
  cells_->fill(0);
  row_ = cells_->data();
  begin_ = begin;
  slice_ticks_ = first_slice_ticks_;
  slice_end_ = {begin.value + slice_ticks_};
}

void LatencySlices::Advance(Ticks now) {
  assert(now >= slice_end_);
  uint64_t slice = (now.value - begin_.value) / slice_ticks_;
  if (slice >= kSliceCount) {
    const int joins = std::bit_width(slice) - std::bit_width(kSliceCount) + 1;
    Join(std::span<uint64_t, kCellCount>(*cells_), joins);
    slice_ticks_ <<= joins;
    slice >>= joins;
  }
  row_ = cells_->data() + slice * kBinCount;
  slice_end_ = {begin_.value + (slice + 1) * slice_ticks_};
}

v1::LatencySlices LatencySlices::ToProto(WorkerTime begin, int64_t slice_ns, size_t max_bytes) const {
  Cells cells = *cells_;
  v1::LatencySlices message;
  for (int joins = 0; joins <= kMaxJoins; ++joins) {
    if (joins > 0) Join(std::span<uint64_t, kCellCount>(cells), 1);
    message = Sparse(std::span<const uint64_t, kCellCount>(cells));
    message.set_begin_worker_ns(begin.ns);
    message.set_slice_ns(slice_ns << joins);
    if (message.ByteSizeLong() <= max_bytes) break;
  }
  return message;
}

absl::StatusOr<std::vector<LatencyCell>> CellsOf(const v1::LatencySlices& message) {
  if (message.cell_gaps_size() != message.counts_size()) {
    return absl::InvalidArgumentError(absl::StrCat("latency slices: ", message.cell_gaps_size(),
                                                   " cells for ", message.counts_size(), " counts"));
  }
  if (message.counts_size() > static_cast<int>(kCellCount)) {
    return absl::InvalidArgumentError(
        absl::StrCat("latency slices: ", message.counts_size(), " cells of ", kCellCount));
  }
  if (message.slice_ns() <= 0) return absl::InvalidArgumentError("latency slices: a slice without length");
  std::vector<LatencyCell> cells;
  cells.reserve(static_cast<size_t>(message.counts_size()));
  uint64_t cell = 0;
  for (int i = 0; i < message.counts_size(); ++i) {
    if (i > 0 && message.cell_gaps(i) == 0)
      return absl::InvalidArgumentError("latency slices: a cell comes twice");
    cell += message.cell_gaps(i);  // 64 bits, so that 32-bit gaps cannot overflow it
    if (cell >= kCellCount) {
      return absl::InvalidArgumentError(absl::StrCat("latency slices: cell ", cell, " of ", kCellCount,
                                                     "; is the worker of another version?"));
    }
    cells.push_back({.slice = static_cast<uint32_t>(cell) / LatencySlices::kBinCount,
                     .bin = static_cast<uint32_t>(cell) % LatencySlices::kBinCount,
                     .ops = message.counts(i)});
  }
  return cells;
}

}  // namespace iobench
