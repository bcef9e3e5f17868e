#include "common/timeline.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

namespace iobench {
namespace {

// A lane that moves 100 bytes an op and updates its timeline as the timed loop does.
class Lane {
 public:
  explicit Lane(uint64_t first_interval_ticks, uint64_t start_ticks = 5'000)
      : timeline(first_interval_ticks), now_(start_ticks) {
    timeline.Start({now_});
  }
  void EndsOpAfter(uint64_t ticks) {
    now_ += ticks;
    ++ops_;
    timeline.Note({now_}, bytes(), ops_);
    if (Ticks{now_} >= timeline.next_point()) timeline.Keep({now_}, bytes(), ops_);
  }
  std::vector<LanePoint> Finished() {
    timeline.Finish({now_}, bytes(), ops_);
    return timeline.Points();
  }
  uint64_t now() const { return now_; }
  uint64_t bytes() const { return 100 * ops_; }
  uint64_t ops() const { return ops_; }

  ProgressTimeline timeline;

 private:
  uint64_t now_;
  uint64_t ops_ = 0;
};

uint64_t WidestGap(const std::vector<LanePoint>& points) {
  uint64_t widest = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    widest = std::max(widest, points[i].at.value - points[i - 1].at.value);
  }
  return widest;
}

// The points around an instant: the last at or before it, the first after it.
std::pair<LanePoint, LanePoint> Around(const std::vector<LanePoint>& points, uint64_t instant) {
  auto after = std::upper_bound(points.begin(), points.end(), instant,
                                [](uint64_t t, const LanePoint& point) { return t < point.at.value; });
  REQUIRE(after != points.begin());
  const LanePoint before = *(after - 1);
  return {before, after == points.end() ? before : *after};
}

TEST_CASE("a short phase keeps every op end and its origin", "[timeline]") {
  Lane lane(1'000'000, 5'000);
  lane.EndsOpAfter(10);
  lane.EndsOpAfter(20);
  lane.EndsOpAfter(30);
  const std::vector<LanePoint> expected = {
      {{5'000}, 0, 0}, {{5'010}, 100, 1}, {{5'030}, 200, 2}, {{5'060}, 300, 3}};
  CHECK(lane.Finished() == expected);
}

TEST_CASE("points are at least the interval apart", "[timeline]") {
  ProgressTimeline timeline(100);
  timeline.Start({1'000});
  CHECK(timeline.next_point().value == 1'100);
  timeline.Keep({1'130}, 10, 1);
  CHECK(timeline.next_point().value == 1'230);
  timeline.Finish({1'131}, 20, 2);  // the end, whatever the interval
  const std::vector<LanePoint> expected = {{{1'000}, 0, 0}, {{1'130}, 10, 1}, {{1'131}, 20, 2}};
  CHECK(timeline.Points() == expected);
}

TEST_CASE("an end later than the last op end is a point of its own", "[timeline]") {
  ProgressTimeline timeline(100);
  timeline.Start({0});
  timeline.Note({50}, 10, 1);
  timeline.Finish({80}, 10, 1);
  const std::vector<LanePoint> expected = {{{0}, 0, 0}, {{50}, 10, 1}, {{80}, 10, 1}};
  CHECK(timeline.Points() == expected);
}

TEST_CASE("a lane that did nothing has its start and its end", "[timeline]") {
  ProgressTimeline timeline(100);
  timeline.Start({7});
  timeline.Finish({9}, 0, 0);
  const std::vector<LanePoint> expected = {{{7}, 0, 0}, {{9}, 0, 0}};
  CHECK(timeline.Points() == expected);
}

TEST_CASE("of ten million even op ends no two neighbours are over 1/2048 of the phase apart", "[timeline]") {
  Lane lane(50'000);
  const uint64_t start = lane.now();
  for (int i = 0; i < 10'000'000; ++i) lane.EndsOpAfter(1'000);
  const std::vector<LanePoint> points = lane.Finished();
  CHECK(points.size() <= ProgressTimeline::kPointCount + ProgressTimeline::kRingCount);
  CHECK(WidestGap(points) * 2'048 <= lane.now() - start);
  CHECK(points.front() == LanePoint{{start}, 0, 0});
  CHECK(points.back() == LanePoint{{lane.now()}, 1'000'000'000, 10'000'000});
}

TEST_CASE("the gap holds wherever an even phase ends, also just after a thinning", "[timeline]") {
  Lane lane(65);  // seven ops of 10 ticks to a point: the interval is no multiple of the op
  const uint64_t start = lane.now();
  for (int op = 1; op <= 4'096 * 7 * 5; ++op) {
    lane.EndsOpAfter(10);
    // Full after 4095 points, each seven ops; checks every 1009th op, and closely around the first thinnings.
    const int since_full = op % (4'096 * 7);
    if (op < 2'048 * 7 || (op % 1'009 != 0 && since_full > 20 && since_full < 4'096 * 7 - 20)) continue;
    Lane ended = lane;
    const uint64_t gap = WidestGap(ended.Finished());
    if (gap * 2'048 > ended.now() - start) FAIL("gap " << gap << " after " << op << " ops");
  }
  SUCCEED();
}

TEST_CASE("the gap holds where one op takes longer than the first interval", "[timeline]") {
  Lane lane(10);
  const uint64_t start = lane.now();
  for (int i = 0; i < 1'000'000; ++i) lane.EndsOpAfter(100'000);
  CHECK(WidestGap(lane.Finished()) * 2'048 <= lane.now() - start);
}

TEST_CASE("the last 1024 op ends are exact", "[timeline]") {
  std::mt19937_64 random(3);
  Lane lane(1'000);
  std::vector<LanePoint> ends;
  for (int i = 0; i < 100'000; ++i) {
    lane.EndsOpAfter(1 + random() % 500);
    ends.push_back({{lane.now()}, lane.bytes(), lane.ops()});
  }
  const std::vector<LanePoint> points = lane.Finished();
  REQUIRE(points.size() >= ProgressTimeline::kRingCount);
  CHECK(std::equal(points.end() - ProgressTimeline::kRingCount, points.end(),
                   ends.end() - ProgressTimeline::kRingCount));
}

TEST_CASE("at any instant the true progress lies between the points around it", "[timeline]") {
  std::mt19937_64 random(11);
  Lane lane(64);
  std::vector<uint64_t> op_ends;
  for (int i = 0; i < 300'000; ++i) {
    lane.EndsOpAfter(1 + (random() % 100 == 0 ? 5'000 : random() % 40));  // now and then a slow op
    op_ends.push_back(lane.now());
  }
  const uint64_t end = lane.now();
  const std::vector<LanePoint> points = lane.Finished();
  for (size_t i = 1; i < points.size(); ++i) {
    REQUIRE(points[i].at > points[i - 1].at);
    REQUIRE(points[i].bytes > points[i - 1].bytes);
    REQUIRE(points[i].ops > points[i - 1].ops);
  }
  uint64_t last_low = 0;
  for (uint64_t instant = 5'000; instant < end; instant += 1 + random() % 4'000) {
    const auto true_ops =
        static_cast<uint64_t>(std::upper_bound(op_ends.begin(), op_ends.end(), instant) - op_ends.begin());
    const auto [before, after] = Around(points, instant);
    REQUIRE(before.ops <= true_ops);
    REQUIRE(true_ops <= after.ops);
    REQUIRE(before.bytes == 100 * before.ops);
    REQUIRE(before.bytes >= last_low);
    last_low = before.bytes;
    if (true_ops + ProgressTimeline::kRingCount > op_ends.size()) REQUIRE(before.ops == true_ops);
  }
}

TEST_CASE("starting again forgets the phase before, in points and ring", "[timeline]") {
  Lane lane(10);
  for (int i = 0; i < 100'000; ++i) lane.EndsOpAfter(10);
  lane.timeline.Start({2'000'000});
  CHECK(lane.timeline.next_point().value == 2'000'010);  // the first interval again
  lane.timeline.Note({2'000'005}, 7, 1);
  lane.timeline.Finish({2'000'005}, 7, 1);
  const std::vector<LanePoint> expected = {{{2'000'000}, 0, 0}, {{2'000'005}, 7, 1}};
  CHECK(lane.timeline.Points() == expected);
}

std::vector<WorkerPoint> EvenPoints(int count) {
  std::vector<WorkerPoint> points;
  points.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i)
    points.push_back({{1'000 + 10 * i}, 100u * static_cast<uint64_t>(i), static_cast<uint64_t>(i)});
  return points;
}

bool Holds(const std::vector<WorkerPoint>& points, const WorkerPoint& wanted) {
  return std::find(points.begin(), points.end(), wanted) != points.end();
}

TEST_CASE("thinning keeps the first, the last and an even choice between", "[timeline]") {
  const std::vector<WorkerPoint> points = EvenPoints(1'001);  // 10 us
  const std::vector<WorkerPoint> thinned = Thinned(points, {}, 11);
  REQUIRE(thinned.size() == 11);
  for (size_t i = 0; i < thinned.size(); ++i) CHECK(thinned[i] == points[100 * i]);
}

TEST_CASE("thinning is even in time, not in points", "[timeline]") {
  // The ring's 1000 points lie in the last 1 % of the phase.
  std::vector<WorkerPoint> points;
  points.reserve(1'100);
  for (int i = 0; i < 100; ++i) points.push_back({{1'000 * i}, 0, 0});
  for (int i = 0; i < 1'000; ++i) points.push_back({{99'001 + i}, 0, 0});
  const std::vector<WorkerPoint> thinned = Thinned(points, {}, 101);
  CHECK(thinned.size() <= 101);
  CHECK(std::count_if(thinned.begin(), thinned.end(),
                      [](const WorkerPoint& p) { return p.at.ns < 99'001; }) >= 98);
}

TEST_CASE("thinning keeps the points that bracket each instant", "[timeline]") {
  const std::vector<WorkerPoint> points = EvenPoints(10'000);
  const std::vector<WorkerTime> instants = {{51'234}, {51'300}, {0}, {999'999'999}, {1'005}};
  const std::vector<WorkerPoint> thinned = Thinned(points, instants, 10);
  CHECK(thinned.size() <= 10 + 4 * instants.size());
  CHECK(Holds(thinned, points[5'022]));
  CHECK(Holds(thinned, points[5'023]));  // 51,230
  CHECK(Holds(thinned, points[5'024]));
  CHECK(Holds(thinned, points[5'025]));  // one more, where the mapped instant lands on the next op end
  CHECK(Holds(thinned,
              points[5'029]));  // 51,300 is an op end: itself and both neighbours, for the rounding of clocks
  CHECK(Holds(thinned, points[5'030]));
  CHECK(Holds(thinned, points[5'031]));
  CHECK(Holds(thinned, points[1]));
  CHECK(thinned.front() == points.front());
  CHECK(thinned.back() == points.back());
  CHECK(std::is_sorted(thinned.begin(), thinned.end(),
                       [](const WorkerPoint& a, const WorkerPoint& b) { return a.at < b.at; }));
}

TEST_CASE("what is few already is not thinned", "[timeline]") {
  CHECK(Thinned({}, {}, 10).empty());
  CHECK(Thinned(EvenPoints(10), {}, 10) == EvenPoints(10));
  CHECK(Thinned(EvenPoints(2), {}, 0) == EvenPoints(2));
  CHECK(Thinned(EvenPoints(100), {}, 0).size() == 2);
  CHECK(Thinned(EvenPoints(100), {}, 2).size() == 2);
}

TEST_CASE("a timeline travels in small differences and comes back the same", "[timeline]") {
  const std::vector<WorkerPoint> points = {{{-5}, 0, 0}, {{1'000}, 64, 1}, {{1'500}, 640, 10}};
  const v1::Timeline message = ToProto(points);
  REQUIRE(message.at_worker_ns_size() == 3);
  CHECK(message.at_worker_ns(0) == -5);
  CHECK(message.at_worker_ns(2) == 500);
  CHECK(message.bytes(2) == 576);
  CHECK(message.ops(2) == 9);
  CHECK(FromProto(message) == points);
  CHECK(FromProto(ToProto({})).empty());
  const std::vector<WorkerPoint> extreme = {{{INT64_MAX}, UINT64_MAX, 0}, {{INT64_MIN}, 1, UINT64_MAX}};
  CHECK(FromProto(ToProto(extreme)) == extreme);
}

TEST_CASE("of a message with lists of unequal length the shortest counts", "[timeline]") {
  v1::Timeline message = ToProto(EvenPoints(5));
  message.mutable_ops()->RemoveLast();
  message.mutable_bytes()->Truncate(3);
  CHECK(FromProto(message) == EvenPoints(3));
}

}  // namespace
}  // namespace iobench
