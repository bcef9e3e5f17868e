#include "common/latency_slices.h"

#include <catch2/catch.hpp>
#include <numeric>

namespace iobench {
namespace {

constexpr uint64_t kSliceTicks = 10;

// A recorder with ticks of one ns, used as a loop does.
struct Recorded {
  LatencySlices slices{kSliceTicks};

  explicit Recorded(uint64_t begin = 1000) { slices.Start({begin}); }
  void OpEnds(uint64_t at, uint64_t latency_ns) {
    if (Ticks{at} >= slices.slice_end()) slices.Advance({at});
    slices.Add(Histogram::IndexOf(latency_ns));
  }
  uint64_t OpsIn(uint32_t slice) const {
    uint64_t ops = 0;
    for (uint32_t bin = 0; bin < LatencySlices::kBinCount; ++bin) ops += slices.ops(slice, bin);
    return ops;
  }
};

uint64_t OpsOf(const v1::LatencySlices& message) {
  return std::accumulate(message.counts().begin(), message.counts().end(), uint64_t{0});
}

TEST_CASE("there are two bins per octave, which leave no gap") {
  CHECK(LatencySlices::kBinCount == 72);
  CHECK(LatencySlices::LowerEdgeNs(0) == 0);
  CHECK(LatencySlices::LowerEdgeNs(1) == 64);
  CHECK(LatencySlices::LowerEdgeNs(2) == 128);
  CHECK(LatencySlices::LowerEdgeNs(3) == 192);
  CHECK(LatencySlices::LowerEdgeNs(4) == 256);
  CHECK(LatencySlices::LowerEdgeNs(5) == 384);
  CHECK(LatencySlices::UpperEdgeNs(5) == 512);
  CHECK(LatencySlices::UpperEdgeNs(71) == uint64_t{1} << 42);
}

TEST_CASE("an op is in the bin of its latency, and in the slice in which it ended") {
  Recorded lane;
  lane.OpEnds(1009, 127);
  lane.OpEnds(1010, 128);  // the second slice begins
  lane.OpEnds(1010, 191);
  lane.OpEnds(1035, 192);
  CHECK(lane.slices.ops(0, 1) == 1);
  CHECK(lane.slices.ops(1, 2) == 2);
  CHECK(lane.OpsIn(2) == 0);
  CHECK(lane.slices.ops(3, 3) == 1);
  CHECK(lane.slices.slice_end() == Ticks{1040});
}

TEST_CASE("when the slices are used up, neighbours are joined") {
  Recorded lane;
  for (uint64_t op = 0; op < 64; ++op) lane.OpEnds(1000 + 10 * op, op);
  CHECK(lane.slices.slice_ticks() == 10);
  CHECK(lane.OpsIn(63) == 1);
  lane.OpEnds(1640, 5);
  CHECK(lane.slices.slice_ticks() == 20);
  for (uint32_t slice = 0; slice < 32; ++slice) CHECK(lane.OpsIn(slice) == 2);
  CHECK(lane.OpsIn(32) == 1);
  CHECK(lane.OpsIn(33) == 0);
  CHECK(lane.slices.slice_end() == Ticks{1660});
}

TEST_CASE("after a long op the slices are as long as the time requires") {
  Recorded lane;
  for (uint64_t op = 0; op < 64; ++op) lane.OpEnds(1000 + 10 * op, op);
  SECTION("four times") {
    lane.OpEnds(1000 + 10 * 255, 5);
    CHECK(lane.slices.slice_ticks() == 40);
    for (uint32_t slice = 0; slice < 16; ++slice) CHECK(lane.OpsIn(slice) == 4);
    CHECK(lane.OpsIn(63) == 1);
  }
  SECTION("more often than there are slices") {
    lane.OpEnds(1000 + 10 * (uint64_t{64} << 20), 5);
    CHECK(lane.slices.slice_ticks() == uint64_t{10} << 21);
    CHECK(lane.OpsIn(0) == 64);
    CHECK(lane.OpsIn(32) == 1);
  }
}

TEST_CASE("the sparse form restores every cell") {
  Recorded lane;
  lane.OpEnds(1005, 0);
  for (int op = 0; op < 300; ++op) lane.OpEnds(1015, uint64_t{1} << 41);
  lane.OpEnds(1639, (uint64_t{1} << 42) - 1);
  const v1::LatencySlices message = lane.slices.ToProto({77}, 2500, 1000);
  CHECK(message.begin_worker_ns() == 77);
  CHECK(message.slice_ns() == 2500);
  const auto cells = CellsOf(message);
  REQUIRE(cells.ok());
  REQUIRE(cells->size() == 3);
  CHECK(((*cells)[0].slice == 0 && (*cells)[0].bin == 0 && (*cells)[0].ops == 1));
  CHECK(((*cells)[1].slice == 1 && (*cells)[1].bin == 70 && (*cells)[1].ops == 300));
  CHECK(((*cells)[2].slice == 63 && (*cells)[2].bin == 71 && (*cells)[2].ops == 1));
}

TEST_CASE("slices that would take too much room are joined, and no op is lost") {
  Recorded lane;
  for (uint64_t slice = 0; slice < 64; ++slice) {
    for (uint32_t bin = 0; bin < LatencySlices::kBinCount; ++bin)
      lane.OpEnds(1000 + 10 * slice, LatencySlices::LowerEdgeNs(bin));
  }
  // One byte for each gap and each count, and a few for the rest.
  CHECK(lane.slices.ToProto({1}, 10, 10'000).slice_ns() == 10);
  for (const size_t room : {9'000, 4'000, 400}) {
    const v1::LatencySlices message = lane.slices.ToProto({1}, 10, room);
    INFO(room);
    CHECK(message.ByteSizeLong() <= room);
    CHECK(OpsOf(message) == 64 * 72);
  }
  CHECK(lane.slices.ToProto({1}, 10, 9'000).slice_ns() == 20);
  const v1::LatencySlices least = lane.slices.ToProto({1}, 10, 0);
  CHECK(least.slice_ns() == 640);
  CHECK(least.counts_size() == 72);
  CHECK(OpsOf(least) == 64 * 72);
  CHECK(lane.OpsIn(63) == 72);  // what was recorded has not changed
}

TEST_CASE("slices of another layout are refused") {
  v1::LatencySlices message;
  message.set_slice_ns(10);
  message.add_cell_gaps(64 * 72 - 1);
  message.add_counts(UINT64_MAX);
  CHECK(CellsOf(message).ok());
  SECTION("a cell out of range") {
    message.set_cell_gaps(0, 64 * 72);
    CHECK(absl::IsInvalidArgument(CellsOf(message).status()));
  }
  SECTION("gaps that would wrap around") {
    message.add_cell_gaps(UINT32_MAX);
    message.add_counts(1);
    CHECK(absl::IsInvalidArgument(CellsOf(message).status()));
  }
  SECTION("a cell twice") {
    message.set_cell_gaps(0, 7);
    message.add_cell_gaps(0);
    message.add_counts(1);
    CHECK(absl::IsInvalidArgument(CellsOf(message).status()));
  }
  SECTION("more gaps than counts") {
    message.add_cell_gaps(1);
    CHECK(absl::IsInvalidArgument(CellsOf(message).status()));
  }
  SECTION("slices without length") {
    message.set_slice_ns(0);
    CHECK(absl::IsInvalidArgument(CellsOf(message).status()));
  }
}

}  // namespace
}  // namespace iobench
