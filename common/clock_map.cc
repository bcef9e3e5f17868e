#include "common/clock_map.h"

#include <algorithm>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/text/units.h"

namespace iobench {
namespace {

// Theta may change by one nanosecond in this many. Uses integers because theta can be months, at which a double no
// longer resolves nanoseconds.
constexpr int64_t kNsPerNsOfDrift = static_cast<int64_t>(1e6 / kMaxDriftPpm);
static_assert(kNsPerNsOfDrift * kMaxDriftPpm == 1e6);

// Returns what a burst proves about theta at its middle. w1 - c1 bounds theta at the time w1, and exceeds it by the
// time that the ping was in transit; so extending the bound from c1 to `at` also extends it from w1.
absl::StatusOr<OffsetInterval> BoundsOf(const v1::PingBurst& burst, bool with_drift) {
  if (burst.samples().empty()) return absl::InvalidArgumentError("clock: a burst without a single ping");
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  for (const v1::PingSample& sample : burst.samples()) {
    first_ns = std::min(first_ns, sample.sent_coord_ns());
    last_ns = std::max(last_ns, sample.returned_coord_ns());
  }
  const int64_t at_ns = first_ns + (last_ns - first_ns) / 2;
  const auto drift_ns = [at_ns, with_drift](int64_t ns) {
    return with_drift ? std::abs(ns - at_ns) / kNsPerNsOfDrift : 0;
  };
  OffsetInterval interval{{at_ns}, INT64_MIN, INT64_MAX};
  for (const v1::PingSample& sample : burst.samples()) {
    const int64_t sent_ns = sample.sent_coord_ns();
    const int64_t returned_ns = sample.returned_coord_ns();
    interval.low_ns =
        std::max(interval.low_ns, sample.replied_worker_ns() - returned_ns - drift_ns(returned_ns));
    interval.high_ns = std::min(interval.high_ns, sample.received_worker_ns() - sent_ns + drift_ns(sent_ns));
  }
  if (interval.low_ns > interval.high_ns) {
    return absl::AbortedError(absl::StrCat("clock: the pings of one burst contradict each other by ",
                                           FormatSeconds(SecondsFrom(interval.low_ns - interval.high_ns)),
                                           "; a clock was stepped"));
  }
  return interval;
}

OffsetInterval CarriedTo(CoordTime at, const OffsetInterval& from) {
  // Rounded up, because lost nanoseconds would add up over thousands of polls.
  const int64_t drift_ns = (std::abs(at - from.at) + kNsPerNsOfDrift - 1) / kNsPerNsOfDrift;
  return {at, from.low_ns - drift_ns, from.high_ns + drift_ns};
}

OffsetInterval Intersection(const OffsetInterval& a, const OffsetInterval& b) {
  return {a.at, std::max(a.low_ns, b.low_ns), std::min(a.high_ns, b.high_ns)};
}

int64_t MiddleNs(const OffsetInterval& interval) {
  return interval.low_ns + (interval.high_ns - interval.low_ns) / 2;
}

}  // namespace

absl::StatusOr<OffsetInterval> IntervalOf(const v1::PingBurst& burst) {
  return BoundsOf(burst, /*with_drift=*/false);
}

absl::StatusOr<ClockMap> ClockMap::Fit(std::span<const v1::PingBurst> bursts) {
  if (bursts.empty()) return absl::InvalidArgumentError("clock: no ping came back from the worker");
  ClockMap map;
  for (const v1::PingBurst& burst : bursts) {
    // Theta also drifts within a burst: 50 us over 100 ms, more than the uncertainty of a good path.
    absl::StatusOr<OffsetInterval> interval = BoundsOf(burst, /*with_drift=*/true);
    if (!interval.ok()) return interval.status();
    map.intervals_.push_back(*interval);
  }
  std::vector<OffsetInterval>& intervals = map.intervals_;
  std::sort(intervals.begin(), intervals.end(),
            [](const OffsetInterval& a, const OffsetInterval& b) { return a.at < b.at; });
  // Drift allowances add up along the time axis. Passing each interval to its neighbour, once forwards and once
  // backwards, therefore intersects every interval with all others, and At() needs only the two around its instant. If
  // no interval is empty at the bursts, none is empty between them (triangle inequality).
  for (size_t k = 1; k < intervals.size(); ++k) {
    intervals[k] = Intersection(intervals[k], CarriedTo(intervals[k].at, intervals[k - 1]));
  }
  for (size_t k = intervals.size() - 1; k-- > 0;) {
    intervals[k] = Intersection(intervals[k], CarriedTo(intervals[k].at, intervals[k + 1]));
  }
  for (const OffsetInterval& interval : intervals) {
    if (interval.low_ns > interval.high_ns) {
      return absl::AbortedError(
          absl::StrCat("clock: the offsets measured over the phase contradict each other by ",
                       FormatSeconds(SecondsFrom(interval.low_ns - interval.high_ns)), " more than a drift of ", kMaxDriftPpm,
                       " ppm allows; a clock was stepped"));
    }
  }
  return map;
}

OffsetInterval ClockMap::At(CoordTime at) const {
  if (intervals_.empty()) return {at, 0, 0};
  const auto next =
      std::lower_bound(intervals_.begin(), intervals_.end(), at,
                       [](const OffsetInterval& interval, CoordTime t) { return interval.at < t; });
  if (next == intervals_.begin()) return CarriedTo(at, *next);
  const OffsetInterval from_before = CarriedTo(at, *(next - 1));
  if (next == intervals_.end()) return from_before;
  return Intersection(from_before, CarriedTo(at, *next));
}

CoordTime ClockMap::ToCoordinator(WorkerTime t) const {
  if (intervals_.empty()) return {t.ns};
  // Solves c + theta(c) = t. Each step divides the error by 2000, since theta's slope is at most kMaxDriftPpm. Starting
  // with the first burst's theta, three steps leave less than 1 ns after an hour's drift.
  CoordTime c{t.ns - MiddleNs(intervals_.front())};
  for (int step = 0; step < 3; ++step) {
    const int64_t before_ns = c.ns;
    c.ns = t.ns - MiddleNs(At(c));
    if (c.ns == before_ns) break;  // as would all other steps
  }
  return c;
}

WorkerTime ClockMap::ToWorker(CoordTime t) const {
  return {t.ns + MiddleNs(At(t))};
}

double ClockMap::offset_ns(CoordTime at) const {
  const OffsetInterval interval = At(at);
  return static_cast<double>(interval.low_ns) + static_cast<double>(interval.high_ns - interval.low_ns) / 2;
}

int64_t ClockMap::error_ns(CoordTime at) const {
  const OffsetInterval interval = At(at);
  const int64_t half_width_ns = (interval.high_ns - interval.low_ns + 1) / 2;
  // ToCoordinator evaluates theta at an instant that itself has the error e, hence e <= half + drift * e.
  return half_width_ns + half_width_ns / (kNsPerNsOfDrift - 1);
}

}  // namespace iobench
