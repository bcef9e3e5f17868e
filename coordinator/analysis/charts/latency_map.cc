#include "coordinator/analysis/charts/latency_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/latency_slices.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr uint32_t kMaxColumns = LatencySlices::kSliceCount;
constexpr uint32_t kBins = LatencySlices::kBinCount;

// Whether a worker can have recorded slices of this length: they double only while they are too short for the phase,
// and joining all of them (to save room) takes 64. Anything longer is damage, and would leave the map with a single
// column.
bool IsPlausible(int64_t slice_ns, const Window& axis) {
  return slice_ns > 0 &&
         slice_ns <= 2 * (axis.end - axis.begin) + LatencySlices::kSliceCount * LatencySlices::kFirstSliceNs;
}

absl::StatusOr<std::vector<LatencyCell>> PlausibleCellsOf(const v1::LatencySlices& slices,
                                                          const Window& axis) {
  if (!IsPlausible(slices.slice_ns(), axis)) {
    return absl::InvalidArgumentError(absl::StrCat("latency slices: a slice of ", slices.slice_ns(),
                                                   " ns in a phase of ", axis.end - axis.begin, " ns"));
  }
  return CellsOf(slices);
}

class MapBuilder {
 public:
  MapBuilder(const Window& axis, int64_t slice_ns)
      : axis_(axis),
        slice_ns_(std::max(slice_ns, (axis.end - axis.begin + kMaxColumns - 1) / kMaxColumns)),
        columns_(static_cast<uint32_t>((axis.end - axis.begin + slice_ns_ - 1) / slice_ns_)),
        ops_(columns_ * kBins) {}

  void Add(const AlignedLane& lane, const v1::LatencySlices& slices, const std::vector<LatencyCell>& cells) {
    const double length = static_cast<double>(slices.slice_ns()) / static_cast<double>(slice_ns_);
    const CoordTime begin = lane.clock->ToCoordinator({slices.begin_worker_ns()});
    const double begin_position = static_cast<double>(begin - axis_.begin) / static_cast<double>(slice_ns_);
    for (const LatencyCell& cell : cells) AddCell(cell, begin_position + cell.slice * length, length);
  }

  bool empty() const {
    return std::all_of(ops_.begin(), ops_.end(), [](uint64_t ops) { return ops == 0; });
  }
  // True if at least `count` ops were added.
  bool HasAtLeast(uint64_t count) const {
    for (const uint64_t ops : ops_) {
      if (ops >= count) return true;
      count -= ops;
    }
    return count == 0;
  }
  // REQUIRES: not empty.
  v1::LatencyMap Map() const {
    v1::LatencyMap map;
    uint32_t first = kBins, last = 0;
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i] == 0) continue;
      first = std::min(first, i % kBins);
      last = std::max(last, i % kBins);
    }
    map.set_slice_s(SecondsFrom(slice_ns_));
    map.set_slice_count(columns_);
    map.set_lowest_us(static_cast<double>(LatencySlices::LowerEdgeNs(first)) / 1e3);
    for (uint32_t bin = first; bin <= last; ++bin)
      map.add_bin_upper_us(static_cast<double>(LatencySlices::UpperEdgeNs(bin)) / 1e3);
    for (uint32_t column = 0; column < columns_; ++column) {
      for (uint32_t bin = first; bin <= last; ++bin) map.add_ops(ops_[column * kBins + bin]);
    }
    return map;
  }

 private:
  // Ops that lie outside the axis, because of a clock's error, belong to its ends.
  uint32_t ColumnAt(double position) const {
    return static_cast<uint32_t>(std::clamp(position, 0.0, static_cast<double>(columns_ - 1)));
  }

  // A lane's slice is not longer than the map's, so it lies in at most two of them.
  void AddCell(const LatencyCell& cell, double from, double length) {
    const uint32_t first = ColumnAt(from), last = ColumnAt(from + length);
    uint64_t in_first = cell.ops;
    if (first != last) {
      const double share = std::clamp((static_cast<double>(last) - from) / length, 0.0, 1.0);
      const double part = std::round(share * static_cast<double>(cell.ops));
      if (part < static_cast<double>(cell.ops)) in_first = std::min(cell.ops, static_cast<uint64_t>(part));
    }
    ops_[first * kBins + cell.bin] += in_first;
    ops_[last * kBins + cell.bin] += cell.ops - in_first;
  }

  const Window axis_;
  const int64_t slice_ns_;
  const uint32_t columns_;
  std::vector<uint64_t> ops_;  // column by column
};

// One lane's slices of the ops, or of a call.
struct LaneSlices {
  const AlignedLane* lane;
  const v1::LatencySlices* slices;
};

// `whose`: "its", or "its fsync".
void AddDamaged(const PhaseView& view, const AlignedLane& lane, const std::string& whose,
                const absl::Status& status, v1::PhaseReport& report) {
  v1::ErrorReport& error = *report.add_errors();
  error.set_client(view.roster.NameOf(view.roster.ClientOf(lane.worker)));
  error.set_worker(static_cast<int32_t>(lane.worker));
  error.set_lane(static_cast<int32_t>(lane.result->lane()));
  error.set_operation(lane.result->operation());
  error.set_message(absl::StrCat(whose, " latencies over time are left out: ", std::string(status.message())));
}

MapBuilder Joined(const PhaseView& view, const Window& axis, const std::vector<LaneSlices>& lanes,
                  const std::string& whose, v1::PhaseReport& report) {
  int64_t longest_ns = 0;
  for (const auto& [lane, slices] : lanes) {
    if (slices->counts_size() > 0 && IsPlausible(slices->slice_ns(), axis))
      longest_ns = std::max(longest_ns, slices->slice_ns());
  }
  MapBuilder builder(axis, longest_ns);
  for (const auto& [lane, slices] : lanes) {
    const auto cells = PlausibleCellsOf(*slices, axis);
    if (cells.ok()) {
      builder.Add(*lane, *slices, *cells);
    } else {
      AddDamaged(view, *lane, whose, cells.status(), report);
    }
  }
  return builder;
}

std::vector<LaneSlices> SlicesOfCall(const PhaseView& view, OpKind call) {
  std::vector<LaneSlices> lanes;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started) continue;
    for (const v1::KindResult& of_call : lane.result->calls()) {
      if (static_cast<OpKind>(of_call.kind()) == call && of_call.has_slices())
        lanes.push_back({&lane, &of_call.slices()});
    }
  }
  return lanes;
}

}  // namespace

void FillLatencyMap(const PhaseView& view, const Window& axis, v1::PhaseReport& report) {
  std::vector<LaneSlices> lanes;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (lane.started && lane.result->has_latency_slices() && SlicesAreLatencies(*lane.result))
      lanes.push_back({&lane, &lane.result->latency_slices()});
  }
  const MapBuilder builder = Joined(view, axis, lanes, "its", report);
  if (!builder.empty()) *report.mutable_charts()->mutable_latency() = builder.Map();
}

std::optional<v1::LatencyMap> MapOfCall(const PhaseView& view, const Window& axis, OpKind call, v1::PhaseReport& report) {
  const MapBuilder builder =
      Joined(view, axis, SlicesOfCall(view, call), absl::StrCat("its ", NameOf(call)), report);
  if (!builder.HasAtLeast(kMinCallsForMap)) return std::nullopt;
  return builder.Map();
}

}  // namespace iobench
