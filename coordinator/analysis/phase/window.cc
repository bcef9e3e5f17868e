#include "coordinator/analysis/phase/window.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coordinator/analysis/phase/stonewall.h"

namespace iobench {
namespace {

// Returns the index of the first point after `at`, or timeline.size().
size_t IndexAfter(std::span<const AlignedPoint> timeline, CoordTime at) {
  const auto after = std::upper_bound(timeline.begin(), timeline.end(), at,
                                      [](CoordTime t, const AlignedPoint& point) { return t < point.at; });
  return static_cast<size_t>(after - timeline.begin());
}

// Returns what was certainly done by `at`, and what may have been done.
AlignedPoint CertainAt(std::span<const AlignedPoint> timeline, CoordTime at) {
  const size_t after = IndexAfter(timeline, at);
  return after == 0 ? AlignedPoint{at, 0, 0} : timeline[after - 1];
}
AlignedPoint PossibleAt(std::span<const AlignedPoint> timeline, CoordTime at) {
  const size_t after = IndexAfter(timeline, at);
  if (after == 0) return {at, 0, 0};
  const AlignedPoint& before = timeline[after - 1];
  if (after == timeline.size() || timeline[after].ops <= before.ops + 1) return before;
  return timeline[after];
}

struct Estimate {
  double bytes = 0;
  double ops = 0;
};

Estimate EstimateAt(std::span<const AlignedPoint> timeline, CoordTime at) {
  const size_t after = IndexAfter(timeline, at);
  if (after == 0) return {};
  const AlignedPoint& before = timeline[after - 1];
  Estimate estimate{static_cast<double>(before.bytes), static_cast<double>(before.ops)};
  if (after == timeline.size()) return estimate;
  const AlignedPoint& next = timeline[after];
  if (next.ops <= before.ops + 1) return estimate;  // a single op, which was in flight
  const double share = static_cast<double>(at - before.at) / static_cast<double>(next.at - before.at);
  estimate.bytes += share * static_cast<double>(next.bytes - before.bytes);
  estimate.ops += share * static_cast<double>(next.ops - before.ops);
  return estimate;
}

std::optional<Window> WindowUpTo(std::span<const AlignedLane> lanes, std::optional<CoordTime> end,
                                 std::optional<CoordTime> warmup_end) {
  const std::optional<CoordTime> first = FirstOpOf(lanes);
  if (!first || !end) return std::nullopt;
  return Window{warmup_end.value_or(*first), *end, !warmup_end};
}

}  // namespace

std::optional<CoordTime> FirstOpOf(std::span<const AlignedLane> lanes) {
  std::optional<CoordTime> first;
  for (const AlignedLane& lane : lanes) {
    if (lane.started) first = first ? std::min(*first, lane.first_op) : lane.first_op;
  }
  return first;
}

Moved BytesAt(std::span<const AlignedPoint> timeline, CoordTime at, int64_t error_ns) {
  const Estimate estimate = EstimateAt(timeline, at);
  const AlignedPoint certain = CertainAt(timeline, at + -error_ns);
  const AlignedPoint possible = PossibleAt(timeline, at + error_ns);
  return {.bytes = {estimate.bytes, static_cast<double>(certain.bytes), static_cast<double>(possible.bytes)},
          .ops = {estimate.ops, static_cast<double>(certain.ops), static_cast<double>(possible.ops)}};
}

std::optional<Window> FullWindow(std::span<const AlignedLane> lanes, std::optional<CoordTime> warmup_end) {
  std::optional<CoordTime> end;
  for (const AlignedLane& lane : lanes) {
    if (lane.started) end = end ? std::max(*end, lane.region_end) : lane.region_end;
  }
  return WindowUpTo(lanes, end, warmup_end);
}

const AlignedLane* FirstToEnd(std::span<const AlignedLane> lanes) {
  const auto end_of = [](const AlignedLane& lane) {
    return LaneEnd{.ops_end = lane.ops_end,
                   .stopped = lane.result->stopped(),
                   .has_ops = lane.started && lane.result->region_ops() > 0};
  };
  const auto first = std::min_element(
      lanes.begin(), lanes.end(),
      [&](const AlignedLane& a, const AlignedLane& b) { return IsStonewallBefore(end_of(a), end_of(b)); });
  return first == lanes.end() || !end_of(*first).has_ops ? nullptr : &*first;
}

std::optional<Window> StonewallWindow(std::span<const AlignedLane> lanes,
                                      std::optional<CoordTime> warmup_end) {
  const AlignedLane* first = FirstToEnd(lanes);
  return WindowUpTo(lanes, first == nullptr ? std::nullopt : std::optional(first->ops_end), warmup_end);
}

std::optional<Window> AllActiveWindow(std::span<const AlignedLane> lanes,
                                      std::optional<CoordTime> warmup_end) {
  std::optional<Window> window = StonewallWindow(lanes, warmup_end);
  if (!window) return std::nullopt;
  for (const AlignedLane& lane : lanes) {
    if (!lane.started) return std::nullopt;  // the lanes were never all active
    if (lane.first_op > window->begin) {
      window->begin = lane.first_op;
      window->from_first_op = false;
    }
  }
  return window;
}

std::optional<Window> DeadlineWindow(std::span<const AlignedLane> lanes,
                                     std::optional<CoordTime> warmup_end) {
  std::optional<CoordTime> end;
  for (const AlignedLane& lane : lanes) {
    if (lane.deadline) end = end ? std::min(*end, *lane.deadline) : *lane.deadline;
  }
  return WindowUpTo(lanes, end, warmup_end);
}

Moved MovedIn(const Window& window, const AlignedLane& lane, std::span<const AlignedPoint> timeline) {
  if (!lane.started || window.end <= window.begin) return {};
  Moved moved = BytesAt(timeline, window.end, lane.error_ns(window.end));
  if (window.from_first_op) return moved;
  const Moved before = BytesAt(timeline, window.begin, lane.error_ns(window.begin));
  const auto subtract = [](Bounded& from, const Bounded& what) {
    from = {from.value - what.value, std::max(0.0, from.low - what.high), from.high - what.low};
  };
  subtract(moved.bytes, before.bytes);
  subtract(moved.ops, before.ops);
  return moved;
}

double Rate(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace iobench
