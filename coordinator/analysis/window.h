// Bytes over intervals of the coordinator's clock: what a lane had returned by an instant, and the windows that the
// figures are made of.
#ifndef COORDINATOR_ANALYSIS_WINDOW_H_
#define COORDINATOR_ANALYSIS_WINDOW_H_

#include <cstdint>
#include <optional>
#include <span>

#include "common/time.h"
#include "common/timeline.h"
#include "coordinator/analysis/align.h"

namespace iobench {

// An estimate and what is certain: low <= truth <= high.
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

struct Moved {
  Bounded bytes;
  Bounded ops;

  Moved& operator+=(const Moved& other) {
    bytes += other.bytes;
    ops += other.ops;
    return *this;
  }
};

// What one lane had returned by `at`: the op in flight does not count. Between two points the truth lies between their
// values and the estimate on the line that joins them; between two consecutive ops it is the earlier point's, exactly.
// The bounds hold for a lane whose clock may be off by `error_ns` either way.
Moved BytesAt(std::span<const AlignedPoint> timeline, CoordTime at, int64_t error_ns);

// begin..end on the common axis; empty when end <= begin.
struct Window {
  CoordTime begin, end;
  // It begins with the first op of all: before it nothing was moved by anybody, whatever clocks say.
  bool from_first_op = false;

  double seconds() const { return end > begin ? SecondsFrom(end - begin) : 0; }
};

// T_first; nullopt where no lane did anything.
std::optional<CoordTime> FirstOpOf(std::span<const AlignedLane> lanes);

// nullopt where no lane has what defines the window. All begin with the first op of the first lane (T_first), or at the
// end of the warm-up where there is one; AllActive also not before the first op of the last lane.
std::optional<Window> FullWindow(std::span<const AlignedLane> lanes, std::optional<CoordTime> warmup_end);
std::optional<Window> StonewallWindow(std::span<const AlignedLane> lanes,
                                      std::optional<CoordTime> warmup_end);
std::optional<Window> AllActiveWindow(std::span<const AlignedLane> lanes,
                                      std::optional<CoordTime> warmup_end);
std::optional<Window> DeadlineWindow(std::span<const AlignedLane> lanes, std::optional<CoordTime> warmup_end);

// The lane whose end of ops is the stonewall: the first that ended by itself. Where all were stopped (the one that
// caused it is lost), the first of those. Null: no lane did anything.
const AlignedLane* FirstToEnd(std::span<const AlignedLane> lanes);

// What one lane moved within a window; nothing where it is empty.
Moved MovedIn(const Window& window, const AlignedLane& lane, std::span<const AlignedPoint> timeline);

// What all lanes moved within a window. Decodes one timeline at a time.
struct WindowTotals {
  Moved moved;
  double seconds = 0;

  double bytes_per_s() const;  // NaN for an empty window
  double ops_per_s() const;
};
WindowTotals TotalsIn(const Window& window, std::span<const AlignedLane> lanes);

// NaN where no time passed.
double Rate(double amount, double seconds);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_WINDOW_H_
