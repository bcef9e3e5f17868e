// Who may take part: Cluster::Gather with workers that are not all welcome.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "tests/support/scripted_workers.h"

namespace iobench {
namespace {

using Catch::Contains;

v1::WorkerFacts Newcomer(const std::string& host, uint32_t place = 0, const std::string& version = "1") {
  v1::WorkerFacts facts;
  facts.set_host(host);
  facts.set_boot_id("boot of " + host);
  facts.set_program_version(version);
  facts.set_client_list_position(place);
  facts.set_address("10.0.0.7:4242");
  return facts;
}

struct Gathering {
  ManualClock clock;
  const Interrupt interrupt;
  ScriptedWorkers workers;
  Cluster cluster;

  explicit Gathering(std::vector<v1::WorkerFacts> facts)
      : workers(clock, std::move(facts),
                [](WorkerId, const v1::WorkerRequest&) { return std::vector<v1::WorkerEvent>(); }),
        cluster(workers, 1, interrupt, ClusterPatience(), [this] { return clock.now; }) {
    workers.set_ordered(false);
  }

  absl::Status For(uint32_t count, const JoinWatch& watch = {}) {
    return cluster.Gather(
        count, clock.now + kNanosPerSecond, "1", [](uint32_t) {}, watch);
  }

  // Returns the workers that were told to leave, with the reasons they were given.
  std::vector<std::pair<WorkerId, std::string>> sent_away() const {
    std::vector<std::pair<WorkerId, std::string>> all;
    for (const ScriptedWorkers::Posted& posted : workers.posted) {
      if (posted.request.has_leave()) all.emplace_back(posted.worker, posted.request.leave().reason());
    }
    return all;
  }
};

TEST_CASE("who cannot take part is sent away with the reason, and the wait for the others goes on") {
  Gathering gathering(
      {Newcomer("a"), Newcomer("b", 0, "0.9"), Newcomer("c\n"), Newcomer("d", 3), Newcomer("e")});
  REQUIRE(gathering.For(2).ok());
  REQUIRE(gathering.cluster.members().size() == 2);
  CHECK(gathering.cluster.members()[0].facts.host() == "a");
  CHECK(gathering.cluster.members()[1].facts.host() == "e");
  const auto sent_away = gathering.sent_away();
  REQUIRE(sent_away.size() == 3);
  CHECK(sent_away[0].first == 1);
  CHECK_THAT(sent_away[0].second, Contains("b is version 0.9, the coordinator is 1"));
  CHECK_THAT(sent_away[1].second, Contains("control characters"));
  CHECK_THAT(sent_away[2].second, Contains("position in the client list is 3, but the run has 2"));
}

TEST_CASE("workers get the pings that are due even if the coordinator gets too little processor time") {
  ManualClock clock;
  int64_t between_readings_ns = 0;
  int pings = 0;
  const Interrupt interrupt;
  ScriptedWorkers workers(clock, {Newcomer("a")}, [&](WorkerId, const v1::WorkerRequest& request) {
    if (request.has_ping()) ++pings;
    return std::vector<v1::WorkerEvent>();
  });
  Cluster cluster(workers, 1, interrupt, ClusterPatience(), [&] {
    clock.Advance(between_readings_ns);
    return clock.now;
  });
  REQUIRE(cluster.Gather(1, clock.now + kNanosPerSecond, "1", [](uint32_t) {}).ok());
  clock.Advance(20 * kNanosPerSecond);
  between_readings_ns = 2'000'000;
  cluster.Attend();
  CHECK(pings == 1);
}

TEST_CASE("attending to the workers ends, even if one of them sends without a pause") {
  constexpr int kMaxEvents = 200'000;
  ManualClock clock;
  const Interrupt interrupt;
  ScriptedWorkers workers(clock, {Newcomer("a")}, [](WorkerId, const v1::WorkerRequest&) {
    v1::WorkerEvent pong;
    pong.mutable_pong();
    return std::vector<v1::WorkerEvent>{pong};
  });
  Cluster cluster(workers, 1, interrupt, ClusterPatience(), [&] { return clock.now; });
  REQUIRE(cluster.Gather(1, clock.now + kNanosPerSecond, "1", [](uint32_t) {}).ok());
  v1::WorkerRequest ping;
  ping.mutable_ping();
  int events = 0;
  cluster.set_on_event([&](const Member&, const ReceivedEvent&) {
    if (++events < kMaxEvents) REQUIRE(workers.Post(0, ping).ok());
  });
  REQUIRE(workers.Post(0, ping).ok());
  cluster.Attend();
  CHECK(events > 1);
  CHECK(events < kMaxEvents);
}

TEST_CASE("a place in the client list is given once") {
  Gathering gathering({Newcomer("a", 2), Newcomer("b", 2), Newcomer("c", 1)});
  REQUIRE(gathering.For(2).ok());
  CHECK(gathering.cluster.members()[0].facts.host() == "c");
  CHECK(gathering.cluster.members()[1].facts.host() == "a");
  REQUIRE(gathering.sent_away().size() == 1);
  CHECK_THAT(gathering.sent_away()[0].second, Contains("worker 1 of the client list has already joined"));
}

TEST_CASE("those who were sent away are counted when the wait ends") {
  Gathering gathering({Newcomer("a", 0, "0.8"), Newcomer("b", 0, "0.9")});
  const absl::Status status = gathering.For(1);
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK_THAT(std::string(status.message()),
             Contains("0 of 1 workers have joined") &&
                 Contains("sent away: 2, the last from 10.0.0.7:4242: worker on b"));
}

TEST_CASE("a worker of another version ends the wait if this program started it") {
  const JoinWatch watch{
      .started_here = [](const v1::WorkerFacts& facts) { return facts.client_list_position() > 0; }};
  Gathering gathering({Newcomer("stranger", 0, "0.9"), Newcomer("ours", 1, "0.9"), Newcomer("good", 2)});
  const absl::Status status = gathering.For(2, watch);
  CHECK(absl::IsFailedPrecondition(status));
  CHECK_THAT(std::string(status.message()), Contains("worker on ours is version 0.9"));
  CHECK(gathering.sent_away().size() == 2);
}

TEST_CASE("a run that can do without missing workers gathers those that came, and names the others") {
  Gathering gathering({Newcomer("a"), Newcomer("b")});
  std::vector<JoinFault> faults;
  const auto join = [&](const JoinWatch& watch) {
    return gathering.cluster.Gather(
        3, gathering.clock.now + kNanosPerSecond, "1", [](uint32_t) {}, watch, &faults);
  };
  REQUIRE(join({.faults = [] {
            return std::vector<JoinFault>{{.client = "c", .problem = "no route", .advice = ""}};
          }}).ok());
  CHECK(gathering.cluster.members().size() == 2);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].client == "c");
}

TEST_CASE("if nobody joins, a run cannot do without them") {
  Gathering gathering({});
  std::vector<JoinFault> faults;
  CHECK(absl::IsDeadlineExceeded(gathering.cluster.Gather(
      3, gathering.clock.now + kNanosPerSecond, "1", [](uint32_t) {}, {}, &faults)));
}

TEST_CASE("excluded workers are sent away, and the others are numbered anew with their clients") {
  Gathering gathering({Newcomer("a"), Newcomer("b"), Newcomer("c"), Newcomer("c"), Newcomer("d")});
  REQUIRE(gathering.For(5).ok());
  gathering.cluster.Exclude({0, 4}, "bad mount");
  const std::vector<Member>& members = gathering.cluster.members();
  REQUIRE(members.size() == 3);
  CHECK(members[0].facts.host() == "b");
  for (uint32_t number = 0; number < 3; ++number) CHECK(members[number].number == number);
  CHECK(members[0].client == 0);
  CHECK(members[1].client == 1);
  CHECK(members[2].client == 1);
  CHECK(gathering.cluster.client_count() == 2);
  CHECK(gathering.sent_away() ==
        std::vector<std::pair<WorkerId, std::string>>{{0, "bad mount"}, {4, "bad mount"}});
  // Workers that have left get no more requests.
  std::set<std::string> told;
  gathering.cluster.Tell([&told](const Member& member) {
    told.insert(member.facts.host());
    return std::optional<v1::WorkerRequest>();
  });
  CHECK(told == std::set<std::string>{"b", "c"});
}

}  // namespace
}  // namespace iobench
