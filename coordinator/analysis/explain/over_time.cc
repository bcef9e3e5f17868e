#include "coordinator/analysis/explain/over_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "coordinator/analysis/marks/stalls.h"
#include "coordinator/analysis/statistics/dependence.h"

namespace iobench {
namespace {

constexpr double kMinSliceSeconds = 0.05;
constexpr size_t kMaxSlices = 240;

struct Span {
  CoordTime begin, end;
};

// When all lanes had work and no warm-up. nullopt: never.
std::optional<Span> AllAtWork(const PhaseView& view) {
  std::optional<Span> time;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started) continue;
    if (!time) time = Span{lane.first_op, lane.ops_end};
    time->begin = std::max(time->begin, lane.first_op);
    time->end = std::min(time->end, lane.ops_end);
  }
  if (!time) return std::nullopt;
  time->begin =
      std::max(time->begin, CoordTime{view.phase.start_coord_ns()} + NanosFrom(view.traits.warmup_s));
  return time->end > time->begin ? time : std::nullopt;
}

// Adds what a lane did in each slice. Between two points of its timeline, progress is taken to be even.
void AddSlices(const Span& time, std::span<const AlignedPoint> points, bool in_ops,
               std::vector<double>& slices) {
  const double slice_ns = static_cast<double>(time.end - time.begin) / static_cast<double>(slices.size());
  const auto done = [in_ops](const AlignedPoint& point) {
    return static_cast<double>(in_ops ? point.ops : point.bytes);
  };
  size_t next = 0;
  const auto done_at = [&](double ns) {  // ascending from call to call
    const auto after = [&](size_t i) { return static_cast<double>(points[i].at - time.begin); };
    while (next < points.size() && after(next) < ns) ++next;
    if (next == points.size()) return points.empty() ? 0.0 : done(points.back());
    if (next == 0) return done(points.front());
    const double from = after(next - 1), to = after(next);
    const double part = to > from ? (ns - from) / (to - from) : 1;
    return done(points[next - 1]) + part * (done(points[next]) - done(points[next - 1]));
  };
  double before = done_at(0);
  for (size_t i = 0; i < slices.size(); ++i) {
    const double now = done_at(slice_ns * static_cast<double>(i + 1));
    slices[i] += std::max(0.0, now - before);
    before = now;
  }
}

void FillRates(const PhaseView& view, const v1::PhaseReport& report, OverTime& over_time) {
  const std::optional<Span> time = AllAtWork(view);
  if (!time) return;
  over_time.seconds = SecondsFrom(time->end - time->begin);
  const auto count = std::min(kMaxSlices, static_cast<size_t>(over_time.seconds / kMinSliceSeconds));
  if (count < kMinSeries) return;
  const size_t roster_count = view.roster.client_count();
  std::vector<std::vector<double>> of_client(roster_count, std::vector<double>(count));
  std::vector<double> lanes(roster_count);
  std::vector<AlignedPoint> points;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started || lane.worker >= view.roster.worker_count()) continue;
    const size_t client = view.roster.ClientOf(lane.worker);
    TimelineOf(lane, points);
    AddSlices(*time, points, view.traits.headline_in_ops, of_client[client]);
    ++lanes[client];
  }
  const double slice_s = over_time.seconds / static_cast<double>(count);
  for (const v1::ClientPhaseReport& client : report.clients()) {
    std::vector<double>& rates = over_time.lane_rates.emplace_back();
    if (client.workers().empty() || client.workers(0).worker() >= view.roster.worker_count()) continue;
    const size_t number = view.roster.ClientOf(client.workers(0).worker());
    if (lanes[number] == 0) continue;
    rates = of_client[number];
    for (double& rate : rates) rate /= slice_s * lanes[number];
  }
}

// Both are ascending, and so is the result.
std::vector<Span> InBoth(std::span<const Span> a, std::span<const Span> b) {
  std::vector<Span> both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Span part{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (part.end > part.begin) both.push_back(part);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return both;
}

// A lane that has no work yet or any more holds nobody up.
void FillStalls(const PhaseView& view, OverTime& over_time) {
  std::optional<std::vector<Span>> still;
  std::optional<Span> whole;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started) continue;
    if (!whole) whole = Span{lane.first_op, lane.region_end};
    whole->begin = std::min(whole->begin, lane.first_op);
    whole->end = std::max(whole->end, lane.region_end);
  }
  if (!whole || whole->end <= whole->begin) return;
  const double phase_s = SecondsFrom(whole->end - whole->begin);
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started || lane.clock == nullptr) continue;
    std::vector<Span> of_lane = {{whole->begin, lane.first_op}};
    for (const LaneStall& stall : StallsOf(*lane.result, phase_s)) {
      of_lane.push_back({lane.clock->ToCoordinator({stall.begin_worker_ns}),
                         lane.clock->ToCoordinator({stall.end_worker_ns})});
    }
    of_lane.push_back({lane.region_end, whole->end});
    still = still ? InBoth(*still, of_lane) : std::move(of_lane);
  }
  for (const Span& span : still.value_or(std::vector<Span>())) {
    if (span.end > span.begin) over_time.stalled_s += SecondsFrom(span.end - span.begin);
  }
  over_time.stalled_share = over_time.stalled_s / phase_s;
}

void FillFirstOp(const PhaseView& view, OverTime& over_time) {
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started) continue;
    // The first point is the lane's start, the next one the end of its first op, if it is slow enough to matter.
    const v1::Timeline& timeline = lane.result->timeline();
    if (timeline.ops_size() < 2 || timeline.at_worker_ns_size() < 2) continue;
    if (timeline.ops(0) != 0 || timeline.ops(1) != 1) continue;
    const double us =
        static_cast<double>(timeline.at_worker_ns(1)) / 1e3;  // coded as the difference to the first
    if (!(over_time.first_op_us <= us)) over_time.first_op_us = us;
  }
}

}  // namespace

OverTime OverTimeOf(const PhaseView& view, const v1::PhaseReport& report) {
  OverTime over_time;
  FillRates(view, report, over_time);
  FillStalls(view, over_time);
  FillFirstOp(view, over_time);
  return over_time;
}

}  // namespace iobench
