#include "common/timeline.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace iobench {
namespace {

// Differences wrap around like the sums do, so that any input is restored exactly.
int64_t Difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

ProgressTimeline::ProgressTimeline(uint64_t first_interval_ticks)
    : ring_(kRingCount),
      points_(kPointCount + 1),  // one more for Finish; filled once, so that no page fault occurs while timed
      first_interval_ticks_(first_interval_ticks),
      interval_ticks_(first_interval_ticks) {
  assert(first_interval_ticks > 0);
  points_.clear();
}

void ProgressTimeline::Start(Ticks at) {
  interval_ticks_ = first_interval_ticks_;
  points_.clear();
  points_.push_back({at, 0, 0});
  std::fill(ring_.begin(), ring_.end(), LanePoint{});
  next_point_ = {at.value + interval_ticks_};
}

void ProgressTimeline::Keep(Ticks at, uint64_t bytes, uint64_t ops) {
  // Thins when the first point that no longer fits arrives: the points then span 4096 intervals when the interval
  // doubles, which makes a gap exactly 1/2048 and not slightly more.
  if (points_.size() == kPointCount) Thin(at);
  points_.push_back({at, bytes, ops});
  next_point_ = {at.value + interval_ticks_};
}

Ticks ProgressTimeline::EndBefore(Ticks now, uint64_t ops) const {
  for (uint64_t back = 1; back < std::min<uint64_t>(ops, kRingCount); ++back) {
    const Ticks at = ring_[(ops - back) & (kRingCount - 1)].at;
    if (at < now) return at;
  }
  return points_.back().at;
}

void ProgressTimeline::Finish(Ticks at, uint64_t bytes, uint64_t ops) {
  points_.push_back({at, bytes, ops});  // never needs thinning, since there is room for it
  next_point_ = {UINT64_MAX};
}

void ProgressTimeline::Thin(Ticks now) {
  for (size_t i = 0; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
  points_.resize((points_.size() + 1) / 2);
  // If an op takes longer than the interval, doubling alone would leave new points as dense as before and thin the old
  // ones repeatedly, until they were many times 1/2048 apart.
  interval_ticks_ = std::max(2 * interval_ticks_, (now.value - points_.front().at.value) / (kPointCount / 2));
}

std::vector<LanePoint> ProgressTimeline::Points() const {
  std::vector<LanePoint> all(points_.begin(), points_.end());
  for (const LanePoint& point : ring_) {
    if (point.ops > 0) all.push_back(point);  // 0: not written since Start
  }
  std::sort(all.begin(), all.end(), [](const LanePoint& a, const LanePoint& b) {
    return std::tie(a.at, a.ops, a.bytes) < std::tie(b.at, b.ops, b.bytes);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<WorkerPoint> Thinned(std::span<const WorkerPoint> points, std::span<const WorkerTime> instants,
                                 size_t most) {
  if (points.size() <= most || points.size() <= 2) return {points.begin(), points.end()};
  std::vector<bool> kept(points.size(), false);
  kept.front() = kept.back() = true;

  // Keeps two points on either side. If an instant is an op end on this lane (the lane that set the stonewall), it can
  // come back from the coordinator's clock a nanosecond off, so that the points around it are one further.
  for (const WorkerTime instant : instants) {
    const auto after = std::upper_bound(points.begin(), points.end(), instant,
                                        [](WorkerTime t, const WorkerPoint& point) { return t < point.at; });
    const auto first_after = static_cast<size_t>(after - points.begin());
    const size_t begin = first_after < 2 ? 0 : first_after - 2;
    const size_t end = std::min(points.size(), first_after + 2);
    for (size_t i = begin; i < end; ++i) kept[i] = true;
  }

  // The first point at or after each line of a regular grid. Dense parts (the ring) are thinned most.
  if (most > 2) {
    const int64_t begin_ns = points.front().at.ns;
    const double step_ns =
        static_cast<double>(points.back().at.ns - begin_ns) / static_cast<double>(most - 1);
    size_t i = 0;
    for (size_t line = 1; line + 1 < most; ++line) {
      const int64_t line_ns = begin_ns + static_cast<int64_t>(static_cast<double>(line) * step_ns);
      while (i + 1 < points.size() && points[i].at.ns < line_ns) ++i;
      kept[i] = true;
    }
  }

  std::vector<WorkerPoint> thinned;
  for (size_t i = 0; i < points.size(); ++i) {
    if (kept[i]) thinned.push_back(points[i]);
  }
  return thinned;
}

v1::Timeline ToProto(std::span<const WorkerPoint> points) {
  v1::Timeline timeline;
  const int count = static_cast<int>(points.size());
  timeline.mutable_at_worker_ns()->Reserve(count);
  timeline.mutable_bytes()->Reserve(count);
  timeline.mutable_ops()->Reserve(count);
  WorkerPoint previous;
  for (const WorkerPoint& point : points) {
    timeline.add_at_worker_ns(Difference(point.at.ns, previous.at.ns));
    timeline.add_bytes(point.bytes - previous.bytes);
    timeline.add_ops(point.ops - previous.ops);
    previous = point;
  }
  return timeline;
}

std::vector<WorkerPoint> FromProto(const v1::Timeline& timeline) {
  const int count = std::min({timeline.at_worker_ns_size(), timeline.bytes_size(), timeline.ops_size()});
  std::vector<WorkerPoint> points;
  points.reserve(static_cast<size_t>(count));
  WorkerPoint point;
  for (int i = 0; i < count; ++i) {
    point.at.ns = Sum(point.at.ns, timeline.at_worker_ns(i));
    point.bytes += timeline.bytes(i);
    point.ops += timeline.ops(i);
    points.push_back(point);
  }
  return points;
}

}  // namespace iobench
