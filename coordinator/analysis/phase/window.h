// Bytes and ops over intervals of the coordinator's clock: the progress of a lane at an instant, and the windows for
// the figures.
#ifndef COORDINATOR_ANALYSIS_PHASE_WINDOW_H_
#define COORDINATOR_ANALYSIS_PHASE_WINDOW_H_

#include <cstdint>
#include <optional>
#include <span>

#include "common/time.h"
#include "common/timeline.h"
#include "coordinator/analysis/phase/align.h"

namespace iobench {

// An estimate with its bounds: low <= truth <= high.
struct Bounded {
  double value = 0;
  double low = 0;
  double high = 0;

  Bounded& operator+=(const Bounded& other) {
    value += other.value;
    low += other.low;
    high += other.high;
    return *this;
  }
};

// Completed ops and the bytes that they moved. The two have their own bounds: ops of one lane may differ in size.
struct Moved {
  Bounded bytes;
  Bounded ops;

  Moved& operator+=(const Moved& other) {
    bytes += other.bytes;
    ops += other.ops;
    return *this;
  }
};

// Returns what one lane had completed by `at`; the op in flight does not count. Between two points, the bounds are the
// values of the points, and the estimate is interpolated linearly. Between two consecutive ops, the value is exactly
// that of the earlier point. The bounds take into account that the lane's clock may be off by `error_ns` in either
// direction. `timeline`: as TimelineOf returns it, so points ascend; nothing is done before its first point.
Moved BytesAt(std::span<const AlignedPoint> timeline, CoordTime at, int64_t error_ns);

// The interval from begin to end on the common axis; empty if end <= begin.
struct Window {
  CoordTime begin, end;
  // The window starts with the very first op, before which no lane can have moved anything, whatever the clocks say.
  bool from_first_op = false;

  double seconds() const { return end > begin ? SecondsFrom(end - begin) : 0; }
};

// Returns T_first, or nullopt if no lane did anything.
std::optional<CoordTime> FirstOpOf(std::span<const AlignedLane> lanes);

// Return nullopt if no lane has what defines the window. All windows start with the first op of the first lane
// (T_first) or, with a warm-up, at its end. AllActiveWindow does not start before the first op of the last lane.
std::optional<Window> FullWindow(std::span<const AlignedLane> lanes, std::optional<CoordTime> warmup_end);
std::optional<Window> StonewallWindow(std::span<const AlignedLane> lanes,
                                      std::optional<CoordTime> warmup_end);
std::optional<Window> AllActiveWindow(std::span<const AlignedLane> lanes,
                                      std::optional<CoordTime> warmup_end);
std::optional<Window> DeadlineWindow(std::span<const AlignedLane> lanes, std::optional<CoordTime> warmup_end);

// Returns the lane whose end of ops is the stonewall: the first one that ended by itself. If all were stopped (the lane
// that caused it is lost), the first of these. Null: no lane did anything.
const AlignedLane* FirstToEnd(std::span<const AlignedLane> lanes);

// Returns what one lane moved within a window; zero if the window is empty or the lane did nothing. `timeline`: the
// lane's own, from TimelineOf.
Moved MovedIn(const Window& window, const AlignedLane& lane, std::span<const AlignedPoint> timeline);

// NaN if no time passed.
double Rate(double amount, double seconds);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_WINDOW_H_
