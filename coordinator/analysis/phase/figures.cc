#include "coordinator/analysis/phase/figures.h"

#include <algorithm>
#include <cmath>

#include "common/not_a_number.h"
#include "coordinator/analysis/phase/latency.h"

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

// What one lane did in each of the phase's windows.
struct LaneInWindows {
  Moved in_region;  // by the end of its timed region, excluding the warm-up
  Moved at_stonewall, all_active, deadline;
};

struct PhaseWindows {
  std::optional<Window> full, stonewall, all_active, deadline;
};

LaneInWindows Count(const AlignedLane& lane, const PhaseWindows& windows,
                    std::span<const AlignedPoint> timeline) {
  LaneInWindows lane_in;
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
  figures.lanes.resize(lanes.size());

  const bool retroactive = traits.headline_is_retroactive();
  // Bytes up to an instant within the ops are unflushed, so they give no figure next to a headline that counts flushed
  // bytes.
  const bool only_flushed_counts = traits.flush_in_region && !retroactive;
  const CoordTime start{phase.start_coord_ns()};
  std::optional<CoordTime> warmup_end;
  if (traits.warmup_s > 0) warmup_end = start + NanosFrom(traits.warmup_s);
  PhaseWindows windows = {
      .full = FullWindow(lanes, warmup_end),
      .stonewall = StonewallWindow(lanes, warmup_end),
      .all_active = std::nullopt,
      .deadline = std::nullopt,
  };
  if (!windows.full) return figures;
  if (!only_flushed_counts) {
    windows.all_active = AllActiveWindow(lanes, warmup_end);
    if (traits.deadline_s > 0) windows.deadline = DeadlineWindow(lanes, warmup_end);
  }
  const CoordTime begin = windows.full->begin;
  figures.first_op = *FirstOpOf(lanes);
  figures.duration_s = SecondsFrom(windows.full->end - figures.first_op);
  figures.first_to_end = FirstToEnd(lanes);
  if (windows.stonewall) figures.stonewall_at_s = SecondsFrom(windows.stonewall->end - figures.first_op);

  Moved in_regions, at_stonewall, all_active, deadline;
  bool any_stopped = false;
  BothRates children = {0, 0};
  std::vector<AlignedPoint> timeline;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const AlignedLane& lane = lanes[i];
    TimelineOf(lane, timeline);
    const LaneInWindows lane_in = Count(lane, windows, timeline);
    in_regions += lane_in.in_region;
    at_stonewall += lane_in.at_stonewall;
    all_active += lane_in.all_active;
    deadline += lane_in.deadline;
    any_stopped |= lane.result->stopped();

    LaneFigures& mine = figures.lanes[i];
    mine.measured = retroactive ? lane_in.at_stonewall : lane_in.in_region;
    if (lane.started) {
      const CoordTime end = retroactive && windows.stonewall ? windows.stonewall->end : lane.region_end;
      mine.own_seconds = OwnSeconds(lane, begin, end, mine.measured);
    }
    children.bytes_per_s += mine.bytes_per_s();
    children.ops_per_s += mine.ops_per_s();
  }

  const double full_s = windows.full->seconds();
  const double stonewall_s = windows.stonewall ? windows.stonewall->seconds() : 0;
  const BothRates over_regions = RateOf(in_regions, full_s);
  const BothRates up_to_stonewall = RateOf(at_stonewall, stonewall_s);
  // With other stonewall kinds, only the user's interrupt stops lanes, and the rate of what was done by then is valid.
  const bool stonewall_stops =
      traits.stonewall == v1::STONEWALL_FLUSHED || traits.stonewall == v1::STONEWALL_STOP;
  if (!any_stopped || !stonewall_stops) figures.full = over_regions;
  if (traits.stonewall == v1::STONEWALL_FLUSHED) {
    figures.stonewalled = over_regions;
  } else if (!only_flushed_counts) {
    figures.stonewalled = up_to_stonewall;
  }
  if (windows.all_active) figures.all_active = RateOf(all_active, windows.all_active->seconds());
  if (windows.deadline) figures.deadline = RateOf(deadline, windows.deadline->seconds());
  figures.children = children;
  figures.parent = ParentOf(aligned, in_regions, warmup_end.value_or(start));
  const auto unit = traits.metadata ? &BothRates::ops_per_s : &BothRates::bytes_per_s;
  figures.straggler_cost = 1 - figures.full.*unit / figures.stonewalled.*unit;
  if (!std::isfinite(figures.straggler_cost)) figures.straggler_cost = kNaN;

  figures.headline = traits.stonewall == v1::STONEWALL_NONE ? figures.full : figures.stonewalled;
  figures.measured = retroactive ? at_stonewall : in_regions;
  figures.headline_seconds = retroactive ? stonewall_s : full_s;
  figures.at_stonewall = traits.stonewall == v1::STONEWALL_FLUSHED ? in_regions : at_stonewall;
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
