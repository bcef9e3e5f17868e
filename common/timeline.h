// Progress of one lane, as (time, bytes, ops) at op ends. Bytes and ops are running totals, so that between two
// points the truth lies between their values.
#ifndef COMMON_TIMELINE_H_
#define COMMON_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/time.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// At `at` the lane had returned `bytes` in `ops` ops. The axis is whichever the holder's maker chose.
template <typename Time>
struct ProgressPoint {
  Time at;
  uint64_t bytes = 0;
  uint64_t ops = 0;
  bool operator==(const ProgressPoint&) const = default;
};
using LanePoint = ProgressPoint<Ticks>;         // while recording
using WorkerPoint = ProgressPoint<WorkerTime>;  // collected
using AlignedPoint = ProgressPoint<CoordTime>;  // on the common axis

// What a lane's thread writes while it runs. Two parts, both allocated at construction:
//  - points at least interval apart over the whole phase; when full, every second one is dropped and the interval
//    becomes 1/2048 of the phase so far (at least double), so that the gap of even ops stays <= 1/2048 of the phase
//    (0.05 %), or one op where that is longer;
//  - a ring of the last 1024 op ends, each one exact.
// One writer thread; readers only after it has stopped.
class ProgressTimeline {
 public:
  static constexpr size_t kPointCount = 4096;
  static constexpr size_t kRingCount = 1024;

  // `first_interval_ticks`: distance of points at the start; > 0.
  explicit ProgressTimeline(uint64_t first_interval_ticks);

  void Start(Ticks at);  // empties it; sets the origin point (at, 0, 0)

  // Every op end, in order. Cheap: one ring store.
  void Note(Ticks at, uint64_t bytes, uint64_t ops) { ring_[ops & (kRingCount - 1)] = {at, bytes, ops}; }
  // When at >= next_point(): keeps the op end as a point. The caller folds next_point() into its one comparison.
  Ticks next_point() const { return next_point_; }
  void Keep(Ticks at, uint64_t bytes, uint64_t ops);
  // The newest op end before `now`, the end of op number `ops`; after Note, before Keep. Exact unless all that the ring
  // holds ended at once: then the last point kept.
  Ticks EndBefore(Ticks now, uint64_t ops) const;
  // Always kept, whatever the interval: the end.
  void Finish(Ticks at, uint64_t bytes, uint64_t ops);

  // Points and ring together, ascending, no duplicates. REQUIRES: Finish.
  std::vector<LanePoint> Points() const;

 private:
  void Thin(Ticks now);
  std::vector<LanePoint> points_;
  std::vector<LanePoint> ring_;
  uint64_t first_interval_ticks_;
  uint64_t interval_ticks_;
  Ticks next_point_;
};

// At most about `most` points, evenly thinned in time; first, last, and the two that bracket each instant are kept.
std::vector<WorkerPoint> Thinned(std::span<const WorkerPoint> points, std::span<const WorkerTime> instants,
                                 size_t most);

v1::Timeline ToProto(std::span<const WorkerPoint> points);
std::vector<WorkerPoint> FromProto(const v1::Timeline& timeline);  // unequal lengths: the shortest counts

}  // namespace iobench

#endif  // COMMON_TIMELINE_H_
