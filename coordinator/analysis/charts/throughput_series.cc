#include "coordinator/analysis/charts/throughput_series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace iobench {
namespace {

// Spreads `amount` evenly over the slices between two positions, which are counted in slices.
void Spread(double amount, double from, double to, std::vector<double>& slices) {
  if (amount <= 0) return;
  const auto slice_at = [&](double position) {
    return std::min(static_cast<size_t>(position), slices.size() - 1);
  };
  const size_t first = slice_at(from), last = slice_at(to);
  if (first == last) {
    slices[first] += amount;
    return;
  }
  for (size_t slice = first; slice <= last; ++slice) {
    const double begin = std::max(from, static_cast<double>(slice));
    const double end = std::min(to, static_cast<double>(slice + 1));
    slices[slice] += amount * std::max(0.0, end - begin) / (to - from);
  }
}

// Index in report.clients by the roster's number; nullopt: the client is not listed.
std::vector<std::optional<size_t>> IndexOfClients(const PhaseView& view, const v1::PhaseReport& report) {
  std::vector<std::optional<size_t>> indices(view.roster.client_count());
  for (int i = 0; i < report.clients_size(); ++i) {
    indices[view.roster.ClientOf(report.clients(i).workers(0).worker())] = static_cast<size_t>(i);
  }
  return indices;
}

}  // namespace

size_t SliceCountOf(const Window& axis, std::span<const AlignedLane> lanes, size_t client_count) {
  size_t resolved = 1;
  int64_t error_ns = 0;
  for (const AlignedLane& lane : lanes) {
    if (!lane.started) continue;
    const auto points = static_cast<size_t>(lane.result->timeline().at_worker_ns_size());
    resolved = std::max(resolved, static_cast<size_t>(std::min<uint64_t>(points, lane.result->region_ops())));
    error_ns = std::max({error_ns, lane.error_ns(axis.begin), lane.error_ns(axis.end)});
  }
  const size_t most = client_count > kManyClients ? kMaxSlicesOfManyClients : kMaxSlices;
  size_t count = std::min(resolved, most);
  if (error_ns > 0) {
    const double by_clocks = static_cast<double>(axis.end - axis.begin) / (2 * static_cast<double>(error_ns));
    if (by_clocks < static_cast<double>(count)) count = static_cast<size_t>(by_clocks);
  }
  return std::max<size_t>(1, count);
}

void AddProgress(const Window& axis, std::span<const AlignedPoint> timeline, SlicedAmounts& amounts) {
  if (timeline.empty()) return;
  const double slices_per_ns =
      static_cast<double>(amounts.bytes.size()) / static_cast<double>(axis.end - axis.begin);
  const auto position = [&](CoordTime at) {
    return static_cast<double>(std::clamp(at, axis.begin, axis.end) - axis.begin) * slices_per_ns;
  };
  const AlignedPoint* before = &timeline.front();
  double from = position(before->at);
  for (const AlignedPoint& point : timeline.subspan(1)) {
    if (point.at < before->at || point.bytes < before->bytes || point.ops < before->ops) continue;
    const double to = position(point.at);
    Spread(static_cast<double>(point.bytes - before->bytes), from, to, amounts.bytes);
    Spread(static_cast<double>(point.ops - before->ops), from, to, amounts.ops);
    before = &point;
    from = to;
  }
}

void FillThroughput(const PhaseView& view, const Window& axis, v1::PhaseReport& report) {
  const std::vector<AlignedLane>& lanes = view.aligned.lanes;
  const size_t slice_count = SliceCountOf(axis, lanes, static_cast<size_t>(report.clients_size()));
  const double slice_s = axis.seconds() / static_cast<double>(slice_count);
  const std::vector<std::optional<size_t>> index_of_client = IndexOfClients(view, report);
  std::vector<SlicedAmounts> of_client(static_cast<size_t>(report.clients_size()),
                                       SlicedAmounts(slice_count));
  std::vector<AlignedPoint> timeline;
  for (const AlignedLane& lane : lanes) {
    const std::optional<size_t> client = index_of_client[view.roster.ClientOf(lane.worker)];
    if (!client || !lane.started) continue;
    TimelineOf(lane, timeline);
    AddProgress(axis, timeline, of_client[*client]);
  }

  v1::PhaseCharts& charts = *report.mutable_charts();
  charts.set_slice_s(slice_s);
  SlicedAmounts all(slice_count);
  for (const SlicedAmounts& client : of_client) {
    v1::ClientSeries& series = *charts.add_clients();
    for (size_t slice = 0; slice < slice_count; ++slice) {
      all.bytes[slice] += client.bytes[slice];
      all.ops[slice] += client.ops[slice];
      const double amount = view.traits.headline_in_ops ? client.ops[slice] : client.bytes[slice];
      series.add_per_s(static_cast<float>(amount / slice_s));
    }
  }
  for (const double bytes : all.bytes) charts.add_bytes_per_s(bytes / slice_s);
  for (const double ops : all.ops) charts.add_ops_per_s(ops / slice_s);
}

}  // namespace iobench
