// Throughput over time: of all lanes, and of each client.
#ifndef COORDINATOR_ANALYSIS_CHARTS_THROUGHPUT_SERIES_H_
#define COORDINATOR_ANALYSIS_CHARTS_THROUGHPUT_SERIES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "common/time.h"
#include "coordinator/analysis/phase/align.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "coordinator/analysis/phase/window.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr size_t kMaxSlices = 240;
// With so many clients, their series would take more room than anything else in the report.
inline constexpr size_t kManyClients = 200;
inline constexpr size_t kMaxSlicesOfManyClients = 120;

// Returns into how many equal slices a phase is divided: as many as its number of clients allows, but no more than the
// most detailed timeline can resolve, and none shorter than the uncertainty of the lanes' clocks. At least 1. REQUIRES:
// the axis is not empty.
size_t SliceCountOf(const Window& axis, std::span<const AlignedLane> lanes, size_t client_count);

// What was moved in each slice. Ops that end between two points of a timeline are spread evenly over the time between
// them, so the sums over all slices are what the lanes moved in their timed regions.
struct SlicedAmounts {
  explicit SlicedAmounts(size_t slice_count) : bytes(slice_count), ops(slice_count) {}
  std::vector<double> bytes, ops;
};
// Adds a lane's progress, from TimelineOf. Points outside the axis are moved to its ends; points that go back in time
// or progress (a damaged record) are skipped.
void AddProgress(const Window& axis, std::span<const AlignedPoint> timeline, SlicedAmounts& amounts);

// Sets slice_s, bytes_per_s, ops_per_s and clients of report.charts. `axis`: from T_first to the end of the last timed
// region; not empty.
void FillThroughput(const PhaseView& view, const Window& axis, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CHARTS_THROUGHPUT_SERIES_H_
