#include "coordinator/cluster/clock_sync.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/cluster/ping_ride.h"
#include "tests/support/simulated_workers.h"

namespace iobench {
namespace {

using Catch::Contains;
using Workers = std::vector<uint32_t>;

constexpr char kOwnBootId[] = "boot of the coordinator";
constexpr int64_t kSecond = kNanosPerSecond;

// A worker whose clock is `offset_s` ahead of the coordinator's. A message takes 50 us each way.
SimulatedWorker Ahead(double offset_s, const std::string& boot_id = "boot x") {
  SimulatedWorker worker;
  worker.facts.set_host("node of " + boot_id);
  worker.facts.set_boot_id(boot_id);
  worker.facts.set_program_version("1.0");
  worker.offset_s = offset_s;
  return worker;
}

// `count` workers, each with a clock of its own.
std::vector<SimulatedWorker> WithClocks(int count) {
  std::vector<SimulatedWorker> list;
  for (int number = 0; number < count; ++number) list.push_back(Ahead(number, std::to_string(number)));
  return list;
}

// A cluster in simulated time, whose clocks are verified.
struct Measuring {
  explicit Measuring(std::vector<SimulatedWorker> list,
                     ClockSync::Measured measured = ClockSync::Measured::kOtherClocks)
      : count(static_cast<uint32_t>(list.size())),
        workers(std::move(list)),
        cluster(workers, /*run_id=*/7, interrupt, ClusterPatience(), [this] { return workers.now(); }),
        clocks(cluster, kOwnBootId, measured) {
    REQUIRE(cluster.Gather(count, {INT64_MAX}, "1.0", [](uint32_t) {}).ok());
    REQUIRE(clocks.Verify().ok());
    clocks.StartPhase();
  }
  Measuring(const Measuring&) = delete;

  void Burst() { REQUIRE(clocks.Burst().ok()); }
  void Wait(double seconds) {
    const CoordTime end = workers.now() + NanosFrom(seconds);
    CHECK(absl::IsDeadlineExceeded(cluster.WaitUntil([] { return false; }, {.deadline = end})));
  }
  // Notes one ping of the worker that was sent at `sent_ns`, when its clock was `offset_ns` ahead.
  void Note(uint32_t worker, int64_t sent_ns, int64_t offset_ns, int64_t held_ns = 0) {
    v1::Pong pong;
    pong.set_received_worker_ns(sent_ns + 50'000 + offset_ns);
    pong.set_replied_worker_ns(pong.received_worker_ns() + held_ns);
    clocks.Note(cluster.members()[worker], {sent_ns}, pong, {sent_ns + 100'000});
  }
  const std::vector<v1::PingBurst>& BurstsOf(uint32_t worker) const { return clocks.BurstsOf(worker); }
  double TrueOffsetNs(uint32_t worker, CoordTime at) const {
    return static_cast<double>(workers.OnClockOf(worker, at.ns) - at.ns);
  }

  uint32_t count;
  SimulatedWorkers workers;
  Interrupt interrupt;
  Cluster cluster;
  ClockSync clocks;
};

CoordTime MiddleOf(const v1::PingBurst& burst) {
  const int64_t first_ns = burst.samples(0).sent_coord_ns();
  return {first_ns + (burst.samples(burst.samples_size() - 1).returned_coord_ns() - first_ns) / 2};
}

TEST_CASE("a ping that cannot have happened bounds nothing and is told of") {
  Measuring measuring({Ahead(3)});
  measuring.Burst();
  const size_t bursts = measuring.BurstsOf(0).size();
  CHECK(measuring.clocks.ImpossiblePing(0).empty());
  const int64_t now_ns = measuring.workers.now().ns;
  measuring.Note(0, now_ns, 3 * kSecond, /*held_ns=*/-1);
  CHECK_THAT(measuring.clocks.ImpossiblePing(0), Contains("before the ping had arrived"));
  measuring.Note(0, now_ns, 3 * kSecond, /*held_ns=*/kSecond);
  CHECK_THAT(measuring.clocks.ImpossiblePing(0),
             Contains("it spent 1 s on a ping that was back after 100 us"));
  measuring.Note(0, now_ns, INT64_MIN / 2);
  CHECK_THAT(measuring.clocks.ImpossiblePing(0), Contains("no time that a clock can show"));
  CHECK(measuring.BurstsOf(0).size() == bursts);
}

TEST_CASE("a clock's offset is the middle of what its pings prove, and its error is half of that") {
  Measuring measuring({Ahead(3)});
  CHECK(measuring.clocks.longest_round_trip_ns() == 100'000);
  CHECK(measuring.clocks.round_ns() == 100'000);
  measuring.Burst();
  REQUIRE(measuring.BurstsOf(0).size() == 1);
  REQUIRE(measuring.BurstsOf(0)[0].samples_size() == 16);
  // The middle of the burst is the end of its 8th ping and the beginning of its 9th: 3 s - 50 us to 3 s + 50 us.
  const CoordTime at = MiddleOf(measuring.BurstsOf(0)[0]);
  const ClockMap map = measuring.clocks.MapOf(0);
  CHECK(map.offset_ns(at) == 3e9);
  CHECK(map.error_ns(at) == 50'025);  // 50 us, and what 500 ppm add to it in its own time
  CHECK(map.ToWorker(at).ns == at.ns + 3 * kSecond);
  CHECK(map.ToCoordinator({at.ns + 3 * kSecond}) == at);
}

TEST_CASE("a slower way back shifts the offset, but within its error") {
  SimulatedWorker worker = Ahead(3);
  worker.way_there_ns = 10'000;
  worker.way_back_ns = 90'000;
  Measuring measuring({worker});
  measuring.Burst();
  const CoordTime at = MiddleOf(measuring.BurstsOf(0)[0]);
  const ClockMap map = measuring.clocks.MapOf(0);
  CHECK(map.offset_ns(at) == 3e9 - 40'000);  // between 3 s - 90 us and 3 s + 10 us
  CHECK(map.error_ns(at) == 50'025);
}

TEST_CASE("the error grows by 500 ppm of the time since the last pings, and pings on both sides bound it") {
  Measuring measuring({Ahead(3)});
  measuring.Burst();
  const CoordTime before = MiddleOf(measuring.BurstsOf(0)[0]);
  CHECK(measuring.clocks.MapOf(0).error_ns(before + 10 * kSecond) ==
        5'052'526);  // 50 us + 5 ms, and 500 ppm of that
  measuring.Wait(10);
  measuring.Burst();
  REQUIRE(measuring.BurstsOf(0).size() == 2);
  const CoordTime after = MiddleOf(measuring.BurstsOf(0)[1]);
  REQUIRE(after - before == 10'001'600'000);  // a burst takes 1.6 ms
  const ClockMap map = measuring.clocks.MapOf(0);
  CHECK(map.offset_ns(before + 5'000'800'000) == 3e9);
  CHECK(map.error_ns(before + 5'000'800'000) == 2'551'675);  // 50 us + 2.5004 ms, and 500 ppm of that
  CHECK(map.error_ns(after) == 50'025);
}

TEST_CASE("a drift between two bursts is followed, and narrows the error by half of its size") {
  SimulatedWorker worker = Ahead(3);
  worker.drift_ppm = 100;
  Measuring measuring({worker});
  measuring.Burst();
  measuring.Wait(10);
  measuring.Burst();
  const CoordTime before = MiddleOf(measuring.BurstsOf(0)[0]), after = MiddleOf(measuring.BurstsOf(0)[1]);
  const ClockMap map = measuring.clocks.MapOf(0);
  // Over 10.0016 s, the clock gains 1,000,160 ns. The bounds of both bursts overlap by that much less.
  CHECK(map.offset_ns(after) - map.offset_ns(before) == Approx(1'000'160).margin(50));
  const CoordTime middle = before + (after - before) / 2;
  CHECK(map.offset_ns(middle) == Approx(measuring.TrueOffsetNs(0, middle)).epsilon(0).margin(50));
  CHECK(static_cast<double>(map.error_ns(middle)) == Approx(50'000 + 2'500'400 - 500'080 + 1'025).margin(50));
  for (int64_t tenth = 0; tenth <= 10; ++tenth) {
    const CoordTime at = before + tenth * (after - before) / 10;
    CHECK(std::abs(map.offset_ns(at) - measuring.TrueOffsetNs(0, at)) <=
          static_cast<double>(map.error_ns(at)));
  }
}

TEST_CASE("a worker that is lost within a burst leaves what it answered, and no other worker suffers") {
  SimulatedWorker lost = Ahead(-5, "boot y");
  lost.pings_answered = 4 + 5;  // 4 are those of Verify
  lost.then = SimulatedWorker::Then::kLost;
  Measuring measuring({Ahead(3), lost});
  measuring.Burst();
  CHECK(measuring.cluster.members()[1].lost);
  CHECK(measuring.BurstsOf(0)[0].samples_size() == 16);
  REQUIRE(measuring.BurstsOf(1).size() == 1);
  REQUIRE(measuring.BurstsOf(1)[0].samples_size() == 5);
  // The middle of five pings is within the third, 50 us from both of its ends: 25 ns of drift each.
  const CoordTime at = MiddleOf(measuring.BurstsOf(1)[0]);
  CHECK(measuring.clocks.MapOf(1).offset_ns(at) == -5e9);
  CHECK(measuring.clocks.MapOf(1).error_ns(at) == 50'050);
  measuring.Burst();
  CHECK(measuring.BurstsOf(0).size() == 2);
  CHECK(measuring.BurstsOf(1).size() == 1);
  CHECK(measuring.clocks.OneOfEachClock([](const Member&) { return true; }) == Workers{0});
}

TEST_CASE("a worker that is lost before it answers a single ping of a burst leaves none") {
  SimulatedWorker lost = Ahead(-5, "boot y");
  lost.pings_answered = 4;
  lost.then = SimulatedWorker::Then::kLost;
  Measuring measuring({Ahead(3), lost});
  measuring.Burst();
  CHECK(measuring.BurstsOf(0).size() == 1);
  CHECK(measuring.BurstsOf(1).empty());
}

TEST_CASE("a ping that is never answered ends with its worker, after its silence on the cluster's clock") {
  SimulatedWorker silent = Ahead(-5, "boot y");
  silent.pings_answered = 4 + 5;
  Measuring measuring({Ahead(3), silent});
  const CoordTime begin = measuring.workers.now();
  measuring.Burst();
  const double took_s = SecondsFrom(measuring.workers.now() - begin);
  CHECK(took_s > 44.9);  // the default of --lost-after
  CHECK(took_s < 46);
  CHECK_FALSE(measuring.cluster.members()[0].lost);
  CHECK(measuring.cluster.members()[1].lost);
  CHECK_THAT(measuring.cluster.members()[1].lost_reason, Contains("has not answered"));
  CHECK(measuring.BurstsOf(0)[0].samples_size() == 16);
  CHECK(measuring.BurstsOf(1)[0].samples_size() == 5);
}

TEST_CASE(
    "a worker that leaves out one ping of a burst, but answers others, does not hold the run for ever") {
  SimulatedWorker choosy = Ahead(-5, "boot y");
  choosy.ping_left_out = 4 + 5;
  Measuring measuring({Ahead(3), choosy});
  const CoordTime begin = measuring.workers.now();
  measuring.Burst();
  const double took_s = SecondsFrom(measuring.workers.now() - begin);
  CHECK(took_s > 89.9);  // twice the default of --lost-after
  CHECK(took_s < 91);
  CHECK_FALSE(measuring.cluster.members()[0].lost);
  CHECK(measuring.cluster.members()[1].lost);
  CHECK_THAT(measuring.cluster.members()[1].lost_reason, Contains("left a request unanswered"));
}

TEST_CASE("the pings of a long phase are bounded, spread over it, and kept around its instants") {
  Measuring measuring({Ahead(3)});
  const int64_t begin_ns = measuring.workers.now().ns;
  measuring.clocks.KeepAround({begin_ns + 432 * kSecond + kSecond / 2});
  for (int64_t second = 0; second < 1000; ++second) {
    measuring.Note(0, begin_ns + second * kSecond, 3 * kSecond);
  }
  std::vector<int64_t> seconds;
  for (const v1::PingBurst& burst : measuring.BurstsOf(0)) {
    REQUIRE(burst.samples_size() == 1);
    seconds.push_back((burst.samples(0).sent_coord_ns() - begin_ns) / kSecond);
  }
  REQUIRE(seconds.size() == PingLog::kMaxBursts);
  CHECK(seconds.front() == 0);
  CHECK(seconds.back() == 999);
  for (const int64_t kept : {432, 433}) CHECK(std::count(seconds.begin(), seconds.end(), kept) == 1);
  for (size_t i = 1; i < seconds.size(); ++i) CHECK(seconds[i] - seconds[i - 1] <= 3 * 1000 / 64);
  measuring.clocks.StartPhase();
  REQUIRE(measuring.BurstsOf(0).size() == 1);
  CHECK(measuring.BurstsOf(0)[0].samples(0).sent_coord_ns() == begin_ns + 999 * kSecond);
}

TEST_CASE(
    "a ping within which the clock was stepped is dropped, and after a step only the newest burst counts") {
  Measuring measuring({Ahead(3)});
  const int64_t begin_ns = measuring.workers.now().ns;
  measuring.Note(0, begin_ns, 3 * kSecond, /*held_ns=*/kSecond);  // claims a second within 0.1 ms
  CHECK(measuring.BurstsOf(0).empty());
  measuring.Note(0, begin_ns + kSecond, 3 * kSecond);
  measuring.Note(0, begin_ns + 2 * kSecond, 4 * kSecond);
  REQUIRE(measuring.BurstsOf(0).size() == 2);
  CHECK(measuring.clocks.MapOf(0).offset_ns(MiddleOf(measuring.BurstsOf(0)[1])) == 4e9);
}

TEST_CASE("a clock that is the coordinator's own is pinged only on request") {
  Measuring usual({Ahead(0, kOwnBootId)});
  const int pings = usual.workers.count(v1::WorkerRequest::kPing);
  usual.Burst();
  usual.Note(0, usual.workers.now().ns, 0);
  CHECK(usual.workers.count(v1::WorkerRequest::kPing) == pings);
  CHECK(usual.BurstsOf(0).empty());
  CHECK(usual.clocks.MapOf(0).same());
  CHECK(usual.clocks.poll_interval_ns() == 0);

  Measuring all({Ahead(0, kOwnBootId)}, ClockSync::Measured::kAllClocks);
  all.Burst();
  CHECK(all.BurstsOf(0).size() == 1);
  CHECK(all.clocks.poll_interval_ns() == kSecond);
}

TEST_CASE("one worker of each clock is pinged, and many clocks are polled less often") {
  Measuring few({Ahead(3, "x"), Ahead(3, "x"), Ahead(4, "y")});
  CHECK(few.clocks.OneOfEachClock([](const Member&) { return true; }) == Workers{0, 2});
  CHECK(few.clocks.OneOfEachClock([](const Member& member) { return member.number > 0; }) == Workers{1, 2});
  CHECK(few.clocks.poll_interval_ns() == kSecond);

  Measuring many(WithClocks(1500));
  CHECK(many.clocks.poll_interval_ns() == 3 * kSecond / 2);  // 1 ms per clock
}

// Returns how many pings each of `clock_count` workers got in Verify and in a burst.
std::pair<int, int> PingsOfEach(int clock_count) {
  Measuring measuring(WithClocks(clock_count));
  const int verify = measuring.workers.count(v1::WorkerRequest::kPing);
  measuring.Burst();
  const int all = measuring.workers.count(v1::WorkerRequest::kPing);
  CHECK(verify % clock_count == 0);
  for (const uint32_t worker : {0u, static_cast<uint32_t>(clock_count) - 1}) {
    CHECK(measuring.BurstsOf(worker)[0].samples_size() == (all - verify) / clock_count);
  }
  return {verify / clock_count, (all - verify) / clock_count};
}

TEST_CASE("a burst has 2,000 pings over all clocks, 16 at most and at least one for each") {
  CHECK(PingsOfEach(125) == std::pair(4, 16));
  CHECK(PingsOfEach(500) == std::pair(4, 4));
  CHECK(PingsOfEach(1000) == std::pair(2, 2));
  CHECK(PingsOfEach(3000) == std::pair(1, 1));
}

TEST_CASE("a call to some workers reaches only those, and a lost one is counted once") {
  SimulatedWorker dying = Ahead(4, "y");
  dying.pings_answered = 4;  // those of Verify
  dying.then = SimulatedWorker::Then::kLost;
  Measuring measuring({Ahead(3, "x"), dying, Ahead(5, "z")});
  Cluster& cluster = measuring.cluster;
  CHECK(cluster.live_count() == 3);
  const Workers asked = {1, 2};
  Workers answered;
  REQUIRE(cluster
              .CallSome(
                  asked,
                  [](const Member&) {
                    v1::WorkerRequest request;
                    request.mutable_ping();
                    return request;
                  },
                  [&](const Member& member, const ReceivedEvent&) { answered.push_back(member.number); }, {})
              .ok());
  CHECK(answered == Workers{2});
  CHECK(cluster.live_count() == 2);
  CHECK(cluster.silence_count() == 0);
}

TEST_CASE("with more than 1,000 clocks, pings ride, and clocks with new ones are not pinged again") {
  Measuring few(WithClocks(1000));
  CHECK_FALSE(few.clocks.pings_ride());
  few.Burst();
  few.Burst();
  CHECK(few.workers.count(v1::WorkerRequest::kPing) == 1000 * (2 + 2 + 2));

  Measuring many(WithClocks(1001));
  REQUIRE(many.clocks.pings_ride());
  many.Burst();
  const int pings = many.workers.count(v1::WorkerRequest::kPing);
  CHECK(pings == 1001 * 2);
  many.Burst();
  CHECK(many.workers.count(v1::WorkerRequest::kPing) == pings);
  many.Wait(9.8);
  many.Note(7, many.workers.now().ns - 100'000, 7 * kSecond);
  many.Wait(0.3);
  many.Burst();
  CHECK(many.BurstsOf(7).size() == 2);
  CHECK(many.BurstsOf(8).size() == 2);
  CHECK(MiddleOf(many.BurstsOf(7)[1]) < MiddleOf(many.BurstsOf(8)[1]));
}

TEST_CASE("the answer to a request on which a ping rides bounds the clock as a ping does") {
  Measuring measuring(WithClocks(1001));
  PingRide pings(measuring.clocks, measuring.cluster,
                 [](const Member& member) { return member.number != 3; });
  CHECK(pings.at_a_time() == ClockSync::kRidingAtATime);
  CHECK_FALSE(pings.Takes(3));
  REQUIRE(pings.Takes(5));
  v1::Pong pong;
  const int64_t sent_ns = measuring.workers.now().ns;
  pong.set_received_worker_ns(sent_ns + 5 * kSecond + 50'000);
  pong.set_replied_worker_ns(pong.received_worker_ns() + 20'000'000);  // the worker's own time does not count
  pings.Note(measuring.cluster.members()[5], pong, {sent_ns + 20'100'000});
  pings.Note(measuring.cluster.members()[5], pong, {sent_ns + 20'100'000});  // noted only once
  pings.Note(measuring.cluster.members()[3], pong, {sent_ns + 20'100'000});
  REQUIRE(measuring.BurstsOf(5).size() == 1);
  CHECK(measuring.BurstsOf(3).empty());
  const ClockMap map = measuring.clocks.MapOf(5);
  const CoordTime at = MiddleOf(measuring.BurstsOf(5)[0]);
  CHECK(map.offset_ns(at) == Approx(5e9).margin(1));
  CHECK(map.error_ns(at) < 56'000);  // 50 us, and what 500 ppm of 10 ms add

  Measuring few({Ahead(3)});
  PingRide nothing(few.clocks, few.cluster, [](const Member&) { return true; });
  CHECK_FALSE(nothing.Takes(0));
  CHECK(nothing.at_a_time() == 0);
}

// Pings all workers, `at_a_time` at once. Returns the max. number in flight; `took_s`: until the last was sent.
size_t MostUnderWay(Measuring& measuring, uint32_t at_a_time, double& took_s) {
  size_t sent = 0, answered = 0, most = 0;
  const CoordTime begin = measuring.workers.now();
  REQUIRE(measuring.cluster
              .Call(
                  [&](const Member&) {
                    most = std::max(most, ++sent - answered);
                    took_s = SecondsFrom(measuring.workers.now() - begin);
                    v1::WorkerRequest request;
                    request.mutable_ping();
                    return request;
                  },
                  [&](const Member&, const ReceivedEvent&) { ++answered; }, {.at_a_time = at_a_time})
              .ok());
  return most;
}

TEST_CASE("a call can have few requests under way at a time") {
  Measuring measuring(WithClocks(40));
  double took_s = 0;
  CHECK(MostUnderWay(measuring, 0, took_s) == 40);
  CHECK(MostUnderWay(measuring, 4, took_s) == 4);
  CHECK(took_s == Approx(9 * 100e-6));  // ten rounds of 0.1 ms; the last begins after nine
}

TEST_CASE("workers that do not answer hold up the requests to the others only for a moment") {
  std::vector<SimulatedWorker> list = WithClocks(40);
  for (size_t silent = 10; silent < 20; ++silent) list[silent].pings_answered = 4;  // those of Verify
  Measuring measuring(std::move(list));
  double sent_after_s = 0;
  CHECK(MostUnderWay(measuring, 4, sent_after_s) == 8 + 4);
  CHECK(sent_after_s > 0.2);  // two waits: the last two silent ones leave room
  CHECK(sent_after_s < 0.5);
  CHECK(measuring.cluster.live_count() == 30);
}

}  // namespace
}  // namespace iobench
