// The schedule of an open loop, and both loops on it in virtual time, against the formulas of queueing theory.
#include "worker/loop/open_loop.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "tests/unit/loop_fakes.h"
#include "worker/loop/hooked_loop.h"
#include "worker/loop/queued_loop.h"

namespace iobench {
namespace {

const TickScale kNsTicks(TickSource::kMonotonic, {{0}, 0, 0}, {{1'000}, 1'000, 0});
constexpr double kServiceNs = 100e6;

std::vector<double> FirstMs(const ArrivalRate& rate, size_t count, uint64_t seed = 1) {
  ArrivalTimes times(rate, seed);
  std::vector<double> ms(count);
  for (double& each : ms) each = times.NextNs() / 1e6;
  return ms;
}

TEST_CASE("evenly spaced ops are due at equal gaps, and schedules can take turns") {
  CHECK(FirstMs({.begin_per_s = 100, .poisson = false}, 3) == std::vector<double>{0, 10, 20});
  CHECK(FirstMs({.begin_per_s = 100, .poisson = false, .first_gap = 0.25}, 3) ==
        std::vector<double>{2.5, 12.5, 22.5});
}

TEST_CASE("bursts of 1 s every 4 s have all ops of their 4 s, so that the rate remains the mean") {
  const ArrivalRate rate{.begin_per_s = 100, .burst_s = 1, .burst_every_s = 4, .poisson = false};
  const std::vector<double> ms = FirstMs(rate, 1200);  // of 12 s
  CHECK(ms[1] - ms[0] == Approx(2.5));
  CHECK(ms[399] == Approx(997.5));
  CHECK(ms[400] == Approx(4000));
  CHECK(ms[1199] == Approx(8997.5));
  for (const double each : FirstMs({.begin_per_s = 100, .burst_s = 1, .burst_every_s = 4}, 2000)) {
    REQUIRE(std::fmod(each, 4000) <= 1000);
  }
}

TEST_CASE("a rate that rises from 100 to 300 in 2 s has 150 ops due in the first second and 400 by the end") {
  const std::vector<double> ms =
      FirstMs({.begin_per_s = 100, .end_per_s = 300, .ramp_s = 2, .poisson = false}, 1000);
  const auto due_by = [&](double end_ms) {
    return std::count_if(ms.begin(), ms.end(), [&](double each) { return each < end_ms; });
  };
  CHECK(due_by(1000) == 150);
  CHECK(due_by(2000.001) == 401);  // the first one is due at 0
  CHECK(due_by(3000.001) == 701);  // then it stays at 300
  // The other way round, the halves change places.
  const std::vector<double> falling =
      FirstMs({.begin_per_s = 300, .end_per_s = 100, .ramp_s = 2, .poisson = false}, 400);
  CHECK(std::count_if(falling.begin(), falling.end(), [](double each) { return each < 1000; }) == 250);
}

TEST_CASE("a Poisson process has exponential gaps, which a seed repeats") {
  constexpr size_t kCount = 400'000;
  const std::vector<double> ms = FirstMs({.begin_per_s = 1000}, kCount);
  double sum = 0, squares = 0;
  size_t longer = 0;  // than the mean: 1/e of them
  for (size_t i = 1; i < ms.size(); ++i) {
    const double gap = ms[i] - ms[i - 1];
    sum += gap;
    squares += gap * gap;
    longer += gap > 1 ? 1 : 0;
  }
  const double n = kCount - 1, mean = sum / n;
  CHECK(mean == Approx(1).epsilon(0.01));
  CHECK(std::sqrt(squares / n - mean * mean) == Approx(1).epsilon(0.02));
  CHECK(static_cast<double>(longer) / n == Approx(std::exp(-1)).epsilon(0.01));
  CHECK(FirstMs({.begin_per_s = 1000}, 10) == FirstMs({.begin_per_s = 1000}, 10));
  CHECK(FirstMs({.begin_per_s = 1000}, 10, 2) != FirstMs({.begin_per_s = 1000}, 10));
}

TEST_CASE("what was due before the end and not begun is missed, but not what belongs to the warm-up") {
  // Due at 0, 1 … ms after the start at 500 ns.
  Arrivals arrivals({.begin_per_s = 1000, .poisson = false}, 1, kNsTicks, /*measured_from_ns=*/2'000'000);
  CHECK(arrivals.Take({500}) == Ticks{500});
  const Ticks second = arrivals.Take({700}), third = arrivals.Take({700});
  CHECK(second == Ticks{1'000'500});
  CHECK(third == Ticks{2'000'500});
  arrivals.PutBack(second);  // of the warm-up
  arrivals.PutBack(third);
  CHECK(arrivals.MissedBefore({6'000'500}) == 1 + 3);  // at 2 ms, and 3, 4, 5
}

TEST_CASE("what was put back is taken before what is due later") {
  Arrivals arrivals({.begin_per_s = 1000, .poisson = false}, 1, kNsTicks, /*measured_from_ns=*/0);
  CHECK(arrivals.Take({500}) == Ticks{500});
  const Ticks second = arrivals.Take({500}), third = arrivals.Take({500});
  arrivals.PutBack(third);
  arrivals.PutBack(second);
  CHECK(arrivals.Take({600}) == second);
  CHECK(arrivals.Take({600}) == third);
  CHECK(arrivals.Take({600}) == Ticks{3'000'500});
  CHECK(arrivals.MissedBefore({4'000'000}) == 0);
}

TEST_CASE("the longest time of some gaps has the pauses between bursts in it") {
  const Arrivals steady({.begin_per_s = 100}, 1, kNsTicks, 0);
  CHECK(steady.LongestNs(20) == Approx(0.2e9));
  const Arrivals ramp({.begin_per_s = 100, .end_per_s = 50, .ramp_s = 2}, 1, kNsTicks, 0);
  CHECK(ramp.LongestNs(20) == Approx(0.4e9));
  // Within bursts, the gaps are 2.5 ms. 2.5 s of bursts have three pauses of 3 s in and around them.
  const Arrivals bursts({.begin_per_s = 100, .burst_s = 1, .burst_every_s = 4}, 1, kNsTicks, 0);
  CHECK(bursts.LongestNs(20) == Approx(3.05e9));
  CHECK(bursts.LongestNs(1000) == Approx(11.5e9));
}

TEST_CASE("what is due after the time limit, while the last ops end, is not missed") {
  Arrivals arrivals({.begin_per_s = 1000, .poisson = false}, 1, kNsTicks, /*measured_from_ns=*/0);
  arrivals.Take({500});
  CHECK(arrivals.MissedBefore({6'000'500}, /*limit_ns=*/4'000'000) == 3);  // at 1, 2 and 3 ms
}

TEST_CASE("of a rate that nothing can follow, what was missed is estimated at last") {
  Arrivals arrivals({.begin_per_s = 1e9, .poisson = false}, 1, kNsTicks, 0);
  arrivals.Take({0});
  CHECK(static_cast<double>(arrivals.MissedBefore({10'000'000'000})) == Approx(1e10).epsilon(1e-3));
}

TEST_CASE("what was missed is estimated from the rate in bursts and ramps, and without the warm-up") {
  const auto missed = [](const ArrivalRate& rate, uint64_t end_ns, int64_t measured_from_ns) {
    Arrivals arrivals(rate, 1, kNsTicks, measured_from_ns);
    arrivals.Take({0});
    return static_cast<double>(arrivals.MissedBefore({end_ns}));
  };
  const ArrivalRate bursts{.begin_per_s = 1e7, .burst_s = 1, .burst_every_s = 10, .poisson = false};
  CHECK(missed(bursts, 100'000'000'000, 0) == Approx(1e9).epsilon(1e-3));
  const ArrivalRate ramp{.begin_per_s = 1e7, .end_per_s = 3e7, .ramp_s = 10, .poisson = false};
  CHECK(missed(ramp, 10'000'000'000, 0) == Approx(2e8).epsilon(1e-3));
  const ArrivalRate steady{.begin_per_s = 1e8, .poisson = false};
  CHECK(missed(steady, 10'000'000'000, 5'000'000'000) == Approx(5e8).epsilon(1e-3));
}

// A lane on a virtual clock: naps end on time, and time passes only there and in ops.
struct OpenLane {
  OpenLane(uint64_t op_count, double load)
      : stream(op_count),
        arrivals(std::make_shared<Arrivals>(ArrivalRate{.begin_per_s = load * 1e9 / kServiceNs}, /*seed=*/7,
                                            kNsTicks, 0)) {
    FakeClock::now = 1'000'000;
    context.open_loop = &open_loop;
  }
  double mean_response() const { return recorder.histogram_of(OpKind::kRead)->mean_ns() / kServiceNs; }  // in times of service

  Kilobytes stream;
  StopCell stop;
  LaneRecorder recorder{OpKind::kRead, kNsTicks};
  std::shared_ptr<Arrivals> arrivals;
  OpenLoop open_loop{arrivals, kNsTicks,
                     [](int64_t ns) { FakeClock::now += static_cast<uint64_t>(ns) + 60'000; }};
  LaneContext context{
      .stream = stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop, .recorder = recorder};
};

// One lane that takes the same time for each op is a queue with one server (M/D/1).
TEST_CASE("response times of a lane with constant ops follow M/D/1 at 50, 80 and 90 % load") {
  for (const double load : {0.5, 0.8, 0.9}) {
    OpenLane lane(500'000, load);
    const auto op = [](const Op& each) {
      FakeClock::now += static_cast<uint64_t>(kServiceNs);
      return int64_t{each.length};
    };
    REQUIRE(RunLoop<FakeClock>(lane.context, op).reason == LoopEnd::Reason::kDone);
    INFO("load " << load);
    CHECK(lane.mean_response() == Approx(1 + load / (2 * (1 - load))).epsilon(0.02));
    // The latency of an op is its response: lag and service.
    CHECK(lane.open_loop.service().mean_ns() == Approx(kServiceNs));
    CHECK(lane.open_loop.lag().mean_ns() / kServiceNs + 1 == Approx(lane.mean_response()));
  }
}

// Storage that does one op at a time, each of which takes an exponential time.
class ExponentialServer {
 public:
  void Prepare(uint32_t slot, const Op& op) { prepared_.push_back({slot, 0, op.length}); }
  size_t Turn(bool wait, std::span<OpEnd> ends) {
    constexpr uint64_t kTurnNs = 20'000;
    FakeClock::now += kTurnNs;
    for (Flying& each : prepared_) {
      free_at_ = std::max(free_at_, FakeClock::now) + static_cast<uint64_t>(service_(random_));
      each.end = free_at_;
      flying_.push_back(each);
    }
    prepared_.clear();
    if (wait) FakeClock::now = std::max(FakeClock::now, flying_.at(0).end);
    size_t count = 0;
    while (count < flying_.size() && flying_[count].end <= FakeClock::now) {
      ends[count] = {flying_[count].slot, flying_[count].length};
      ++count;
    }
    flying_.erase(flying_.begin(), flying_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  void Await(int64_t ns) {
    const uint64_t until = FakeClock::now + static_cast<uint64_t>(ns) + 60'000;
    FakeClock::now = std::clamp(flying_.at(0).end, FakeClock::now, until);
  }
  const std::byte* DataOf(uint32_t) const { return nullptr; }

 private:
  struct Flying {
    uint32_t slot;
    uint64_t end;
    uint32_t length;
  };
  std::vector<Flying> prepared_, flying_;
  uint64_t free_at_ = 0;
  std::mt19937_64 random_{11};
  std::exponential_distribution<double> service_{1 / kServiceNs};
};

TEST_CASE("response times of storage with exponential service follow M/M/1 at 50, 80 and 90 % load") {
  for (const double load : {0.5, 0.8, 0.9}) {
    // The standard error of the mean at 90 % load is 1.3 % with this number of ops, and at lower loads less.
    const uint64_t op_count = load > 0.85 ? 2'000'000 : 500'000;
    OpenLane lane(op_count, load);
    ExponentialServer server;
    OpSlots slots(1024);
    REQUIRE(RunQueue<FakeClock>(lane.context, slots, server).reason == LoopEnd::Reason::kDone);
    INFO("load " << load);
    CHECK(lane.mean_response() == Approx(1 / (1 - load)).epsilon(0.04));
    // There was always a slot, so the storage alone made ops wait.
    CHECK(lane.open_loop.lag().mean_ns() < 0.001 * kServiceNs);
    CHECK(lane.open_loop.service().count() == op_count);
  }
}

TEST_CASE("an op that is not due by the deadline does not begin, with one op in flight and with several") {
  OpenLane lane(1000, 0.5);
  lane.context.rules.deadline = Ticks{FakeClock::now + static_cast<uint64_t>(20 * kServiceNs)};
  ExponentialServer server;
  OpSlots slots(16);
  REQUIRE(RunQueue<FakeClock>(lane.context, slots, server).reason == LoopEnd::Reason::kDeadline);
  const uint64_t begun = lane.recorder.ops();
  CHECK(begun > 2);
  CHECK(begun < 30);
  // Every op that was due by then has begun, since there was room.
  CHECK(lane.arrivals->MissedBefore(lane.context.rules.deadline) == 0);

  OpenLane sequential(1000, 2);  // twice what it can do
  sequential.context.rules.deadline = Ticks{FakeClock::now + static_cast<uint64_t>(20 * kServiceNs)};
  const auto op = [](const Op& each) {
    FakeClock::now += static_cast<uint64_t>(kServiceNs);
    return int64_t{each.length};
  };
  REQUIRE(RunLoop<FakeClock>(sequential.context, op).reason == LoopEnd::Reason::kDeadline);
  const uint64_t missed = sequential.arrivals->MissedBefore(sequential.recorder.ops_end());
  CHECK(static_cast<double>(missed + sequential.recorder.ops()) == Approx(40).margin(20));
  CHECK(missed > 5);
}

TEST_CASE("a stop ends a lane that waits for an op that is due much later") {
  OpenLane lane(1000, 1e-6);
  int naps = 0;
  OpenLoop stopping(lane.arrivals, kNsTicks, [&](int64_t ns) {
    FakeClock::now += static_cast<uint64_t>(ns);
    if (++naps == 3) lane.stop.stop = true;
  });
  lane.context.open_loop = &stopping;
  ExponentialServer server;
  OpSlots slots(4);
  CHECK(RunQueue<FakeClock>(lane.context, slots, server).reason == LoopEnd::Reason::kStopped);
  CHECK(lane.recorder.ops() == 0);
  CHECK(naps == 3);
}

TEST_CASE("ops of the warm-up are in no histogram") {
  OpenLane lane(100, 0.5);
  lane.open_loop.SetWarmupEnd({1'500});
  lane.open_loop.Note({1'000}, {.begin = {1'200}, .end = {1'500}});
  CHECK(lane.open_loop.service().count() == 0);
  lane.open_loop.Note({1'000}, {.begin = {1'200}, .end = {1'501}});
  CHECK(lane.open_loop.service().max_ns() == 301);
  CHECK(lane.open_loop.lag().max_ns() == 200);
}

}  // namespace
}  // namespace iobench
