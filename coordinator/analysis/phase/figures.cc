#include "coordinator/analysis/phase/figures.h"

#include <algorithm>
#include <cmath>

#include "common/not_a_number.h"
#include "coordinator/analysis/phase/latency.h"
#include "coordinator/analysis/phase/stonewall.h"

namespace iobench {
namespace {

constexpr BothRates kNoRate = {kNaN, kNaN};

BothRates RateOf(const Moved& moved, double seconds) {
  return {Rate(moved.bytes.value, seconds), Rate(moved.ops.value, seconds)};
}

Bounded Exactly(double value) {
  return {value, value, value};
}

Moved Less(const Moved& all, const Moved& part) {
  const auto less = [](const Bounded& a, const Bounded& b) {
    return Bounded{a.value - b.value, a.low - b.high, a.high - b.low};
  };
  return {less(all.bytes, part.bytes), less(all.ops, part.ops)};
}

struct PhaseWindows {
  std::optional<Window> full, stonewall, all_active, deadline;
};

// Bytes up to an instant within the ops are unflushed, so they give no figure next to a headline that counts flushed
// bytes.
bool OnlyFlushedCounts(const PhaseTraits& traits) {
  return traits.flush_in_region && !traits.headline_is_retroactive();
}

PhaseWindows WindowsOf(const PhaseTraits& traits, std::span<const AlignedLane> lanes,
                       std::optional<CoordTime> warmup_end) {
  PhaseWindows windows;
  windows.full = FullWindow(lanes, warmup_end);
  windows.stonewall = StonewallWindow(lanes, warmup_end);
  if (OnlyFlushedCounts(traits)) return windows;
  windows.all_active = AllActiveWindow(lanes, warmup_end);
  if (traits.deadline_s > 0) windows.deadline = DeadlineWindow(lanes, warmup_end);
  return windows;
}

BothRates RateIn(const std::optional<Window>& window, const Moved& moved) {
  return window ? RateOf(moved, window->seconds()) : kNoRate;
}

// What one lane, or all of them, did in each of the phase's windows.
struct InWindows {
  Moved in_region;  // by the end of the timed region, excluding the warm-up
  Moved at_stonewall, all_active, deadline;

  InWindows& operator+=(const InWindows& other) {
    in_region += other.in_region;
    at_stonewall += other.at_stonewall;
    all_active += other.all_active;
    deadline += other.deadline;
    return *this;
  }
};

InWindows Count(const AlignedLane& lane, const PhaseWindows& windows,
                std::span<const AlignedPoint> timeline) {
  InWindows lane_in;
  if (!lane.started) return lane_in;
  lane_in.in_region = {Exactly(static_cast<double>(lane.result->region_bytes())),
                       Exactly(static_cast<double>(lane.result->region_ops()))};
  if (windows.full && !windows.full->from_first_op) {
    const CoordTime begin = windows.full->begin;
    lane_in.in_region = Less(lane_in.in_region, BytesAt(timeline, begin, lane.error_ns(begin)));
  }
  if (windows.stonewall) lane_in.at_stonewall = MovedIn(*windows.stonewall, lane, timeline);
  if (windows.all_active) lane_in.all_active = MovedIn(*windows.all_active, lane, timeline);
  if (windows.deadline) lane_in.deadline = MovedIn(*windows.deadline, lane, timeline);
  return lane_in;
}

// Returns the part of a lane's pauses (think time, bursts) between two instants, assuming that pauses are spread evenly
// over its ops.
double LeftOutSeconds(const AlignedLane& lane, CoordTime begin, CoordTime end) {
  const double ops_s = SecondsFrom(lane.ops_end - lane.first_op);
  const double within_s = SecondsFrom(std::min(end, lane.ops_end) - std::max(begin, lane.first_op));
  if (lane.result->pause_s() <= 0 || ops_s <= 0 || within_s <= 0) return 0;
  return std::min(lane.result->pause_s(), ops_s) * within_s / ops_s;
}

// Returns a lane's time between two instants without the pauses that the plan excludes. If pauses take almost all of
// it, the difference is mostly rounding, so it is limited to at least the duration of the lane's ops, which are timed
// separately (a lane that pauses has one op at a time).
double OwnSeconds(const AlignedLane& lane, CoordTime begin, CoordTime end, const Moved& measured) {
  const double own_s = std::max(0.0, SecondsFrom(end - std::max(lane.first_op, begin)));
  const double left_out_s = LeftOutSeconds(lane, begin, end);
  if (left_out_s == 0) return own_s;
  const double in_ops_s = std::min(own_s, measured.ops.value * MeanOpSeconds(*lane.result));
  return std::max(own_s - left_out_s, in_ops_s);
}

double RateOfLane(double amount, double own_seconds) {
  return amount == 0 ? 0 : Rate(amount, own_seconds);
}

// Counts every lane, appends its part of the headline to `figures`, and returns the sums. REQUIRES: there is a full
// window.
InWindows CountLanes(const PhaseTraits& traits, const PhaseWindows& windows,
                     std::span<const AlignedLane> lanes, std::vector<LaneFigures>& figures) {
  const bool retroactive = traits.headline_is_retroactive();
  InWindows all;
  std::vector<AlignedPoint> timeline;
  for (const AlignedLane& lane : lanes) {
    TimelineOf(lane, timeline);
    const InWindows lane_in = Count(lane, windows, timeline);
    all += lane_in;
    LaneFigures& mine = figures.emplace_back();
    mine.measured = retroactive ? lane_in.at_stonewall : lane_in.in_region;
    if (!lane.started) continue;
    const CoordTime end = retroactive && windows.stonewall ? windows.stonewall->end : lane.region_end;
    mine.own_seconds = OwnSeconds(lane, windows.full->begin, end, mine.measured);
  }
  return all;
}

BothRates ChildrenOf(std::span<const LaneFigures> lanes) {
  BothRates sum = {0, 0};
  for (const LaneFigures& lane : lanes) {
    sum.bytes_per_s += lane.bytes_per_s();
    sum.ops_per_s += lane.ops_per_s();
  }
  return sum;
}

BothRates ParentOf(const AlignedPhase& aligned, const Moved& in_regions, CoordTime begin) {
  int64_t last_done_ns = 0;
  for (const AlignedWorker& worker : aligned.workers) {
    if (worker.missing_reason.empty()) last_done_ns = std::max(last_done_ns, worker.result->done_coord_ns());
  }
  if (last_done_ns == 0) return kNoRate;
  return RateOf(in_regions, SecondsFrom(last_done_ns - begin.ns));
}

}  // namespace

double LaneFigures::bytes_per_s() const {
  return RateOfLane(measured.bytes.value, own_seconds);
}
double LaneFigures::ops_per_s() const {
  return RateOfLane(measured.ops.value, own_seconds);
}

PhaseFigures FiguresOf(const v1::PhaseRecord& phase, const PhaseTraits& traits, const AlignedPhase& aligned) {
  const std::vector<AlignedLane>& lanes = aligned.lanes;
  PhaseFigures figures;
  figures.headline = figures.full = figures.stonewalled = figures.all_active = kNoRate;
  figures.children = figures.parent = figures.deadline = kNoRate;
  figures.straggler_cost = kNaN;

  const CoordTime start{phase.start_coord_ns()};
  std::optional<CoordTime> warmup_end;
  if (traits.warmup_s > 0) warmup_end = start + NanosFrom(traits.warmup_s);
  const PhaseWindows windows = WindowsOf(traits, lanes, warmup_end);
  if (!windows.full) {
    figures.lanes.resize(lanes.size());
    return figures;
  }
  figures.first_op = *FirstOpOf(lanes);
  figures.duration_s = SecondsFrom(windows.full->end - figures.first_op);
  figures.first_to_end = FirstToEnd(lanes);
  if (windows.stonewall) figures.stonewall_at_s = SecondsFrom(windows.stonewall->end - figures.first_op);

  const InWindows all = CountLanes(traits, windows, lanes, figures.lanes);
  const BothRates over_regions = RateIn(windows.full, all.in_region);
  const bool any_stopped =
      std::any_of(lanes.begin(), lanes.end(), [](const AlignedLane& lane) { return lane.result->stopped(); });
  // With other stonewall kinds, only the user's interrupt stops lanes, and the rate of what was done by then is valid.
  if (!any_stopped || !StopsLanes(traits.stonewall)) figures.full = over_regions;
  const bool flushed = traits.stonewall == v1::STONEWALL_FLUSHED;
  if (flushed) {
    figures.stonewalled = over_regions;
  } else if (!OnlyFlushedCounts(traits)) {
    figures.stonewalled = RateIn(windows.stonewall, all.at_stonewall);
  }
  figures.all_active = RateIn(windows.all_active, all.all_active);
  figures.deadline = RateIn(windows.deadline, all.deadline);
  figures.children = ChildrenOf(figures.lanes);
  figures.parent = ParentOf(aligned, all.in_region, warmup_end.value_or(start));
  const auto unit = traits.headline_in_ops ? &BothRates::ops_per_s : &BothRates::bytes_per_s;
  figures.straggler_cost = 1 - figures.full.*unit / figures.stonewalled.*unit;
  if (!std::isfinite(figures.straggler_cost)) figures.straggler_cost = kNaN;

  const bool retroactive = traits.headline_is_retroactive();
  const std::optional<Window>& headline_window = retroactive ? windows.stonewall : windows.full;
  figures.headline = traits.stonewall == v1::STONEWALL_NONE ? figures.full : figures.stonewalled;
  figures.measured = retroactive ? all.at_stonewall : all.in_region;
  figures.headline_seconds = headline_window ? headline_window->seconds() : 0;
  figures.at_stonewall = flushed ? all.in_region : all.at_stonewall;
  return figures;
}

v1::StartReport StartOf(const v1::PhaseRecord& phase, const AlignedPhase& aligned, double duration_s) {
  v1::StartReport start;
  start.set_attempts(phase.start_attempts());
  // The earliest and latest of s - e, s and s + e.
  int64_t first_low = INT64_MAX, last_low = INT64_MIN;
  int64_t first = INT64_MAX, last = INT64_MIN;
  int64_t first_high = INT64_MAX, last_high = INT64_MIN;
  bool any = false;
  for (const AlignedLane& lane : aligned.lanes) {
    if (!lane.started) continue;
    any = true;
    const int64_t at = lane.first_op.ns;
    const int64_t error_ns = lane.error_ns(lane.first_op);
    first_low = std::min(first_low, at - error_ns);
    last_low = std::max(last_low, at - error_ns);
    first = std::min(first, at);
    last = std::max(last, at);
    first_high = std::min(first_high, at + error_ns);
    last_high = std::max(last_high, at + error_ns);
  }
  if (!any) {
    start.set_skew_us(kNaN);
    start.set_skew_low_us(kNaN);
    start.set_skew_high_us(kNaN);
    start.set_skew_percent(kNaN);
    start.set_late_us(kNaN);
    return start;
  }
  const auto us_from = [](int64_t ns) { return static_cast<double>(ns) / 1e3; };
  start.set_skew_us(us_from(last - first));
  start.set_skew_low_us(us_from(std::max<int64_t>(0, last_low - first_high)));
  start.set_skew_high_us(us_from(last_high - first_low));
  start.set_skew_percent(duration_s > 0 ? 100 * SecondsFrom(last - first) / duration_s : kNaN);
  start.set_late_us(us_from(first - phase.start_coord_ns()));
  return start;
}

}  // namespace iobench
