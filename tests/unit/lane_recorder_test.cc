#include "worker/loop/lane_recorder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace iobench {
namespace {

// One tick is one ns.
TickScale NanosecondTicks() {
  return TickScale(TickSource::kMonotonic, {{0}, 0, 0}, {{1'000'000}, 1'000'000, 0});
}

struct Lane {
  LaneRecorder recorder{{OpKind::kRead, OpKind::kWrite}, NanosecondTicks()};
  uint64_t now = 1'000'000;

  void Starts() { recorder.Start({now}); }
  void Moves(OpKind kind, uint32_t bytes, uint64_t ns) {
    const Ticks begin{now};
    now += ns;
    if (Ticks{now} >= recorder.next_event()) recorder.BeforeEvent({now});
    recorder.Add(kind, begin, {now}, bytes);
    if (Ticks{now} >= recorder.next_event()) recorder.Event(begin, {now});
  }
};

// [first, last] of the pairs of cache lines that an object is on.
template <typename T>
std::pair<uintptr_t, uintptr_t> LinesOf(const T& object) {
  const auto at = reinterpret_cast<uintptr_t>(&object);
  return {at / kOwnLinesBytes, (at + sizeof(T) - 1) / kOwnLinesBytes};
}

TEST_CASE("recorders made in turn write to no common line") {
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<std::pair<uintptr_t, uintptr_t>> written;
  for (int i = 0; i < 20; ++i) {
    lanes.push_back(std::make_unique<Lane>());
    const LaneRecorder& recorder = lanes.back()->recorder;
    written.push_back(LinesOf(recorder));
    written.push_back(LinesOf(*recorder.histogram_of(OpKind::kRead)));
    written.push_back(LinesOf(*recorder.histogram_of(OpKind::kWrite)));
  }
  std::sort(written.begin(), written.end());
  for (size_t i = 1; i < written.size(); ++i) REQUIRE(written[i - 1].second < written[i].first);
}

TEST_CASE("a recorder adds up ops, by kind and in all") {
  Lane lane;
  lane.Starts();
  lane.Moves(OpKind::kRead, 4096, 100);
  lane.Moves(OpKind::kWrite, 1000, 7);
  lane.Moves(OpKind::kRead, 4096, 50);
  lane.recorder.Finish();

  REQUIRE(lane.recorder.first_op() == Ticks{1'000'000});
  REQUIRE(lane.recorder.last_end() == Ticks{1'000'157});
  REQUIRE(lane.recorder.bytes() == 9192);
  REQUIRE(lane.recorder.ops() == 3);
  REQUIRE(lane.recorder.bytes_of(OpKind::kRead) == 8192);
  REQUIRE(lane.recorder.ops_of(OpKind::kRead) == 2);
  REQUIRE(lane.recorder.bytes_of(OpKind::kWrite) == 1000);
  REQUIRE(lane.recorder.ops_of(OpKind::kWrite) == 1);
  const Histogram& reads = *lane.recorder.histogram_of(OpKind::kRead);
  REQUIRE(reads.count() == 2);
  REQUIRE(reads.min_ns() == 50);
  REQUIRE(reads.max_ns() == 100);
  REQUIRE(lane.recorder.histogram_of(OpKind::kWrite)->PercentileNs(1.0) == 7);
  REQUIRE(lane.recorder.live().bytes.load() == 9192);
  REQUIRE(lane.recorder.live().ops.load() == 3);
}

TEST_CASE("the latencies of all kinds can be read while the lane runs, without those of the warm-up") {
  Lane lane;
  lane.recorder.SetWarmupEnd({1'002'000});
  lane.Starts();
  const auto so_far = [&] {
    LatencyBins bins;
    lane.recorder.AddLatenciesTo(bins);
    return bins;
  };
  lane.Moves(OpKind::kRead, 4096, 1'000);
  CHECK(so_far().count() == 1);
  lane.Moves(OpKind::kRead, 4096, 90'000);  // the first that counts
  lane.Moves(OpKind::kWrite, 4096, 40'000);
  CHECK(so_far().count() == 2);
  CHECK(so_far().PercentileNs(0.5) == Approx(40'000).epsilon(0.032));
  CHECK(so_far().PercentileNs(1) == Approx(90'000).epsilon(0.032));
}

TEST_CASE("latencies are converted from ticks to nanoseconds") {
  // Four ticks a nanosecond.
  const TickScale scale(TickSource::kTsc, {{0}, 0, 0}, {{4'000'000'000}, 1'000'000'000, 0});
  LaneRecorder recorder(OpKind::kRead, scale);
  recorder.Start({500});
  recorder.Add(OpKind::kRead, {500}, {900}, 1);
  REQUIRE(recorder.histogram_of(OpKind::kRead)->max_ns() == 100);
}

TEST_CASE("a kind that is not used has no histogram") {
  const LaneRecorder reader(OpKind::kRead, NanosecondTicks());
  REQUIRE(reader.histogram_of(OpKind::kRead) != nullptr);
  REQUIRE(reader.histogram_of(OpKind::kWrite) == nullptr);
  REQUIRE(reader.ops_of(OpKind::kWrite) == 0);
}

TEST_CASE("the timeline holds the origin, the op ends and the end") {
  Lane lane;
  lane.Starts();
  for (int i = 0; i < 3; ++i) lane.Moves(OpKind::kRead, 10, 100);
  lane.recorder.Finish();
  lane.recorder.Finish();  // again is harmless
  REQUIRE(lane.recorder.timeline().Points() ==
          std::vector<LanePoint>{
              {{1'000'000}, 0, 0}, {{1'000'100}, 10, 1}, {{1'000'200}, 20, 2}, {{1'000'300}, 30, 3}});
}

TEST_CASE("over a long phase the timeline keeps points from its beginning on") {
  Lane lane;
  lane.Starts();
  constexpr uint64_t kOps = 200'000;  // 0.2 s of ops of 1 us
  for (uint64_t i = 0; i < kOps; ++i) lane.Moves(OpKind::kWrite, 1, 1'000);
  lane.recorder.Finish();
  const std::vector<LanePoint> points = lane.recorder.timeline().Points();
  REQUIRE(points.back() == LanePoint{{1'000'000 + kOps * 1'000}, kOps, kOps});
  for (size_t i = 1; i < points.size(); ++i) {
    // No gap above 1/2048 of the phase, and each point is correct.
    REQUIRE(points[i].at.value - points[i - 1].at.value <= kOps * 1'000 / 2048 + 1'000);
    REQUIRE(points[i].bytes == (points[i].at.value - 1'000'000) / 1'000);
  }
}

TEST_CASE("the warm-up counts in the totals and nowhere else; the op that crosses its end is measured") {
  Lane lane;
  lane.recorder.SetWarmupEnd({1'000'250});
  lane.Starts();
  lane.Moves(OpKind::kRead, 1, 100);   // ends at 100
  lane.Moves(OpKind::kRead, 1, 100);   // ends at 200
  lane.Moves(OpKind::kWrite, 1, 100);  // ends at 300: crosses
  lane.Moves(OpKind::kRead, 1, 40);
  lane.Moves(OpKind::kWrite, 1, 60);
  lane.Moves(OpKind::kWrite, 1, 70);
  lane.recorder.Finish();
  REQUIRE(lane.recorder.ops() == 6);
  REQUIRE(lane.recorder.bytes() == 6);
  REQUIRE(lane.recorder.warmup_ops() == 2);
  REQUIRE(lane.recorder.warmup_bytes() == 2);
  REQUIRE(lane.recorder.ops_of(OpKind::kRead) == 1);
  REQUIRE(lane.recorder.ops_of(OpKind::kWrite) == 3);
  REQUIRE(lane.recorder.bytes_of(OpKind::kWrite) == 3);
  REQUIRE(lane.recorder.histogram_of(OpKind::kRead)->max_ns() == 40);
  REQUIRE(lane.recorder.histogram_of(OpKind::kWrite)->count() == 3);
  REQUIRE(lane.recorder.histogram_of(OpKind::kWrite)->max_ns() == 100);
  REQUIRE(lane.recorder.timeline().Points().back() == LanePoint{{1'000'470}, 6, 6});
}

TEST_CASE("an op that ends at the very end of the warm-up belongs to it, as in a window that begins there") {
  Lane lane;
  lane.recorder.SetWarmupEnd({1'000'100});
  lane.Starts();
  lane.Moves(OpKind::kRead, 1, 100);
  lane.Moves(OpKind::kRead, 1, 50);
  lane.recorder.Finish();
  REQUIRE(lane.recorder.warmup_ops() == 1);
  REQUIRE(lane.recorder.histogram_of(OpKind::kRead)->max_ns() == 50);
}

TEST_CASE("what a lane waits after its last op is in its time, and in no op") {
  Lane lane;
  lane.Starts();
  lane.Moves(OpKind::kRead, 1, 100);
  REQUIRE(lane.recorder.ops_end() == Ticks{1'000'100});
  lane.recorder.RecordWaitedUntil({1'000'900});
  REQUIRE(lane.recorder.ops_end() == Ticks{1'000'900});
  REQUIRE(lane.recorder.last_end() == Ticks{1'000'100});
}

TEST_CASE("a lane that ends within the warm-up has measured nothing") {
  Lane lane;
  lane.recorder.SetWarmupEnd({9'000'000});
  lane.Starts();
  lane.Moves(OpKind::kRead, 5, 100);
  lane.recorder.Finish();
  REQUIRE(lane.recorder.ops() == 1);
  REQUIRE(lane.recorder.warmup_bytes() == 5);
  REQUIRE(lane.recorder.ops_of(OpKind::kRead) == 0);
  REQUIRE(lane.recorder.histogram_of(OpKind::kRead)->count() == 0);
}

TEST_CASE("a lane without a single op ends where it began") {
  Lane lane;
  lane.Starts();
  lane.recorder.Finish();
  REQUIRE(lane.recorder.last_end() == lane.recorder.first_op());
  REQUIRE(lane.recorder.timeline().Points() == std::vector<LanePoint>{{{1'000'000}, 0, 0}});
}

TEST_CASE("what is moved unmeasured is in no total but its own") {
  Lane lane;
  lane.Starts();
  lane.Moves(OpKind::kWrite, 10, 100);
  lane.recorder.Finish();
  lane.recorder.AddUnmeasured(500, 5);
  lane.recorder.AddUnmeasured(100, 1);
  REQUIRE(lane.recorder.unmeasured_bytes() == 600);
  REQUIRE(lane.recorder.unmeasured_ops() == 6);
  REQUIRE(lane.recorder.bytes() == 10);
  REQUIRE(lane.recorder.ops() == 1);
  REQUIRE(lane.recorder.live().bytes.load() == 10);
}

uint64_t StallNs(const LaneRecorder& recorder) {
  return recorder.longest_stall().end.value - recorder.longest_stall().begin.value;
}

TEST_CASE("the longest time without an op's end is known exactly, wherever it lies") {
  constexpr uint64_t kSecond = 1'000'000'000;
  for (const uint64_t where : {uint64_t{0}, uint64_t{1}, uint64_t{77'777}, uint64_t{199'999}}) {
    Lane lane;
    lane.Starts();
    uint64_t begin = 0;
    for (uint64_t op = 0; op < 200'000; ++op) {  // 10 s, and one op of 5 s
      if (op == where) begin = lane.now;
      lane.Moves(OpKind::kRead, 4096, op == where ? 5 * kSecond : 50'000);
    }
    lane.recorder.Finish();
    INFO("op " << where);
    CHECK(lane.recorder.longest_stall().begin == Ticks{begin});
    CHECK(StallNs(lane.recorder) == 5 * kSecond);
  }
}

TEST_CASE("gaps of a second or more are known however long the phase is, also those in the warm-up") {
  constexpr uint64_t kSecond = 1'000'000'000;
  Lane lane;
  lane.recorder.SetWarmupEnd({lane.now + 10 * kSecond});
  lane.Starts();
  const uint64_t begin = lane.now;
  lane.Moves(OpKind::kRead, 4096, 3 * kSecond);  // the first op, in the warm-up
  uint64_t second = 0;
  for (uint64_t op = 0; op < 1'000'000; ++op) {  // 3 hours: the timeline's points are 5 s apart
    if (op == 654'321) second = lane.now;
    lane.Moves(OpKind::kRead, 4096, op == 654'321 ? kSecond + 500 : 10'800'000);
  }
  lane.recorder.Finish();
  REQUIRE(lane.recorder.gaps().size() == 2);
  CHECK(lane.recorder.gaps()[0].begin == Ticks{begin});
  CHECK(lane.recorder.gaps()[0].ticks() == 3 * kSecond);
  CHECK(lane.recorder.gaps()[1].begin == Ticks{second});
  CHECK(lane.recorder.gaps()[1].ticks() == kSecond + 500);
  CHECK_FALSE(lane.recorder.gaps()[1].flushed);
}

TEST_CASE("of many gaps the longest ones are kept, and one with a flush says so") {
  constexpr uint64_t kSecond = 1'000'000'000;
  Lane lane;
  lane.Starts();
  for (uint64_t op = 0; op < 100; ++op) lane.Moves(OpKind::kRead, 4096, kSecond + (op * 37 % 100) * 1000);
  lane.now += 5 * kSecond;
  lane.recorder.RecordFlushedUntil({lane.now});
  lane.Moves(OpKind::kRead, 4096, 1000);
  lane.Moves(OpKind::kRead, 4096, 7 * kSecond);
  lane.recorder.Finish();
  REQUIRE(lane.recorder.gaps().size() == LaneRecorder::kMaxGaps);
  uint64_t shortest = UINT64_MAX, flushed = 0;
  for (const LaneRecorder::Stall& gap : lane.recorder.gaps()) {
    shortest = std::min(shortest, gap.ticks());
    if (gap.flushed) flushed = gap.ticks();
  }
  CHECK(shortest == kSecond + 86 * 1000);  // the two above are longer than these 14
  CHECK(flushed == 5 * kSecond + 1000);
}

TEST_CASE("a stall during the warm-up does not count, of one beyond it the part that lies after it does") {
  Lane lane;
  lane.recorder.SetWarmupEnd({lane.now + 10'000'000});
  lane.Starts();
  lane.Moves(OpKind::kRead, 4096, 6'000'000);
  SECTION("within") {
    for (int op = 0; op < 1000; ++op) lane.Moves(OpKind::kRead, 4096, 10'000);
    lane.recorder.Finish();
    CHECK(StallNs(lane.recorder) <= 20'000);
  }
  SECTION("beyond") {
    lane.Moves(OpKind::kRead, 4096, 7'000'000);  // from 6 to 13 ms
    lane.recorder.Finish();
    CHECK(StallNs(lane.recorder) == 3'000'000);
  }
}

TEST_CASE("a pause that the plan asks for is no stall, what is longer is") {
  Lane lane;
  lane.recorder.SetAskedPause(2'000'000);
  lane.Starts();
  const auto pauses_and_moves = [&](uint64_t pause_ns, uint64_t op_ns) {
    lane.now += pause_ns;
    lane.Moves(OpKind::kRead, 4096, op_ns);
  };
  for (int op = 0; op < 10; ++op) pauses_and_moves(2'000'000, 1'000);
  CHECK(StallNs(lane.recorder) <= 1'000);
  pauses_and_moves(2'000'000, 1'500'000);
  CHECK(StallNs(lane.recorder) == 1'500'000);
  pauses_and_moves(9'000'000, 1'000);
  CHECK(StallNs(lane.recorder) == 7'001'000);
}

TEST_CASE("ops that end together are one end") {
  Lane lane;
  lane.Starts();
  lane.Moves(OpKind::kRead, 4096, 1'000);
  const uint64_t before = lane.now;
  for (int op = 0; op < 32; ++op) lane.recorder.Add(OpKind::kRead, {before}, {before + 3'000'000}, 4096);
  lane.recorder.Event({before}, {before + 3'000'000});
  CHECK(StallNs(lane.recorder) == 3'000'000);
}

TEST_CASE("waiting for the goal is no stall") {
  Lane lane;
  lane.Starts();
  lane.Moves(OpKind::kRead, 4096, 1'000);
  lane.now += 5'000'000;
  lane.recorder.Resume({lane.now});
  lane.Moves(OpKind::kRead, 4096, 30'000);
  CHECK(StallNs(lane.recorder) == 30'000);
}

TEST_CASE("failed ops at the end of a lane are a stall, and a pause that the plan asks for is none") {
  Lane lane;
  SECTION("failed ops") {
    lane.Starts();
    lane.Moves(OpKind::kRead, 4096, 100);
    lane.recorder.RecordWaitedUntil({lane.now + 4'000'000});
    lane.recorder.RecordWaitedUntil({lane.now + 9'000'000});
    lane.recorder.Finish();
    CHECK(lane.recorder.longest_stall().begin == lane.recorder.last_end());
    CHECK(StallNs(lane.recorder) == 9'000'000);
  }
  SECTION("a pause") {
    lane.recorder.SetAskedPause(2'000'000);
    lane.Starts();
    lane.Moves(OpKind::kRead, 4096, 100);
    lane.recorder.RecordWaitedUntil({lane.now + 2'000'000});
    lane.recorder.Finish();
    CHECK(StallNs(lane.recorder) == 0);
  }
  SECTION("failed ops from the warm-up on") {
    lane.recorder.SetWarmupEnd({lane.now + 6'000'000});
    lane.Starts();
    lane.Moves(OpKind::kRead, 4096, 1'000'000);
    lane.recorder.RecordWaitedUntil({lane.now + 8'000'000});
    lane.recorder.Finish();
    CHECK(StallNs(lane.recorder) == 3'000'000);
    CHECK(lane.recorder.warmup_ops() == 1);
    CHECK(lane.recorder.ops_of(OpKind::kRead) == 0);
  }
  SECTION("failed ops before the lane waits for the goal") {
    lane.Starts();
    lane.Moves(OpKind::kRead, 4096, 1'000);
    lane.recorder.RecordWaitedUntil({lane.now + 3'000'000});
    lane.now += 8'000'000;
    lane.recorder.Resume({lane.now});
    lane.recorder.Finish();
    CHECK(StallNs(lane.recorder) == 3'000'000);
  }
}

// What the slices must hold, from a list of all ops: (end, latency).
void CheckSlices(const LaneRecorder& recorder, const std::vector<std::pair<uint64_t, uint64_t>>& ops) {
  const LatencySlices& slices = recorder.latency_slices();
  std::vector<uint64_t> expected(LatencySlices::kSliceCount * LatencySlices::kBinCount);
  for (const auto& [end, latency_ns] : ops) {
    const uint64_t slice = (end - slices.begin().value) / slices.slice_ticks();
    REQUIRE(slice < LatencySlices::kSliceCount);
    ++expected[slice * LatencySlices::kBinCount +
               Histogram::IndexOf(latency_ns) / LatencySlices::kBucketsPerBin];
  }
  for (uint32_t slice = 0; slice < LatencySlices::kSliceCount; ++slice) {
    for (uint32_t bin = 0; bin < LatencySlices::kBinCount; ++bin) {
      CAPTURE(slice, bin);
      REQUIRE(slices.ops(slice, bin) == expected[slice * LatencySlices::kBinCount + bin]);
    }
  }
}

TEST_CASE("every op after the warm-up is in the latency slice in which it ended, whatever its kind") {
  const uint64_t warmup_ns = GENERATE(uint64_t{0}, uint64_t{50'000'000});
  Lane lane;
  const uint64_t start = lane.now;
  if (warmup_ns > 0) lane.recorder.SetWarmupEnd({start + warmup_ns});
  lane.Starts();
  std::mt19937_64 random(1);
  std::vector<std::pair<uint64_t, uint64_t>> measured;
  // 1 us to 1 ms, and one op of 0.4 s: together about a second.
  for (int op = 0; op < 10'000; ++op) {
    const uint64_t ns = op == 5000 ? 400'000'000 : uint64_t{1000} << random() % 10;
    lane.Moves(op % 3 == 0 ? OpKind::kWrite : OpKind::kRead, 4096, ns);
    if (warmup_ns == 0 || lane.now > start + warmup_ns) measured.emplace_back(lane.now, ns);
  }
  lane.recorder.Finish();
  const LatencySlices& slices = lane.recorder.latency_slices();
  CHECK(slices.begin() == Ticks{start + warmup_ns});
  CHECK(slices.slice_ticks() >= 16'000'000);
  REQUIRE(measured.size() == lane.recorder.ops_of(OpKind::kRead) + lane.recorder.ops_of(OpKind::kWrite));
  CheckSlices(lane.recorder, measured);
}

TEST_CASE("a lane that ends within the warm-up has empty latency slices") {
  Lane lane;
  lane.recorder.SetWarmupEnd({lane.now + 9'000'000});
  lane.Starts();
  for (int op = 0; op < 8; ++op) lane.Moves(OpKind::kRead, 5, 1'000'000);
  lane.recorder.Finish();
  CHECK(lane.recorder.latency_slices().ToProto({0}, 1, 1000).counts().empty());
}

TEST_CASE("an op above the histogram's range is in the last bin of its slice") {
  Lane lane;
  lane.Starts();
  const uint64_t start = lane.now;
  lane.Moves(OpKind::kRead, 1, uint64_t{1} << 43);
  lane.recorder.Finish();
  const LatencySlices& slices = lane.recorder.latency_slices();
  const auto slice = static_cast<uint32_t>((lane.now - start) / slices.slice_ticks());
  CHECK(slices.ops(slice, LatencySlices::kBinCount - 1) == 1);
}

// The most that a lane can record: a lane of one kind that has filled each bucket of its histogram and each cell of its
// slices, and a timeline of 600 points and some around instants.
TEST_CASE("what a lane records takes less than 64 KiB, however much of it is filled") {
  LaneRecorder recorder(OpKind::kWrite, NanosecondTicks());
  uint64_t now = uint64_t{1} << 60;
  recorder.Start({now});
  constexpr uint64_t kLengthNs = 64'000'000'000;  // 64 slices of 1 s and a bit
  constexpr uint64_t kRounds = 64 * 3;
  for (uint64_t round = 0; round < kRounds; ++round) {
    now += kLengthNs / kRounds;
    if (Ticks{now} >= recorder.next_event()) recorder.BeforeEvent({now});
    for (uint32_t bucket = 0; bucket < Histogram::kBucketCount; ++bucket) {
      const uint64_t ns = Histogram::LowerEdge(bucket);
      // Counts of two bytes in the histogram, and of two in the slices.
      recorder.Add(OpKind::kWrite, {now - ns}, {now}, 1 << 30);
    }
    if (Ticks{now} >= recorder.next_event()) recorder.Event({now - 1}, {now});
  }
  recorder.Finish();
  v1::LaneResult result;
  *result.add_kinds()->mutable_latency() = recorder.histogram_of(OpKind::kWrite)->ToProto();
  REQUIRE(result.kinds(0).latency().counts_size() == static_cast<int>(Histogram::kBucketCount));
  std::vector<WorkerPoint> points;
  for (uint64_t i = 0; i < 700; ++i) {
    points.push_back({{static_cast<int64_t>(i * 100'000'000'000)}, i << 40, i << 28});
  }
  *result.mutable_timeline() = ToProto(points);
  *result.mutable_latency_slices() = recorder.latency_slices().ToProto({1}, 1'000'000'000, SIZE_MAX);
  REQUIRE(result.latency_slices().counts_size() >= 60 * static_cast<int>(LatencySlices::kBinCount));
  CAPTURE(result.timeline().ByteSizeLong(), result.kinds(0).ByteSizeLong(),
          result.latency_slices().ByteSizeLong());
  CHECK(result.ByteSizeLong() < 64 << 10);
}

TEST_CASE("flush calls have latencies of their own and count in nothing else") {
  LaneRecorder recorder(OpKind::kWrite, NanosecondTicks(), {OpKind::kFsync, OpKind::kClose});
  CHECK(recorder.expects_only(OpKind::kWrite));
  recorder.Start({1000});
  recorder.Add(OpKind::kWrite, {1000}, {1100}, 4096);
  recorder.AddCall(OpKind::kFsync, {1100}, {1150});
  recorder.AddCall(OpKind::kFdatasync, {1150}, {1160});  // which nobody asked for
  recorder.Finish();
  recorder.AddCall(OpKind::kClose, {1200}, {1207});
  CHECK(recorder.histogram_of_call(OpKind::kFsync)->max_ns() == 50);
  CHECK(recorder.histogram_of_call(OpKind::kFsync)->count() == 1);
  CHECK(recorder.histogram_of_call(OpKind::kClose)->max_ns() == 7);
  CHECK(recorder.histogram_of_call(OpKind::kFdatasync) == nullptr);
  CHECK(recorder.ops() == 1);
  CHECK(recorder.bytes() == 4096);
  CHECK(recorder.ops_end().value == 1100);
  CHECK(recorder.histogram_of(OpKind::kWrite)->count() == 1);
  LatencyBins bins;
  recorder.AddLatenciesTo(bins);
  CHECK(bins.count() == 1);
}

TEST_CASE("a flush call that ends in the warm-up does not count, the next one does") {
  LaneRecorder recorder(OpKind::kWrite, NanosecondTicks(), OpKind::kFsync);
  recorder.SetWarmupEnd({2000});
  recorder.Start({1000});
  recorder.Add(OpKind::kWrite, {1000}, {1100}, 1);
  recorder.AddCall(OpKind::kFsync, {1100}, {1999});
  recorder.Add(OpKind::kWrite, {1999}, {2000}, 1);
  recorder.AddCall(OpKind::kFsync, {2000}, {2010});
  recorder.Finish();
  CHECK(recorder.histogram_of_call(OpKind::kFsync)->count() == 1);
  CHECK(recorder.histogram_of_call(OpKind::kFsync)->max_ns() == 10);
}

uint64_t CallsIn(const LaneRecorder& recorder, OpKind call, uint32_t slice) {
  uint64_t calls = 0;
  for (uint32_t bin = 0; bin < LatencySlices::kBinCount; ++bin) calls += recorder.slices_of_call(call)->ops(slice, bin);
  return calls;
}

TEST_CASE("each flush call has slices of its own, over the time of the ops'") {
  constexpr uint64_t kSlice = LatencySlices::kFirstSliceNs;
  LaneRecorder recorder(OpKind::kWrite, NanosecondTicks(), {OpKind::kFsync, OpKind::kClose});
  recorder.SetWarmupEnd({2000});
  recorder.Start({1000});
  recorder.AddCall(OpKind::kFsync, {1000}, {2000});  // in the warm-up
  recorder.AddCall(OpKind::kFsync, {2000}, {2100});
  recorder.AddCall(OpKind::kFsync, {2100}, {2000 + 3 * kSlice});
  recorder.AddCall(OpKind::kFsync, {2000 + 3 * kSlice}, {2100 + 3 * kSlice});
  recorder.Finish();
  recorder.AddCall(OpKind::kClose, {2000 + 5 * kSlice}, {2007 + 5 * kSlice});
  CHECK(recorder.slices_of_call(OpKind::kFsync)->begin() == recorder.latency_slices().begin());
  CHECK(recorder.slices_of_call(OpKind::kFsync)->begin() == Ticks{2000});
  CHECK(CallsIn(recorder, OpKind::kFsync, 0) == 1);
  CHECK(CallsIn(recorder, OpKind::kFsync, 3) == 2);
  CHECK(recorder.slices_of_call(OpKind::kFsync)->ops(3, Histogram::IndexOf(3 * kSlice - 100) / LatencySlices::kBucketsPerBin) == 1);
  CHECK(CallsIn(recorder, OpKind::kClose, 5) == 1);
  CHECK(recorder.slices_of_call(OpKind::kFdatasync) == nullptr);
  CHECK(recorder.latency_slices().slice_end() == Ticks{2000 + kSlice});  // nothing of them is in the ops'
}

}  // namespace
}  // namespace iobench
