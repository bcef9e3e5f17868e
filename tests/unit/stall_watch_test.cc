#include "coordinator/cluster/stall_watch.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

using Finding = StallWatch::Finding;

// Polls a worker once a second, in simulated time.
struct Polling {
  StallWatch watch{2, 10 * kNanosPerSecond};
  CoordTime now{1'000};
  uint64_t ops = 0, activity = 100;
  int warned = 0, stalled = 0;

  explicit Polling(int64_t stall_ns = 10 * kNanosPerSecond) : watch(2, stall_ns) { watch.Begin(1); }
  void For(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now = now + kNanosPerSecond;
      v1::Progress progress;
      progress.set_ops(ops);
      if (watch.looks_closely(1)) progress.set_activity(activity);
      const Finding finding = watch.Note(1, progress, now);
      warned += finding == Finding::kWarn ? 1 : 0;
      stalled += finding == Finding::kStalled ? 1 : 0;
    }
  }
};

TEST_CASE("a worker whose lanes make no progress is reported once, and given up at the limit") {
  Polling polling;
  polling.ops = 7;
  polling.For(5);
  CHECK(polling.warned == 1);  // after a fifth of 10 s
  CHECK(polling.stalled == 0);
  polling.For(5);
  CHECK(polling.stalled == 0);
  polling.For(1);
  CHECK(polling.stalled == 1);
  CHECK(polling.warned == 1);
  CHECK(polling.watch.still_ns(1) == 10 * kNanosPerSecond);
}

TEST_CASE("a worker that does ops is looked at closely only while its counters stand still") {
  Polling polling;
  for (int i = 0; i < 5; ++i) {
    ++polling.ops;
    polling.For(1);
    CHECK_FALSE(polling.watch.looks_closely(1));
  }
  polling.For(1);
  CHECK(polling.watch.looks_closely(1));
  ++polling.ops;
  polling.For(1);
  CHECK_FALSE(polling.watch.looks_closely(1));
}

TEST_CASE("a flush that gets on is no stall, however long it takes") {
  Polling polling(30 * kNanosPerSecond);
  polling.ops = 7;
  for (int i = 0; i < 100; ++i) {
    ++polling.activity;
    polling.For(1);
  }
  CHECK(polling.stalled == 0);
  CHECK(polling.warned == 0);
  polling.For(29);
  CHECK(polling.stalled == 0);
  polling.For(1);
  CHECK(polling.stalled == 1);
}

TEST_CASE("time in which nobody polled does not count in full") {
  Polling polling(100 * kNanosPerSecond);
  polling.For(2);
  polling.now = polling.now + 1000 * kNanosPerSecond;  // this process was stopped
  polling.For(1);
  CHECK(polling.stalled == 0);
  CHECK(polling.watch.still_ns(1) <= 16 * kNanosPerSecond);
}

TEST_CASE("a limit of 0 gives nobody up, and a worker that has finished is not watched") {
  Polling never(0);
  never.For(1000);
  CHECK(never.stalled + never.warned == 0);
  Polling ended;
  ended.For(5);
  ended.watch.End(1, ended.now);
  ended.For(100);
  CHECK(ended.stalled == 0);
  CHECK_FALSE(ended.watch.looks_closely(1));
}

TEST_CASE("a time without progress is kept when it is over, also if no op had ended before it") {
  Polling polling(100 * kNanosPerSecond);
  polling.For(6);
  CHECK(polling.watch.TakeStills().empty());  // it lasts
  ++polling.ops;
  polling.For(1);
  auto stills = polling.watch.TakeStills();
  REQUIRE(stills.size() == 1);
  CHECK(stills[0].worker == 1);
  CHECK(stills[0].end - stills[0].begin == 6 * kNanosPerSecond);
  CHECK(polling.watch.TakeStills().empty());
  polling.For(5);
  polling.watch.End(1, polling.now);
  CHECK(polling.watch.TakeStills().size() == 1);
}

TEST_CASE("short times without progress, and a flush that nobody has looked at twice, are no stalls") {
  Polling polling(100 * kNanosPerSecond);
  polling.ops = 1;
  polling.For(3);
  ++polling.ops;
  polling.For(1);
  CHECK(polling.watch.TakeStills().empty());
  for (int i = 0; i < 10; ++i) {
    ++polling.activity;
    polling.For(1);
  }
  polling.watch.End(1, polling.now);
  CHECK(polling.watch.TakeStills().empty());
}

TEST_CASE("the message names lane, step, call, offset and file") {
  v1::Progress progress;
  v1::ThreadWork& lane = *progress.add_work();
  lane.set_lane(3);
  lane.set_step("its ops");
  lane.set_call("pwrite64");
  lane.set_file("/mnt/a/lane-000003.0");
  lane.set_offset(4096);
  lane.set_ops(17);
  v1::ThreadWork& task = *progress.add_work();
  task.set_lane(-1);
  task.set_call("futex");
  CHECK(WorkText(progress) ==
        "lane 3 in its ops, pwrite64 at offset 4096 of /mnt/a/lane-000003.0, after 17 ops");
  progress.mutable_work()->DeleteSubrange(0, 1);
  progress.mutable_work(0)->set_call("newfstatat");
  progress.mutable_work(0)->set_file("/mnt/a");
  CHECK(WorkText(progress) == "newfstatat of /mnt/a");
  CHECK(WorkText({}).empty());
}

}  // namespace
}  // namespace iobench
