#include "coordinator/analysis/explain/over_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

#include "coordinator/analysis/marks/stalls.h"
#include "coordinator/analysis/phase/window.h"
#include "coordinator/analysis/statistics/dependence.h"
#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

constexpr double kMinSliceSeconds = 0.05;
constexpr size_t kMaxSlices = 240;
// A series is slow in so many of these parts of the time: one that stood still for a while is not. A few ops may end in a
// slice, so that its rate says little.
constexpr size_t kParts = 10, kMostParts = 8;
// A part counts in which the others did at least this share of their mean: a host that stands still makes all equally slow.
constexpr double kMinActivity = 0.25;
constexpr size_t kMinParts = 5;
constexpr double kChance = 0.01;     // that one of the series looks slow by chance

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

// Adds what a lane did in each slice, times `weight`. Between two points of its timeline, progress is taken to be even.
void AddSlices(const Span& time, std::span<const AlignedPoint> points, bool in_ops, double weight,
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
    slices[i] += weight * std::max(0.0, now - before);
    before = now;
  }
}

void FillRates(const PhaseView& view, const v1::PhaseReport& report, OverTime& over_time) {
  const size_t roster_count = view.roster.client_count();
  std::vector<std::vector<GroupShare>> shares;
  std::vector<double> lanes(roster_count);
  for (const AlignedLane& lane : view.aligned.lanes) {
    std::vector<GroupShare>& of_lane = shares.emplace_back();
    if (!lane.started || lane.worker >= view.roster.worker_count()) continue;
    const size_t client = view.roster.ClientOf(lane.worker);
    of_lane.push_back({client});
    ++lanes[client];
  }
  GroupRates clients = GroupRatesOf(view, roster_count, shares);
  if (clients.seconds == 0) return;
  over_time.begin = clients.begin;
  over_time.begin_s = SecondsFrom(clients.begin - FirstOpOf(view.aligned.lanes).value_or(clients.begin));
  over_time.seconds = clients.seconds;
  if (clients.rates.empty()) return;
  for (const std::vector<double>& client : clients.rates) {
    over_time.rates.resize(client.size());
    for (size_t slice = 0; slice < client.size(); ++slice) over_time.rates[slice] += client[slice];
  }
  for (const v1::ClientPhaseReport& client : report.clients()) {
    std::vector<double>& rates = over_time.lane_rates.emplace_back();
    if (client.workers().empty() || client.workers(0).worker() >= view.roster.worker_count()) continue;
    const size_t number = view.roster.ClientOf(client.workers(0).worker());
    if (lanes[number] == 0) continue;
    rates = clients.rates[number];
    for (double& rate : rates) rate /= lanes[number];
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

GroupRates GroupRatesOf(const PhaseView& view, size_t group_count, std::span<const std::vector<GroupShare>> shares) {
  GroupRates groups;
  const std::optional<Span> time = AllAtWork(view);
  if (!time) return groups;
  groups.begin = time->begin;
  groups.seconds = SecondsFrom(time->end - time->begin);
  const auto count = std::min(kMaxSlices, static_cast<size_t>(groups.seconds / kMinSliceSeconds));
  if (count < kMinSeries) return groups;
  groups.rates.assign(group_count, std::vector<double>(count));
  std::vector<AlignedPoint> points;
  for (size_t i = 0; i < view.aligned.lanes.size(); ++i) {
    const AlignedLane& lane = view.aligned.lanes[i];
    if (!lane.started || shares[i].empty()) continue;
    TimelineOf(lane, points);
    for (const GroupShare& share : shares[i])
      AddSlices(*time, points, view.traits.headline_in_ops, share.weight, groups.rates[share.group]);
  }
  const double slice_s = groups.seconds / static_cast<double>(count);
  for (std::vector<double>& rates : groups.rates) {
    for (double& rate : rates) rate /= slice_s;
  }
  return groups;
}

bool IsBelowThroughout(std::span<const double> rates, std::span<const double> expected, double share, size_t judged_count) {
  // A ratio of sums, not a mean of ratios: in single slices of a busy host, a ratio is anything.
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double expected_sum = std::accumulate(expected.begin(), expected.end(), 0.0);
  const double ratio = sum / expected_sum;
  if (!(ratio < share)) return false;
  size_t below = 0, parts = 0;
  for (size_t part = 0; part < kParts; ++part) {
    const auto sum_of = [part](std::span<const double> values) {
      const size_t begin = part * values.size() / kParts, end = (part + 1) * values.size() / kParts;
      const std::span<const double> of_part = values.subspan(begin, end - begin);
      return std::accumulate(of_part.begin(), of_part.end(), 0.0);
    };
    const double of_part = sum_of(rates), expected_of_part = sum_of(expected);
    if (expected_of_part * static_cast<double>(kParts) < kMinActivity * expected_sum) continue;
    ++parts;
    below += of_part < share * expected_of_part;
  }
  if (parts < kMinParts || below * kParts < kMostParts * parts) return false;
  // The error of the ratio, to first order. What slows all down for a while cancels out. How slow the series is may drift:
  // the parts show whether it is always so.
  std::vector<double> residuals;
  for (size_t slice = 0; slice < rates.size(); ++slice) residuals.push_back(rates[slice] - ratio * expected[slice]);
  const std::optional<MeanError> error = ErrorWithin(residuals);
  if (!error.has_value()) return false;
  const double ratio_error = error->error * static_cast<double>(rates.size()) / expected_sum;
  return ratio + StudentQuantile(kChance / static_cast<double>(judged_count), error->degrees) * ratio_error < share;
}

bool IsSlowThroughout(const std::vector<std::vector<double>>& rates, size_t slow, double share) {
  std::vector<double> others;
  for (size_t slice = 0; slice < rates[slow].size(); ++slice) {
    double sum = 0, count = 0;
    for (size_t each = 0; each < rates.size(); ++each) {
      if (each == slow || rates[each].size() <= slice) continue;
      sum += rates[each][slice];
      ++count;
    }
    if (count == 0) return false;
    others.push_back(sum / count);
  }
  return IsBelowThroughout(rates[slow], others, share, rates.size());
}

OverTime OverTimeOf(const PhaseView& view, const v1::PhaseReport& report) {
  OverTime over_time;
  FillRates(view, report, over_time);
  FillStalls(view, over_time);
  FillFirstOp(view, over_time);
  return over_time;
}

}  // namespace iobench
