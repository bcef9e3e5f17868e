#include "worker/loop/timed_loop.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/loop_fakes.h"

namespace iobench {
namespace {

// A lane on a stream of `op_count` ops, whose batches take 1000 ns to make.
struct Lane {
  explicit Lane(uint64_t op_count) : stream(op_count, /*fill_time_ns=*/1000) {
    FakeClock::now = 5'000;
    FakeClock::read_count = 0;
  }

  // Each op takes the ns that `latency` says for its number (in the order of running).
  LoopEnd Runs(std::function<uint64_t(uint64_t)> latency) {
    return TimedLoop<FakeClock>(
        context,
        [&](const Op& op) {
          offsets.push_back(op.offset);
          FakeClock::now += latency(offsets.size() - 1);
          return on_op ? on_op(op) : int64_t{op.length};
        },
        NoHook{});
  }
  const Histogram& latencies() const { return *recorder.histogram_of(OpKind::kRead); }

  Kilobytes stream;
  StopCell stop;
  LaneRecorder recorder{OpKind::kRead, TickScale(TickSource::kMonotonic, {{0}, 0, 0}, {{1'000}, 1'000, 0})};
  LaneContext context{
      .stream = stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop, .recorder = recorder};
  std::vector<uint64_t> offsets;
  std::function<int64_t(const Op&)> on_op;
};

uint64_t Hundred(uint64_t) {
  return 100;
}

TEST_CASE("the loop runs a pass and times each op by itself") {
  Lane lane(3);
  const LoopEnd end = lane.Runs([](uint64_t i) { return 10 * (i + 1); });  // 10, 20, 30
  REQUIRE(end.reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.offsets == std::vector<uint64_t>{0, 1024, 2048});
  REQUIRE(lane.recorder.ops() == 3);
  REQUIRE(lane.recorder.bytes() == 3072);
  REQUIRE(lane.recorder.first_op() == Ticks{6'000});  // 5000 and the first batch
  REQUIRE(lane.recorder.last_end() == Ticks{6'060});
  REQUIRE(lane.latencies().count() == 3);
  REQUIRE(lane.latencies().min_ns() == 10);
  REQUIRE(lane.latencies().max_ns() == 30);
  REQUIRE(lane.latencies().mean_ns() == 20);
}

TEST_CASE("a looping lane knows when its first pass ended, and gives each pass other data") {
  auto payload = Payload::Create(1, 0, 0, 1024);
  REQUIRE(payload.ok());
  const Op write{OpKind::kWrite, 0, 0, 1024};
  const auto data = [&] { return std::string(reinterpret_cast<const char*>(payload->Next(write)), 1024); };
  const std::string of_first = data();
  Lane lane(3);
  lane.context.payload = &*payload;
  lane.context.rules = {.deadline = {8'450}, .repeat_passes = true};  // two passes and a batch of 1000 ns before each
  lane.Runs(Hundred);
  REQUIRE(lane.stream.passes == std::vector<uint64_t>{1});
  REQUIRE(lane.context.pass == 1);
  REQUIRE(lane.context.first_pass_ops_end == Ticks{6'300});
  const std::string of_second = data();
  REQUIRE(of_second != of_first);
  payload->BeginPass(1);
  REQUIRE(data() == of_second);
}

TEST_CASE("the clock is read once per op, batch and event, and making a batch is in no latency") {
  Lane lane(200);  // 64, 64, 64, 8 and an empty batch; points of the timeline are due at 16,000 and 26,000
  lane.Runs(Hundred);
  REQUIRE(FakeClock::read_count == 200 + 5 + 2);
  REQUIRE(lane.latencies().count() == 200);
  REQUIRE(lane.latencies().max_ns() == 100);
  REQUIRE(lane.recorder.last_end() == Ticks{5'000 + 4 * 1000 + 200 * 100});
}

TEST_CASE("ops are recorded together, at the end of their batch or at an event, whichever is first") {
  Lane lane(130);
  std::vector<uint64_t> recorded;  // before op i ends
  lane.on_op = [&](const Op& op) {
    recorded.push_back(lane.recorder.live().ops.load());
    return int64_t{op.length};
  };
  lane.Runs(Hundred);
  // The second batch begins at 13,400; a point of the timeline is due at 16,000, which is when its op number 26 ends.
  for (uint64_t i = 0; i < 130; ++i) {
    INFO("op " << i);
    REQUIRE(recorded[i] == (i < 64 ? 0 : i < 90 ? 64 : i < 128 ? 90 : 128));
  }
  REQUIRE(lane.recorder.live().ops.load() == 130);
  REQUIRE(lane.recorder.live().bytes.load() == 130 * 1024);
  REQUIRE(lane.latencies().count() == 130);
  REQUIRE(lane.latencies().max_ns() == 100);
}

TEST_CASE("the op that ends at or after the deadline is the last") {
  for (const auto& [deadline, op_count] : std::vector<std::pair<uint64_t, uint64_t>>{
           {6'000, 1}, {6'099, 1}, {6'100, 1}, {6'101, 2}, {6'250, 3}}) {
    Lane lane(10);
    lane.context.rules.deadline = {deadline};
    INFO("deadline " << deadline);
    REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDeadline);
    REQUIRE(lane.recorder.ops() == op_count);
  }
  Lane lane(2);
  lane.context.rules.deadline = {6'201};  // never reached
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDone);
}

TEST_CASE("the op in flight when stop is set completes and counts") {
  Lane lane(100);
  lane.on_op = [&](const Op& op) {
    if (lane.offsets.size() == 3) lane.stop.stop = true;
    return int64_t{op.length};
  };
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kStopped);
  REQUIRE(lane.recorder.ops() == 3);
  REQUIRE(lane.recorder.last_end() == Ticks{6'300});
}

TEST_CASE("a lane that is stopped before its first op has started and done nothing") {
  Lane lane(100);
  lane.stop.stop = true;
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kStopped);
  REQUIRE(lane.offsets.empty());
  REQUIRE(lane.recorder.first_op() == Ticks{6'000});
  REQUIRE(lane.recorder.last_end() == Ticks{6'000});
}

TEST_CASE("a stopped lane goes on with the very next op, so that it leaves no hole in its file") {
  for (const uint64_t stop_after : {1, 63, 64, 65, 99}) {
    Lane lane(100);
    lane.on_op = [&](const Op& op) {
      lane.stop.stop = lane.offsets.size() == stop_after;
      return int64_t{op.length};
    };
    REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kStopped);
    REQUIRE(lane.recorder.ops() == stop_after);
    lane.stop.stop = false;
    lane.context.resume = true;
    REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.offsets.size() == 100);
    for (uint64_t i = 0; i < 100; ++i) REQUIRE(lane.offsets[i] == i * 1024);
  }
}

TEST_CASE("wear-out: after the deadline the lane resumes up to its goal, on the same recorder") {
  Lane lane(300);
  lane.context.rules.deadline = {6'450};
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDeadline);
  REQUIRE(lane.recorder.ops() == 5);
  FakeClock::now += 77'000;  // the coordinator collects the counts
  lane.context.resume = lane.context.resume_after_wait = true;
  lane.context.rules = {.ops_goal = 170};
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kGoal);
  REQUIRE(lane.recorder.ops() == 170);
  REQUIRE(lane.recorder.first_op() == Ticks{6'000});
  REQUIRE(lane.latencies().max_ns() == 100);  // the pause is in no latency
  REQUIRE(lane.recorder.longest_stall().begin >= Ticks{6'500 + 77'000});  // and in no stall
  REQUIRE(lane.offsets.back() == 169 * 1024);
  // What is left is still there for whoever finishes the file.
  lane.context.rules = {};
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.offsets.size() == 300);
}

TEST_CASE("a lane that already has its goal runs nothing more") {
  Lane lane(10);
  lane.context.rules.deadline = {6'250};
  lane.Runs(Hundred);
  lane.context.resume = true;
  lane.context.rules = {.ops_goal = 3};
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kGoal);
  REQUIRE(lane.recorder.ops() == 3);
}

TEST_CASE("a goal at the end of the pass is a goal") {
  Lane lane(64);
  lane.context.rules.ops_goal = 64;
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kGoal);
  REQUIRE(lane.recorder.ops() == 64);
}

TEST_CASE("with repeat_passes the stream begins again until the deadline, each pass under its number") {
  Lane lane(4);
  lane.context.rules = {.deadline = {9'500}, .repeat_passes = true};
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDeadline);
  // Passes take 400; the first two batches end at 6000 + 400 + 2 fills (one empty) = 8400, + 400 + 2000 = 10800.
  REQUIRE(lane.offsets == std::vector<uint64_t>{0, 1024, 2048, 3072, 0, 1024, 2048, 3072, 0});
  REQUIRE(lane.stream.passes == std::vector<uint64_t>{1, 2});
  REQUIRE(lane.latencies().max_ns() == 100);
  REQUIRE(lane.context.pass == 2);
}

TEST_CASE("a pass is flushed before the next, in no latency; a deadline that comes meanwhile ends the lane") {
  Lane lane(4);
  std::vector<uint64_t> ops_at_flush;
  lane.context.end_pass = [&] {
    ops_at_flush.push_back(lane.recorder.ops());
    FakeClock::now += 300;
    return true;
  };
  // A pass takes 400. The first flush: from 6000 + 400 + 1000 (an empty batch); the second from 7700 + 1000 + 400 +
  // 1000.
  lane.context.rules = {.deadline = {10'300}, .repeat_passes = true};
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDeadline);
  REQUIRE(ops_at_flush == std::vector<uint64_t>{4, 8});
  REQUIRE(lane.recorder.ops() == 8);
  REQUIRE(lane.recorder.last_end() == Ticks{9'100});
  REQUIRE(lane.latencies().max_ns() == 100);

  lane.context.rules = {.repeat_passes = true, .ops_goal = 10};
  lane.context.resume = true;
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kGoal);
  REQUIRE(lane.offsets.size() == 10);
  REQUIRE(lane.offsets[8] == 0);  // the pass that the deadline cut off is begun again
  REQUIRE(lane.offsets[9] == 1024);
}

TEST_CASE("a flush that fails ends the loop") {
  Lane lane(4);
  lane.context.end_pass = [] { return false; };
  lane.context.rules = {.deadline = {1'000'000}, .repeat_passes = true};
  lane.Runs(Hundred);
  REQUIRE(lane.recorder.ops() == 4);
  REQUIRE(lane.stream.passes.empty());
}

TEST_CASE("the warm-up is left out of the histogram and kept in the totals") {
  Lane lane(100);
  lane.recorder.SetWarmupEnd({6'950});
  REQUIRE(lane.Runs([](uint64_t i) { return i < 10 ? 100 : 20; }).reason == LoopEnd::Reason::kDone);
  lane.recorder.Finish();
  REQUIRE(lane.recorder.ops() == 100);
  REQUIRE(lane.recorder.warmup_ops() == 9);  // the tenth crosses 6950, and counts
  REQUIRE(lane.recorder.ops_of(OpKind::kRead) == 91);
  REQUIRE(lane.latencies().count() == 91);
  REQUIRE(lane.latencies().max_ns() == 100);
}

TEST_CASE("an op that fails ends the loop, says which it was, and counts nowhere") {
  Lane lane(100);
  lane.on_op = [](const Op& op) { return op.offset == 5 * 1024 ? -int64_t{EIO} : int64_t{op.length}; };
  const LoopEnd end = lane.Runs(Hundred);
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  REQUIRE(end.errno_value == EIO);
  REQUIRE(end.failed_op.offset == 5 * 1024);
  REQUIRE(end.transferred == 0);
  REQUIRE(lane.recorder.ops() == 5);
  REQUIRE(lane.recorder.bytes() == 5 * 1024);
  REQUIRE(lane.offsets.size() == 6);  // none after it
}

TEST_CASE("failed ops of the warm-up are told from those after it by when they ended") {
  for (const auto& [warmup_end, failed_count] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 0}, {5'199, 0}, {5'200, 1}, {5'399, 1}, {5'400, 2}, {9'000, 3}}) {
    INFO("warm-up until " << warmup_end);
    Lane lane(6);
    lane.stream.fill_ns = 0;
    if (warmup_end > 0) lane.recorder.SetWarmupEnd({warmup_end});
    // The ops end at 5100, 5200 … 5600; every other one fails.
    lane.on_op = [](const Op& op) { return op.offset % 2048 != 0 ? -int64_t{EIO} : int64_t{op.length}; };
    while (lane.Runs(Hundred).reason == LoopEnd::Reason::kFailed) {
      Op skipped;
      lane.stream.Fill(std::span(&skipped, 1));
      lane.context.resume = true;
    }
    CHECK(lane.context.failed_ops.total() == 3);
    CHECK(lane.context.warmup_failed_count == failed_count);
  }
}

// Ops 0 to 39 take 100 ns each, those from 40 to `fails_until` fail after 1 ms each. The lane goes on after failures.
struct FailingLane : Lane {
  explicit FailingLane(uint64_t fails_until) : Lane(100) {
    const auto fails = [fails_until](uint64_t number) { return number >= 40 && number < fails_until; };
    on_op = [this, fails](const Op& op) {
      last_end = FakeClock::now;
      if (fails(op.offset / 1024)) return -int64_t{EIO};
      if (op.offset / 1024 == 60) recovered = FakeClock::now;
      return int64_t{op.length};
    };
    const auto latency = [fails](uint64_t number) { return fails(number) ? uint64_t{1'000'000} : 100; };
    while (Runs(latency).reason == LoopEnd::Reason::kFailed) {
      Op skipped;
      stream.Fill(std::span(&skipped, 1));
      context.resume = true;
    }
    recorder.Finish();
  }
  uint64_t last_end = 0, recovered = 0;
};

TEST_CASE("an outage in which ops fail is a stall from the last op before it to the first one after it") {
  const FailingLane lane(60);
  CHECK(lane.recorder.ops() == 80);
  CHECK(lane.recorder.longest_stall().begin == Ticks{6'000 + 40 * 100});
  CHECK(lane.recorder.longest_stall().end == Ticks{lane.recovered});
  CHECK(lane.recovered > 20'000'000);
  CHECK(lane.recorder.ops_end() == lane.recorder.last_end());
}

TEST_CASE("ops that fail until the end of the lane are in its time, and no op ended in it") {
  const FailingLane lane(100);
  CHECK(lane.recorder.ops() == 40);
  CHECK(lane.recorder.last_end() == Ticks{6'000 + 40 * 100});
  CHECK(lane.recorder.ops_end() == Ticks{lane.last_end});
  CHECK(lane.recorder.longest_stall().begin == lane.recorder.last_end());
  CHECK(lane.recorder.longest_stall().end == lane.recorder.ops_end());
  CHECK(lane.latencies().max_ns() == 100);
}

TEST_CASE("a short transfer fails its op and says how much was moved") {
  Lane lane(100);
  lane.on_op = [](const Op& op) { return op.offset == 1024 ? int64_t{1000} : int64_t{op.length}; };
  const LoopEnd end = lane.Runs(Hundred);
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  REQUIRE(end.errno_value == 0);
  REQUIRE(end.transferred == 1000);
  REQUIRE(lane.recorder.bytes() == 1024);
}

TEST_CASE("every op end is in the timeline while the ring has room") {
  Lane lane(5);
  lane.Runs([](uint64_t i) { return i == 2 ? 50'000 : 100; });
  lane.recorder.Finish();
  REQUIRE(lane.recorder.timeline().Points() == std::vector<LanePoint>{{{6'000}, 0, 0},
                                                                      {{6'100}, 1024, 1},
                                                                      {{6'200}, 2048, 2},
                                                                      {{56'200}, 3072, 3},
                                                                      {{56'300}, 4096, 4},
                                                                      {{56'400}, 5120, 5}});
}

TEST_CASE("what is done between ops is in no latency and costs a second clock read") {
  Lane lane(10);
  std::vector<uint64_t> announced, finished, latencies_ns;
  struct Around {
    std::vector<uint64_t>& announced;
    std::vector<uint64_t>& finished;
    std::vector<uint64_t>& latencies_ns;
    void Before(const Op& next) {
      announced.push_back(next.offset);
      FakeClock::now += 3'333;
    }
    void NotBegun() { FAIL("nothing ends this phase early"); }
    void After(const Op& done, OpTimes times) {
      finished.push_back(done.offset);
      latencies_ns.push_back(times.end.value - times.begin.value);
      FakeClock::now += 4'444;
    }
  };
  TimedLoop<FakeClock>(
      lane.context,
      [&](const Op& op) {
        REQUIRE(announced.back() == op.offset);
        FakeClock::now += 100;
        return int64_t{op.length};
      },
      Around{announced, finished, latencies_ns});
  REQUIRE(announced.size() == 10);
  REQUIRE(finished == announced);
  REQUIRE(latencies_ns == std::vector<uint64_t>(10, 100));
  REQUIRE(lane.context.hook_ticks == 10 * (3'333 + 4'444) - 4'444);  // none is counted after the last op
  REQUIRE(lane.latencies().max_ns() == 100);
  REQUIRE(lane.latencies().min_ns() == 100);
  REQUIRE(lane.recorder.last_end() == Ticks{6'000 + 10 * (3'333 + 100 + 4'444) - 4'444});
  REQUIRE(FakeClock::read_count == 2 * 10 + 1);
}

// Waits before each op, and counts the waits that no op followed.
struct Waits {
  uint64_t wait_ns;
  uint64_t& not_begun;
  std::function<void()> meanwhile = [] {};
  void Before(const Op&) {
    FakeClock::now += wait_ns;
    meanwhile();
  }
  void NotBegun() { ++not_begun; }
  void After(const Op&, OpTimes) {}
};

int64_t TakesHundred(const Op& op) {
  FakeClock::now += 100;
  return int64_t{op.length};
}

TEST_CASE("an op that is not due before the deadline is not issued, and is still there for whoever goes on") {
  Lane lane(10);
  uint64_t not_begun = 0;
  lane.context.rules.deadline = {9'300};
  // Begins at 7000, 8100 and 9200; the fourth is due at 10,300.
  const LoopEnd end = TimedLoop<FakeClock>(lane.context, TakesHundred, Waits{1'000, not_begun});
  REQUIRE(end.reason == LoopEnd::Reason::kDeadline);
  REQUIRE(lane.recorder.ops() == 3);
  REQUIRE(lane.recorder.last_end() == Ticks{9'300});
  lane.context.rules.deadline = {10'000};
  lane.context.resume = true;
  REQUIRE(TimedLoop<FakeClock>(lane.context, TakesHundred, Waits{1'000, not_begun}).reason ==
          LoopEnd::Reason::kDeadline);
  REQUIRE(not_begun == 1);
  REQUIRE(lane.recorder.ops() == 3);
  REQUIRE(lane.recorder.ops_end() == Ticks{FakeClock::now});  // its waiting counts in its time
  lane.context.rules.deadline = LoopRules::kNever;
  REQUIRE(lane.Runs(Hundred).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.recorder.ops() == 10);
}

TEST_CASE("an op that waits for its turn is not issued when the lane is told to stop") {
  Lane lane(10);
  uint64_t not_begun = 0;
  Waits waits{1'000, not_begun};
  waits.meanwhile = [&] { lane.stop.stop = lane.recorder.ops() == 2; };
  REQUIRE(TimedLoop<FakeClock>(lane.context, TakesHundred, waits).reason == LoopEnd::Reason::kStopped);
  REQUIRE(lane.recorder.ops() == 2);
  REQUIRE(not_begun == 1);
}

}  // namespace
}  // namespace iobench
