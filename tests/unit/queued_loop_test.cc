#include "worker/loop/queued_loop.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/loop_fakes.h"

namespace iobench {
namespace {

using Reason = LoopEnd::Reason;

constexpr OpKinds kReads = OpKind::kRead;

// Ends each op `latency(number)` ns after the turn that began it; numbers count ops in the order of their begin.
class FakeQueue {
 public:
  void Prepare(uint32_t slot, const Op& op) {
    FakeClock::now += prepare_ns;
    REQUIRE(std::none_of(flying_.begin(), flying_.end(), [&](const Flying& f) { return f.slot == slot; }));
    prepared_.push_back({slot, 0, 0, op});
  }
  size_t Turn(bool wait, std::span<OpEnd> ends) {
    ++turn_count;
    FakeClock::now += turn_ns;
    for (Flying& each : prepared_) {
      each.number = offsets.size();
      each.end = FakeClock::now + latency(each.number);
      offsets.push_back(each.op.offset);
      if (on_begin) on_begin(each.number);
      flying_.push_back(each);
    }
    prepared_.clear();
    max_in_flight = std::max(max_in_flight, flying_.size());
    std::stable_sort(flying_.begin(), flying_.end(),
                     [](const Flying& a, const Flying& b) { return a.end < b.end; });
    if (wait) FakeClock::now = std::max(FakeClock::now, flying_.at(0).end);
    size_t count = 0;
    while (!flying_.empty() && flying_.front().end <= FakeClock::now) {
      const Flying& ended = flying_.front();
      ends[count++] = {ended.slot, moved ? moved(ended.number) : int64_t{ended.op.length}};
      flying_.erase(flying_.begin());
    }
    return count;
  }
  void Await(int64_t ns) {
    const uint64_t until = FakeClock::now + static_cast<uint64_t>(ns);
    FakeClock::now = flying_.empty() ? until : std::clamp(flying_.front().end, FakeClock::now, until);
  }
  const std::byte* DataOf(uint32_t slot) const { return &memory_[slot]; }

  std::function<uint64_t(uint64_t number)> latency = [](uint64_t) { return 100; };
  std::function<int64_t(uint64_t number)> moved;
  std::function<void(uint64_t number)> on_begin;
  uint64_t prepare_ns = 0, turn_ns = 0;
  std::vector<uint64_t> offsets;  // in the order of begin
  size_t max_in_flight = 0;
  uint64_t turn_count = 0;

 private:
  struct Flying {
    uint32_t slot;
    uint64_t number;
    uint64_t end;
    Op op;
  };
  std::vector<Flying> prepared_, flying_;
  std::byte memory_[64] = {};
};

struct Lane {
  Lane(uint64_t op_count, uint32_t depth) : stream(op_count), slots(depth) {
    FakeClock::now = 6'000;
    FakeClock::read_count = 0;
  }
  LoopEnd Runs() { return RunQueue<FakeClock>(context, slots, queue); }
  const Histogram& latencies() const { return *recorder.histogram_of(OpKind::kRead); }

  Kilobytes stream;
  OpSlots slots;
  FakeQueue queue;
  StopCell stop;
  LaneRecorder recorder{kReads, TickScale(TickSource::kMonotonic, {{0}, 0, 0}, {{1'000}, 1'000, 0})};
  LaneContext context{
      .stream = stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop, .recorder = recorder};
};

TEST_CASE(
    "as many ops are in flight as there are slots, and each is timed from its own begin to its own end") {
  Lane lane(4, 2);
  // 0: 6000-6100 and 1: 6000-6250; 2: 6100-6200; 3: 6200-6260.
  lane.queue.latency = [](uint64_t number) { return std::vector<uint64_t>{100, 250, 100, 60}[number]; };
  REQUIRE(lane.Runs().reason == Reason::kDone);
  lane.recorder.Finish();
  REQUIRE(lane.queue.offsets == std::vector<uint64_t>{0, 1024, 2048, 3072});
  REQUIRE(lane.queue.max_in_flight == 2);
  REQUIRE(lane.recorder.first_op() == Ticks{6'000});
  REQUIRE(lane.recorder.last_end() == Ticks{6'260});
  REQUIRE(
      lane.recorder.timeline().Points() ==
      std::vector<LanePoint>{
          {{6'000}, 0, 0}, {{6'100}, 1024, 1}, {{6'200}, 2048, 2}, {{6'250}, 3072, 3}, {{6'260}, 4096, 4}});
  REQUIRE(lane.latencies().count() == 4);
  REQUIRE(lane.latencies().min_ns() == 60);
  REQUIRE(lane.latencies().max_ns() == 250);
  REQUIRE(lane.latencies().mean_ns() == Approx((100 + 250 + 100 + 60) / 4.0));
}

TEST_CASE("with one slot it is the loop of one op after the other") {
  Lane lane(3, 1);
  lane.queue.latency = [](uint64_t number) { return 10 * (number + 1); };  // 10, 20, 30
  REQUIRE(lane.Runs().reason == Reason::kDone);
  REQUIRE(lane.queue.max_in_flight == 1);
  REQUIRE(lane.recorder.last_end() == Ticks{6'060});
  REQUIRE(lane.latencies().mean_ns() == 20);
}

TEST_CASE("what is made before a turn is in no latency, and the clock is read twice a turn") {
  Lane lane(200, 32);
  lane.stream.fill_ns = 1'000;
  lane.queue.prepare_ns = 500;
  REQUIRE(lane.Runs().reason == Reason::kDone);
  REQUIRE(lane.latencies().count() == 200);
  REQUIRE(lane.latencies().max_ns() == 100);
  REQUIRE(lane.queue.turn_count == 7);  // six of 32 and one of 8
  REQUIRE(FakeClock::read_count == 2 * 7 + 1);
  // Four batches (the last of 8) and the empty one, of which only the first lies before the start.
  REQUIRE(lane.recorder.first_op() == Ticks{7'000});
  REQUIRE(lane.recorder.last_end() == Ticks{7'000 + 4 * 1'000 + 200 * 500 + 7 * 100});
}

TEST_CASE("ops that are in flight when stop is set complete and count; the next run goes on without a hole") {
  for (const uint64_t stop_at : std::vector<uint64_t>{0, 5, 62, 63, 64, 95}) {
    INFO("stopped as op " << stop_at << " begins");
    Lane lane(100, 4);
    lane.queue.latency = [](uint64_t number) { return 100 + number % 3; };
    lane.queue.on_begin = [&](uint64_t number) {
      if (number == stop_at) lane.stop.stop = true;
    };
    REQUIRE(lane.Runs().reason == Reason::kStopped);
    const uint64_t begun = lane.queue.offsets.size();
    REQUIRE(begun > stop_at);
    REQUIRE(begun <= stop_at + 4);
    REQUIRE(lane.recorder.ops() == begun);
    lane.stop.stop = false;
    lane.context.resume = true;
    REQUIRE(lane.Runs().reason == Reason::kDone);
    REQUIRE(lane.recorder.ops() == 100);
    for (uint64_t i = 0; i < 100; ++i) REQUIRE(lane.queue.offsets[i] == i * 1024);
  }
}

TEST_CASE("a queue that is stopped before its first op has started and done nothing") {
  Lane lane(100, 8);
  lane.stop.stop = true;
  REQUIRE(lane.Runs().reason == Reason::kStopped);
  REQUIRE(lane.queue.turn_count == 0);
  REQUIRE(lane.recorder.first_op() == Ticks{6'000});
  REQUIRE(lane.recorder.last_end() == Ticks{6'000});
}

TEST_CASE("nothing begins after the deadline, and what is in flight then counts") {
  struct Case {
    uint64_t deadline, op_count;
  };
  static constexpr Case kCases[] = {{6'000, 2}, {6'100, 2}, {6'101, 4}, {6'200, 4}, {6'201, 6}};
  for (const auto& [deadline, op_count] : kCases) {
    Lane lane(10, 2);
    lane.context.rules.deadline = {deadline};
    INFO("deadline " << deadline);
    REQUIRE(lane.Runs().reason == Reason::kDeadline);
    REQUIRE(lane.recorder.ops() == op_count);
  }
  Lane lane(10, 2);
  lane.queue.latency = [](uint64_t number) { return number == 1 ? 5'000 : 100; };
  lane.context.rules.deadline = {6'250};
  REQUIRE(lane.Runs().reason == Reason::kDeadline);
  REQUIRE(lane.recorder.ops() == 4);  // 0, 2, 3 and at 11,000 op 1
  REQUIRE(lane.recorder.last_end() == Ticks{11'000});
}

TEST_CASE("a deadline after the last end is none") {
  Lane lane(2, 2);
  lane.context.rules.deadline = {6'101};
  REQUIRE(lane.Runs().reason == Reason::kDone);
}

TEST_CASE("a goal is met exactly, with whatever is in flight") {
  for (const uint64_t goal : std::vector<uint64_t>{1, 3, 4, 5, 64, 66, 99, 100}) {
    INFO("goal " << goal);
    Lane lane(100, 4);
    lane.queue.latency = [](uint64_t number) { return 100 + number % 3; };
    lane.context.rules.ops_goal = goal;
    REQUIRE(lane.Runs().reason == Reason::kGoal);
    REQUIRE(lane.recorder.ops() == goal);
    lane.context.rules = {};
    lane.context.resume = true;
    REQUIRE(lane.Runs().reason == Reason::kDone);
    REQUIRE(lane.queue.offsets.size() == 100);
  }
}

TEST_CASE("wear-out: after the deadline the lane goes on to its goal, and the pause is in no latency") {
  Lane lane(300, 8);
  lane.context.rules.deadline = {6'450};
  REQUIRE(lane.Runs().reason == Reason::kDeadline);
  REQUIRE(lane.recorder.ops() == 40);  // five turns
  FakeClock::now += 77'000;
  lane.context.resume = true;
  lane.context.rules = {.ops_goal = 170};
  REQUIRE(lane.Runs().reason == Reason::kGoal);
  REQUIRE(lane.recorder.ops() == 170);
  REQUIRE(lane.recorder.first_op() == Ticks{6'000});
  REQUIRE(lane.latencies().max_ns() == 100);
}

TEST_CASE("a new pass begins while ops of the last one are in flight") {
  Lane lane(3, 2);
  lane.context.rules = {.deadline = {6'350}, .repeat_passes = true};
  REQUIRE(lane.Runs().reason == Reason::kDeadline);
  REQUIRE(lane.queue.offsets == std::vector<uint64_t>{0, 1024, 2048, 0, 1024, 2048, 0, 1024});
  REQUIRE(lane.stream.passes == std::vector<uint64_t>{1, 2});
  REQUIRE(lane.context.pass == 2);
  REQUIRE(lane.recorder.ops() == 8);
}

TEST_CASE("a pass that is flushed has all its ops done then, and none of the next begun") {
  for (const bool aside : {false, true}) {
    Lane lane(3, 2);
    struct : OpHook {
      void Before(const Op&) override {}
      void After(const Op&, const std::byte*, OpTimes) override {}
    } nothing;
    if (aside) lane.context.between = &nothing;
    std::vector<uint64_t> ops_at_flush, begun_at_flush;
    lane.context.end_pass = [&] {
      ops_at_flush.push_back(lane.recorder.ops());
      begun_at_flush.push_back(lane.queue.offsets.size());
      FakeClock::now += 50;
      return true;
    };
    // A pass: two ops at once, then one, 200 in all. Flushes from 6200 and from 6450; the deadline comes in the second.
    lane.context.rules = {.deadline = {6'490}, .repeat_passes = true};
    INFO(aside);
    REQUIRE(lane.Runs().reason == Reason::kDeadline);
    REQUIRE(ops_at_flush == std::vector<uint64_t>{3, 6});
    REQUIRE(begun_at_flush == std::vector<uint64_t>{3, 6});
    REQUIRE(lane.recorder.ops() == 6);
    REQUIRE(lane.recorder.last_end() == Ticks{6'450});
    REQUIRE(lane.latencies().max_ns() == 100);
  }
}

TEST_CASE("a flush that fails ends the queue's loop") {
  Lane lane(3, 2);
  lane.context.end_pass = [] { return false; };
  lane.context.rules = {.deadline = {1'000'000}, .repeat_passes = true};
  lane.Runs();
  REQUIRE(lane.recorder.ops() == 3);
  REQUIRE(lane.stream.passes.empty());
}

TEST_CASE(
    "an op that fails ends the loop; the others in flight complete and count; the first failure is told") {
  Lane lane(100, 4);
  // In flight together: 4, 5, 6, 7. 5 fails first, 6 later; 4 and 7 succeed after that.
  lane.queue.latency = [](uint64_t number) {
    constexpr uint64_t kLatencies[] = {400, 100, 300, 200};
    return number < 4 ? 100 : kLatencies[number - 4];
  };
  lane.queue.moved = [](uint64_t number) {
    return number == 5 ? -int64_t{EIO} : number == 6 ? -int64_t{ENOSPC} : int64_t{1024};
  };
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  REQUIRE(end.errno_value == EIO);
  REQUIRE(end.failed_op.offset == 5 * 1024);
  REQUIRE(end.transferred == 0);
  REQUIRE(lane.queue.offsets.size() == 8);  // none begins after it
  REQUIRE(lane.recorder.ops() == 6);
  REQUIRE(lane.recorder.last_end() == Ticks{6'500});
}

TEST_CASE("failed ops of a queue's warm-up are told from those after it by when they ended") {
  for (const auto& [warmup_end, failed_count] :
       std::vector<std::pair<uint64_t, uint64_t>>{{0, 0}, {6'099, 0}, {6'100, 1}, {6'299, 1}, {6'300, 2}}) {
    INFO("warm-up until " << warmup_end);
    Lane lane(8, 2);
    if (warmup_end > 0) lane.recorder.SetWarmupEnd({warmup_end});
    // Two ops end together at 6100, 6200, 6300 and 6400. Of the first and the third pair, one fails.
    lane.queue.moved = [](uint64_t number) { return number % 4 == 1 ? -int64_t{EIO} : int64_t{1024}; };
    while (lane.Runs().reason == Reason::kFailed) lane.context.resume = true;
    CHECK(lane.recorder.ops() == 6);
    CHECK(lane.context.failed_ops.total() == 2);
    CHECK(lane.context.warmup_failed_count == failed_count);
  }
}

// Ops 0 to 39 take 100 ns each, those from 40 to `fails_until` fail after 1 ms. The lane goes on after failures.
void RunsOverFailures(Lane& lane, uint64_t fails_until) {
  const auto fails = [=](uint64_t number) { return number >= 40 && number < fails_until; };
  lane.queue.latency = [=](uint64_t number) { return fails(number) ? uint64_t{1'000'000} : 100; };
  lane.queue.moved = [=](uint64_t number) { return fails(number) ? -int64_t{EIO} : int64_t{1024}; };
  while (lane.Runs().reason == Reason::kFailed) lane.context.resume = true;
  lane.recorder.Finish();
}

TEST_CASE("an outage in which a queue's ops fail is a stall") {
  Lane recovers(100, 4);
  RunsOverFailures(recovers, 60);
  CHECK(recovers.recorder.ops() == 80);
  CHECK(recovers.recorder.longest_stall().begin == Ticks{7'000});  // ten turns
  CHECK(recovers.recorder.longest_stall().end == Ticks{7'000 + 5 * 1'000'000 + 100});
}

TEST_CASE("an outage in which a queue's ops fail until the end is a stall, too") {
  Lane ends(100, 4);
  RunsOverFailures(ends, 100);
  CHECK(ends.recorder.last_end() == Ticks{7'000});
  CHECK(ends.recorder.ops_end() == Ticks{7'000 + 15 * 1'000'000});
  CHECK(ends.recorder.longest_stall().begin == Ticks{7'000});
  CHECK(ends.recorder.longest_stall().end == ends.recorder.ops_end());
}

TEST_CASE("a failure that comes after a stop is a failure") {
  Lane lane(100, 2);
  lane.queue.on_begin = [&](uint64_t) { lane.stop.stop = true; };
  lane.queue.latency = [](uint64_t number) { return 100 * (number + 1); };
  lane.queue.moved = [](uint64_t number) { return number == 1 ? -int64_t{EIO} : int64_t{1024}; };
  REQUIRE(lane.Runs().reason == Reason::kFailed);
  REQUIRE(lane.recorder.ops() == 1);
}

TEST_CASE("a short transfer fails its op in the queue and says how much was moved") {
  Lane lane(100, 4);
  lane.queue.moved = [](uint64_t number) { return number == 1 ? int64_t{1000} : int64_t{1024}; };
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  REQUIRE(end.errno_value == 0);
  REQUIRE(end.failed_op.offset == 1024);
  REQUIRE(end.transferred == 1000);
  REQUIRE(lane.recorder.bytes() == 3 * 1024);
}

TEST_CASE("ops that end together make one point of the timeline, which holds them all") {
  Lane lane(64, 32);
  lane.queue.latency = [](uint64_t) { return 20'000; };  // over the first interval: each turn wants a point
  lane.Runs();
  lane.recorder.Finish();
  std::vector<LanePoint> kept;
  for (const LanePoint& point : lane.recorder.timeline().Points()) {
    if (kept.empty() || kept.back().at < point.at) kept.push_back(point);
    kept.back() = point;  // the last of each instant
  }
  REQUIRE(kept ==
          std::vector<LanePoint>{{{6'000}, 0, 0}, {{26'000}, 32 * 1024, 32}, {{46'000}, 64 * 1024, 64}});
}

TEST_CASE("all ops of the turn that crosses the end of the warm-up are measured") {
  Lane lane(100, 10);
  lane.queue.latency = [](uint64_t number) { return number < 20 ? 100 : 20; };
  lane.recorder.SetWarmupEnd({6'150});
  REQUIRE(lane.Runs().reason == Reason::kDone);
  lane.recorder.Finish();
  REQUIRE(lane.recorder.ops() == 100);
  REQUIRE(lane.recorder.warmup_ops() == 10);
  REQUIRE(lane.latencies().count() == 90);
  REQUIRE(lane.latencies().max_ns() == 100);
}

// Notes what comes between ops, and takes its time.
struct Noted final : OpHook {
  void Before(const Op& next) override {
    order += "b" + std::to_string(next.offset / 1024) + " ";
    FakeClock::now += before_ns;
  }
  void NotBegun() override { order += "n "; }
  void After(const Op& done, const std::byte* data, OpTimes op_times) override {
    times.emplace_back(op_times.begin.value, op_times.end.value);
    order += "a" + std::to_string(done.offset / 1024) + " ";
    seen.push_back(data);
    FakeClock::now += after_ns;
  }
  std::string order;
  std::vector<const std::byte*> seen;
  std::vector<std::pair<uint64_t, uint64_t>> times;
  uint64_t before_ns = 0, after_ns = 0;
};

TEST_CASE(
    "with several in flight, before comes in order of begins and after in order of ends, with the slot's "
    "data") {
  Lane lane(4, 2);
  Noted noted;
  lane.context.between = &noted;
  // 0: 6000-6100, 1: 6000-6250, 2: 6100-6200, 3: 6200-6260
  lane.queue.latency = [](uint64_t number) { return std::vector<uint64_t>{100, 250, 100, 60}[number]; };
  REQUIRE(lane.Runs().reason == Reason::kDone);
  REQUIRE(noted.order == "b0 b1 a0 b2 a2 b3 a1 a3 ");
  using Times = std::vector<std::pair<uint64_t, uint64_t>>;
  REQUIRE(noted.times == Times{{6'000, 6'100}, {6'100, 6'200}, {6'000, 6'250}, {6'200, 6'260}});
  // Slot 0 for ops 0, 2 and 3, slot 1 for op 1.
  const std::byte* const first = lane.queue.DataOf(0);
  REQUIRE(noted.seen == std::vector<const std::byte*>{first, first, lane.queue.DataOf(1), first});
  REQUIRE(lane.recorder.last_end() == Ticks{6'260});
  REQUIRE(lane.latencies().max_ns() == 250);
}

TEST_CASE("what is done between ops is in no op's time when nothing else is in flight") {
  Lane lane(10, 1);
  Noted noted;
  noted.before_ns = 3'333;
  noted.after_ns = 4'444;
  lane.context.between = &noted;
  REQUIRE(lane.Runs().reason == Reason::kDone);
  REQUIRE(lane.latencies().max_ns() == 100);
  REQUIRE(lane.context.hook_ticks == 10 * (3'333 + 4'444));
  REQUIRE(lane.recorder.last_end() == Ticks{6'000 + 10 * (3'333 + 100) + 9 * 4'444});
}

TEST_CASE("an end is noted late by one before and one after at most") {
  Lane lane(64, 16);
  Noted noted;
  noted.before_ns = 30;
  noted.after_ns = 50;
  lane.context.between = &noted;
  lane.queue.latency = [](uint64_t) { return 1'000; };
  REQUIRE(lane.Runs().reason == Reason::kDone);
  REQUIRE(lane.latencies().count() == 64);
  REQUIRE(lane.queue.max_in_flight > 8);
  REQUIRE(lane.latencies().min_ns() == 1'000);
  REQUIRE(lane.latencies().max_ns() < 1'000 + 30 + 50 + 1);
}

TEST_CASE("an op that is not due before the deadline is not issued, and those in flight complete") {
  Lane lane(10, 4);
  Noted noted;
  noted.before_ns = 1'000;
  lane.context.between = &noted;
  lane.context.rules.deadline = {9'500};  // ops begin at 7000, 8000 and 9000
  lane.queue.latency = [](uint64_t) { return 10'000; };
  REQUIRE(lane.Runs().reason == Reason::kDeadline);
  REQUIRE(noted.order == "b0 b1 b2 b3 n a0 a1 a2 ");
  REQUIRE(lane.recorder.ops() == 3);
  REQUIRE(lane.recorder.ops_end() == Ticks{19'000});
  lane.context.rules.deadline = LoopRules::kNever;
  lane.context.resume = true;
  REQUIRE(lane.Runs().reason == Reason::kDone);
  REQUIRE(lane.recorder.ops() == 10);
  REQUIRE(lane.queue.offsets[3] == 3 * 1024);
}

// An open loop with evenly spaced ops, whose naps take 1 us at least.
struct OpenQueue {
  OpenQueue(Lane& lane, double per_s)
      : arrivals(
            std::make_shared<Arrivals>(ArrivalRate{.begin_per_s = per_s, .poisson = false}, 1, scale, 0)),
        open_loop(arrivals, scale,
                  [](int64_t ns) { FakeClock::now += static_cast<uint64_t>(std::max<int64_t>(ns, 1'000)); }) {
    lane.context.open_loop = &open_loop;
  }
  const TickScale scale{TickSource::kMonotonic, {{0}, 0, 0}, {{1'000}, 1'000, 0}};
  std::shared_ptr<Arrivals> arrivals;
  OpenLoop open_loop;
};

TEST_CASE("in an open loop, the time between ops includes the wait for the next op to be due") {
  struct Case {
    double per_s;
    uint64_t latency_ns;
  };
  // With ops in flight, the next one always being due soon; and with none.
  for (const Case& each : {Case{30'000, 100'000}, Case{1'000, 100}}) {
    INFO(each.per_s << " ops/s");
    Lane lane(64, 32);
    OpenQueue schedule(lane, each.per_s);
    lane.queue.turn_ns = 500;
    lane.queue.latency = [&](uint64_t) { return each.latency_ns; };
    REQUIRE(lane.Runs().reason == Reason::kDone);
    const auto all = static_cast<double>(lane.recorder.last_end().value - lane.recorder.first_op().value);
    CHECK(static_cast<double>(lane.context.hook_ticks) > 0.85 * all);
    CHECK(static_cast<double>(lane.context.hook_ticks) < all);
  }
}

TEST_CASE("in an open loop of a queue, the time between ops includes what is done before each op") {
  Lane lane(10, 4);
  OpenQueue schedule(lane, 1e6);  // ops are due sooner than they can begin
  Noted noted;
  noted.before_ns = 3'000;
  lane.context.between = &noted;
  REQUIRE(lane.Runs().reason == Reason::kDone);
  CHECK(lane.context.hook_ticks >= 10 * 3'000);
}

TEST_CASE("in an open loop, an op that waits while another one fails keeps its time") {
  Lane lane(10, 4);
  OpenQueue schedule(lane, 1'000);
  lane.queue.moved = [](uint64_t number) { return number == 3 ? -int64_t{EIO} : int64_t{1024}; };
  REQUIRE(lane.Runs().reason == Reason::kFailed);
  lane.context.resume = true;
  REQUIRE(lane.Runs().reason == Reason::kDone);
  CHECK(lane.recorder.ops() == 9);
  CHECK(lane.recorder.last_end() < Ticks{6'000 + 9'100'000});  // the last one is due after 9 ms
  CHECK(schedule.arrivals->MissedBefore(lane.recorder.ops_end()) == 0);
}

TEST_CASE("an op that failed is not shown to what lies between ops") {
  Lane lane(10, 2);
  Noted noted;
  lane.context.between = &noted;
  lane.queue.moved = [](uint64_t number) { return number == 1 ? -int64_t{EIO} : int64_t{1024}; };
  REQUIRE(lane.Runs().reason == Reason::kFailed);
  REQUIRE(noted.order == "b0 b1 a0 ");
}

}  // namespace
}  // namespace iobench
