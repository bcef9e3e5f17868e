#include "coordinator/analysis/phase/window.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

struct WindowTotals {
  Moved moved;
  double seconds = 0;

  double bytes_per_s() const { return Rate(moved.bytes.value, seconds); }
};

// What all lanes moved within a window.
WindowTotals TotalsIn(const Window& window, std::span<const AlignedLane> lanes) {
  WindowTotals totals{.moved = {}, .seconds = window.seconds()};
  std::vector<AlignedPoint> timeline;
  for (const AlignedLane& lane : lanes) {
    TimelineOf(lane, timeline);
    totals.moved += MovedIn(window, lane, timeline);
  }
  return totals;
}

// 0 s: nothing; 1 s: 1 op, 10 bytes; 2 s: 2 ops, 20 bytes; 6 s: 10 ops, 100 bytes.
const std::vector<AlignedPoint> kTimeline = {
    {CoordAt(0), 0, 0}, {CoordAt(1), 10, 1}, {CoordAt(2), 20, 2}, {CoordAt(6), 100, 10}};

TEST_CASE(
    "bytes between two points lie on the line that joins them and are known to lie between their values") {
  const Moved moved = BytesAt(kTimeline, CoordAt(3), 0);
  CHECK(moved.bytes.value == Approx(40));
  CHECK(moved.bytes.low == 20);
  CHECK(moved.bytes.high == 100);
  CHECK(moved.ops.value == Approx(4));
  CHECK(moved.ops.low == 2);
  CHECK(moved.ops.high == 10);
}

TEST_CASE("between two consecutive ops the op in flight does not count, and that is exact") {
  const Moved moved = BytesAt(kTimeline, CoordAt(1.9), 0);
  CHECK(moved.bytes.value == 10);
  CHECK(moved.bytes.low == 10);
  CHECK(moved.bytes.high == 10);
}

TEST_CASE("an op that ends at the instant counts") {
  const Moved moved = BytesAt(kTimeline, CoordAt(2), 0);
  CHECK(moved.bytes.value == 20);
  CHECK(moved.bytes.low == 20);
}

TEST_CASE("before the first point nothing, after the last everything") {
  CHECK(BytesAt(kTimeline, CoordAt(-1), 0).bytes.high == 0);
  CHECK(BytesAt(kTimeline, CoordAt(7), 0).bytes.value == 100);
  CHECK(BytesAt(kTimeline, CoordAt(7), 0).bytes.low == 100);
  CHECK(BytesAt({}, CoordAt(7), 0).bytes.value == 0);
}

TEST_CASE("a clock that may be off widens the bounds, not the estimate") {
  const Moved moved = BytesAt(kTimeline, CoordAt(1.5), 600'000'000);  // 0.9 s to 2.1 s
  CHECK(moved.bytes.value == 10);
  CHECK(moved.bytes.low == 0);
  CHECK(moved.bytes.high == 100);
  CHECK(BytesAt(kTimeline, CoordAt(6.5), 600'000'000).bytes.low == 20);
}

TEST_CASE("bytes never fall as time goes on, and always lie within their bounds") {
  std::mt19937_64 random(7);
  std::vector<AlignedPoint> timeline = {{CoordAt(0), 0, 0}};
  for (int i = 0; i < 200; ++i) {
    const AlignedPoint& last = timeline.back();
    const uint64_t ops = random() % 4;
    timeline.push_back(
        {last.at + static_cast<int64_t>(random() % 1000 + 1), last.bytes + ops * 7, last.ops + ops});
  }
  const int64_t length_ns = timeline.back().at - timeline.front().at;
  for (const int64_t error_ns : {int64_t{0}, int64_t{300}}) {
    Moved previous;
    for (int64_t ns = -10; ns < length_ns + 10; ++ns) {
      const Moved moved = BytesAt(timeline, CoordAt(0) + ns, error_ns);
      REQUIRE(moved.bytes.value >= previous.bytes.value);
      REQUIRE(moved.bytes.low <= moved.bytes.value);
      REQUIRE(moved.bytes.value <= moved.bytes.high);
      previous = moved;
    }
  }
}

// Three lanes: 0 s to 10 s, 1 s to 8 s (flushing to 12 s), 2 s to 9 s.
PhaseScript ThreeLanes() {
  PhaseScript script;
  script.Lane(0).StartsAt(0_s).EndsAt(10_s).Moves(1000).InOps(1000);
  script.Lane(1).StartsAt(1_s).EndsAt(8_s).Moves(700).InOps(700).Closes(4_s);
  script.Lane(2).StartsAt(2_s).EndsAt(9_s).Moves(700).InOps(700);
  return script;
}

double At(CoordTime t) {
  return SecondsFrom(t - CoordAt(0));
}

TEST_CASE("the full window runs from the first op of all to the last end of a timed region") {
  const v1::PhaseRecord record = ThreeLanes().Record();
  const AlignedPhase aligned = Align(record, 3);
  const Window window = FullWindow(aligned.lanes, {}).value();
  CHECK(At(window.begin) == Approx(0));
  CHECK(At(window.end) == Approx(12));
}

TEST_CASE("the first lane to finish its ops sets the stonewall") {
  const v1::PhaseRecord record = ThreeLanes().Record();
  const AlignedPhase aligned = Align(record, 3);
  const Window window = StonewallWindow(aligned.lanes, {}).value();
  CHECK(At(window.begin) == Approx(0));
  CHECK(At(window.end) == Approx(8));
  const WindowTotals totals = TotalsIn(window, aligned.lanes);
  CHECK(totals.moved.bytes.value == Approx(800 + 700 + 600));
  CHECK(totals.seconds == Approx(8));
  CHECK(totals.bytes_per_s() == Approx(2100.0 / 8));
}

TEST_CASE("all lanes are active from the last first op to the stonewall") {
  const v1::PhaseRecord record = ThreeLanes().Record();
  const AlignedPhase aligned = Align(record, 3);
  const Window window = AllActiveWindow(aligned.lanes, {}).value();
  CHECK(At(window.begin) == Approx(2));
  CHECK(At(window.end) == Approx(8));
  CHECK(TotalsIn(window, aligned.lanes).moved.bytes.value == Approx(600 + 600 + 600));
}

TEST_CASE("the all-active window is empty when a lane begins after another has ended") {
  PhaseScript script = ThreeLanes();
  script.Lane(2).StartsAt(8.5_s);
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 3);
  const WindowTotals totals = TotalsIn(AllActiveWindow(aligned.lanes, {}).value(), aligned.lanes);
  CHECK(totals.seconds == 0);
  CHECK(totals.moved.bytes.value == 0);
  CHECK(std::isnan(totals.bytes_per_s()));
}

TEST_CASE("the warm-up is cut off at the front of every window") {
  const v1::PhaseRecord record = ThreeLanes().Record();
  const AlignedPhase aligned = Align(record, 3);
  CHECK(At(FullWindow(aligned.lanes, CoordAt(3)).value().begin) == Approx(3));
  CHECK(At(AllActiveWindow(aligned.lanes, CoordAt(3)).value().begin) == Approx(3));
  CHECK(At(AllActiveWindow(aligned.lanes, CoordAt(1)).value().begin) == Approx(2));
  const WindowTotals totals = TotalsIn(StonewallWindow(aligned.lanes, CoordAt(3)).value(), aligned.lanes);
  CHECK(totals.moved.bytes.value == Approx(500 + 500 + 500));
  CHECK(totals.seconds == Approx(5));
}

TEST_CASE("a lane that was stopped does not set the stonewall unless all were") {
  PhaseScript script = ThreeLanes();
  script.Lane(1).IsStopped();
  const v1::PhaseRecord one_stopped = script.Record();
  CHECK(At(StonewallWindow(Align(one_stopped, 3).lanes, {}).value().end) == Approx(9));
  script.Lane(0).IsStopped();
  script.Lane(2).IsStopped();
  const v1::PhaseRecord all_stopped = script.Record();
  CHECK(At(StonewallWindow(Align(all_stopped, 3).lanes, {}).value().end) == Approx(8));
}

TEST_CASE("the deadline window ends at the earliest deadline on the common axis") {
  PhaseScript script = ThreeLanes();
  const v1::PhaseRecord without = script.Record();
  CHECK_FALSE(DeadlineWindow(Align(without, 3).lanes, {}).has_value());
  script.Lane(0).HasDeadlineAt(5.5_s);
  script.Lane(2).HasDeadlineAt(5_s);
  const v1::PhaseRecord record = script.Record();
  CHECK(At(DeadlineWindow(Align(record, 3).lanes, {}).value().end) == Approx(5));
}

TEST_CASE("without a lane there is no window") {
  CHECK_FALSE(FullWindow({}, {}).has_value());
  CHECK_FALSE(StonewallWindow({}, {}).has_value());
  CHECK_FALSE(AllActiveWindow({}, {}).has_value());
}

TEST_CASE("bounds of a window that begins late subtract what may have been done before") {
  PhaseScript script;
  script.Lane(0).StartsAt(0_s).EndsAt(8_s).Moves(800).InOps(8).Point(4_s, 400, 4).Point(8_s, 800, 8);
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 1);
  const Bounded bytes = TotalsIn({CoordAt(2), CoordAt(6)}, aligned.lanes).moved.bytes;
  CHECK(bytes.value == Approx(400));  // 600 - 200
  CHECK(bytes.low == 0);              // 400 - 400
  CHECK(bytes.high == 800);           // 800 - 0
}

}  // namespace
}  // namespace iobench
