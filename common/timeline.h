// Progress of one lane over time, as points (time, bytes, ops) taken at op ends. Bytes and ops are running totals, so
// the true value between two points lies between the values of those points.
#ifndef COMMON_TIMELINE_H_
#define COMMON_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/memory/own_lines.h"
#include "common/time.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// At time `at`, the lane had completed `ops` ops, which moved `bytes`.
template <typename Time>
struct ProgressPoint {
  Time at;
  uint64_t bytes = 0;
  uint64_t ops = 0;
  bool operator==(const ProgressPoint&) const = default;
};
using LanePoint = ProgressPoint<Ticks>;         // recorded by the lane
using WorkerPoint = ProgressPoint<WorkerTime>;  // collected by the worker
using AlignedPoint = ProgressPoint<CoordTime>;  // converted to the coordinator's clock

// The recorder that a lane's thread writes while it runs. Its two parts are allocated in the constructor:
// - Points over the whole phase, at least one interval apart. When they are full, every second point is dropped and the
//   interval grows to 1/2048 of the phase so far (at least to double). Gaps thus stay within 1/2048 (0.05 %) of the
//   phase if ops are evenly spaced, or within one op if that is longer.
// - A ring with the last 1024 op ends, each one exact.
// One thread writes; others may read only after it has stopped.
class ProgressTimeline {
 public:
  static constexpr size_t kPointCount = 4096;
  static constexpr size_t kRingCount = 1024;

  // `first_interval_ticks`: initial distance of points. REQUIRES: > 0.
  explicit ProgressTimeline(uint64_t first_interval_ticks);

  void Start(Ticks at);  // clears everything and adds the origin point (at, 0, 0)

  // Records an op end; must be called for every op, in order. Costs one store into the ring.
  void Note(Ticks at, uint64_t bytes, uint64_t ops) { ring_[ops & (kRingCount - 1)] = {at, bytes, ops}; }
  // When at >= next_point(), the caller keeps this op end as a point with Keep(). The caller combines next_point() with
  // its other limits into a single comparison.
  Ticks next_point() const { return next_point_; }
  void Keep(Ticks at, uint64_t bytes, uint64_t ops);
  // Returns the latest op end before `now`, where `now` is the end of op number `ops`. Call it after Note and before
  // Keep. Exact unless all op ends in the ring are equal to `now`; then it returns the last kept point.
  Ticks EndBefore(Ticks now, uint64_t ops) const;
  // Adds the final point, regardless of the interval.
  void Finish(Ticks at, uint64_t bytes, uint64_t ops);

  // Returns points and ring together, in ascending order without duplicates. REQUIRES: Finish was called.
  std::vector<LanePoint> Points() const;

 private:
  void Thin(Ticks now);
  using OwnPoints = std::vector<LanePoint, OwnLinesAllocator<LanePoint>>;
  OwnPoints ring_;  // the first member: Note uses it for each op
  OwnPoints points_;
  uint64_t first_interval_ticks_;
  uint64_t interval_ticks_;
  Ticks next_point_;
};

// Reduces `points` to about `most`, evenly spaced in time. Always keeps the first, the last, and the points around each
// of `instants`.
std::vector<WorkerPoint> Thinned(std::span<const WorkerPoint> points, std::span<const WorkerTime> instants,
                                 size_t most);

v1::Timeline ToProto(std::span<const WorkerPoint> points);
std::vector<WorkerPoint> FromProto(
    const v1::Timeline& timeline);  // if array lengths differ, the shortest counts

}  // namespace iobench

#endif  // COMMON_TIMELINE_H_
