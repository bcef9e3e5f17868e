// Samplers beside the members of a run: who waits for them, and what they cost when they fail.
#include "coordinator/cluster/samplers.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/cluster/cluster.h"
#include "tests/support/scripted_workers.h"

namespace iobench {
namespace {

using Catch::Contains;

v1::WorkerFacts FactsOf(const std::string& host, bool sampler) {
  v1::WorkerFacts facts;
  facts.set_host(host);
  facts.set_boot_id("boot of " + host);
  facts.set_program_version("1");
  facts.set_sampler(sampler);
  return facts;
}

// What the sampler does when it is asked.
enum class Then { kAnswer, kNothing, kHangUp, kLie };

struct Sampling {
  ManualClock clock;
  const Interrupt interrupt;
  Then then = Then::kAnswer;
  uint32_t taken = 0;  // number of Sample requests
  ScriptedWorkers workers;
  Cluster cluster;

  explicit Sampling(const std::vector<v1::WorkerFacts>& facts)
      : workers(clock, facts, [this](WorkerId, const v1::WorkerRequest& request) { return Answer(request); }),
        cluster(workers, 1, interrupt, ClusterPatience(), [this] { return clock.now; }) {
    workers.set_ordered(false);
  }

  std::vector<v1::WorkerEvent> Answer(const v1::WorkerRequest& request) {
    v1::WorkerEvent event;
    if (request.has_ping()) {
      event.mutable_pong()->set_received_worker_ns(clock.now.ns);
      event.mutable_pong()->set_replied_worker_ns(clock.now.ns);
      return {event};
    }
    if (request.has_client_step()) {
      if (then == Then::kLie) event.mutable_problem()->set_code(7);
      event.mutable_problem()->set_message(then == Then::kLie ? "not here" : "");
      v1::StepResult& step = *event.mutable_client_step_done()->mutable_step();
      step.set_name("what the server likes");
      step.set_system_caches(true);
      step.set_outcome("sync and drop_caches");
      return {event};
    }
    if (!request.has_sample()) return {};
    if (then == Then::kNothing) return {};
    if (then == Then::kHangUp) {
      event.mutable_lost()->set_reason("it hung up");
      return {event};
    }
    v1::ServerInterval& interval = *event.mutable_samples()->add_intervals();
    interval.set_end_worker_ns(++taken);
    interval.set_cpu_busy(then == Then::kLie ? 7 : 0.5);
    return {event};
  }

  std::vector<std::string> sent_away() const {
    std::vector<std::string> reasons;
    for (const ScriptedWorkers::Posted& posted : workers.posted) {
      if (posted.request.has_leave()) reasons.push_back(posted.request.leave().reason());
    }
    return reasons;
  }

  absl::Status Gather(uint32_t members, uint32_t samplers, uint32_t server_workers = 0) {
    JoinWatch watch;
    watch.samplers = samplers;
    watch.server_workers = server_workers;
    return cluster.Gather(
        members, clock.now + kNanosPerSecond, "1", [](uint32_t) {}, watch);
  }
};

std::vector<v1::WorkerFacts> ClientAndFiler() {
  return {FactsOf("filer", true), FactsOf("a", false)};
}

TEST_CASE("a sampler is waited for, and is no member") {
  Sampling sampling(ClientAndFiler());
  REQUIRE(sampling.Gather(1, 1).ok());
  REQUIRE(sampling.cluster.members().size() == 1);
  CHECK(sampling.cluster.members()[0].facts.host() == "a");
  REQUIRE(sampling.cluster.samplers().size() == 1);
  CHECK(sampling.cluster.samplers()[0].facts.host() == "filer");
  sampling.cluster.Dismiss();
  int left = 0;
  for (const ScriptedWorkers::Posted& posted : sampling.workers.posted) left += posted.request.has_leave();
  CHECK(left == 2);
}

TEST_CASE("samplers that the run does not ask for are sent away") {
  for (const uint32_t wanted : {0u, 1u}) {
    Sampling sampling({FactsOf("filer", true), FactsOf("other", true), FactsOf("a", false)});
    REQUIRE(sampling.Gather(1, wanted).ok());
    CHECK(sampling.cluster.samplers().size() == wanted);
    const std::vector<std::string> reasons = sampling.sent_away();
    REQUIRE(reasons.size() == 2 - wanted);
    CHECK_THAT(reasons.back(), Contains(wanted == 0 ? "has no samplers" : "asks for 1"));
  }
}

v1::WorkerFacts OnServer(const std::string& host) {
  v1::WorkerFacts facts = FactsOf(host, false);
  facts.set_server(true);
  return facts;
}

TEST_CASE(
    "workers of servers follow those of clients, a server after the other in turn, and are no clients") {
  Sampling sampling({OnServer("filer2"), OnServer("filer1"), OnServer("filer1"), OnServer("filer2"),
                     FactsOf("z", false), FactsOf("filer1", false)});
  REQUIRE(sampling.Gather(2, 0, 4).ok());
  std::vector<std::string> hosts;
  for (const Member& member : sampling.cluster.members()) hosts.push_back(member.facts.host());
  CHECK(hosts == std::vector<std::string>{"filer1", "z", "filer1", "filer2", "filer1", "filer2"});
  CHECK(sampling.cluster.client_workers() == 2);
  CHECK(sampling.cluster.client_count() == 2);
  CHECK(sampling.cluster.host_count() == 4);  // filer1 is a client and a server
  CHECK(sampling.cluster.members()[2].client == 2);
  CHECK(sampling.cluster.members()[5].client == 3);
}

TEST_CASE("workers of servers that the run does not ask for are sent away") {
  Sampling sampling({OnServer("filer"), FactsOf("a", false)});
  REQUIRE(sampling.Gather(1, 0).ok());
  CHECK(sampling.cluster.members().size() == 1);
  CHECK_THAT(sampling.sent_away().at(0), Contains("--server-path DIR asks for it"));
}

TEST_CASE("while only samplers are missing, no more workers are taken") {
  Sampling sampling({FactsOf("a", false), FactsOf("b", false), FactsOf("filer", true)});
  REQUIRE(sampling.Gather(1, 1).ok());
  REQUIRE(sampling.cluster.members().size() == 1);
  CHECK(sampling.cluster.members()[0].facts.host() == "a");
  CHECK_THAT(sampling.sent_away().at(0), Contains("waits only for samplers"));
}

TEST_CASE("a missing sampler is named when the wait ends") {
  Sampling sampling({FactsOf("a", false)});
  const absl::Status status = sampling.Gather(1, 1);
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK_THAT(std::string(status.message()), Contains("0 of 1 samplers"));
}

TEST_CASE("a phase has what was sampled since it began, and the sampler's clock before and after") {
  Sampling sampling(ClientAndFiler());
  REQUIRE(sampling.Gather(1, 1).ok());
  Samplers samplers(sampling.cluster, /*first_index=*/2, kNanosPerSecond / 4);
  REQUIRE(samplers.Begin().ok());
  const std::vector<v1::ServerRecord> records = samplers.End();
  REQUIRE(records.size() == 1);
  CHECK(records[0].sampler() == 2);
  CHECK(records[0].bursts_size() == 2);
  REQUIRE(records[0].intervals_size() == 1);
  CHECK(records[0].intervals(0).end_worker_ns() == 2);  // what the first request returned is forgotten
  CHECK_FALSE(records[0].lost());
}

TEST_CASE("without samplers, no time passes and nothing is sent") {
  Sampling sampling({FactsOf("a", false)});
  REQUIRE(sampling.Gather(1, 0).ok());
  Samplers samplers(sampling.cluster, 0, kNanosPerSecond);
  const CoordTime before = sampling.clock.now;
  REQUIRE(samplers.Begin().ok());
  CHECK(samplers.End().empty());
  CHECK(sampling.clock.now == before);
  CHECK(sampling.workers.posted.empty());
}

TEST_CASE("a sampler that fails costs only its own figures") {
  for (const Then then : {Then::kNothing, Then::kHangUp, Then::kLie}) {
    Sampling sampling(ClientAndFiler());
    REQUIRE(sampling.Gather(1, 1).ok());
    Samplers samplers(sampling.cluster, 0, kNanosPerSecond);
    REQUIRE(samplers.Begin().ok());
    sampling.then = then;
    const std::vector<v1::ServerRecord> records = samplers.End();
    REQUIRE(records.size() == 1);
    CHECK(records[0].intervals().empty());
    CHECK(records[0].lost() == (then != Then::kLie));
    CHECK_THAT(records[0].lost_reason(), Contains(then == Then::kNothing  ? "did not answer"
                                                  : then == Then::kHangUp ? "hung up"
                                                                          : "no host can have done"));
    CHECK(sampling.cluster.live_count() == 1);
    // The next phase reports this, too, and asks no sampler that is gone.
    const size_t posted = sampling.workers.posted.size();
    REQUIRE(samplers.Begin().ok());
    if (then != Then::kLie) CHECK(sampling.workers.posted.size() == posted);
    CHECK(samplers.End()[0].lost() == (then != Then::kLie));
  }
}

TEST_CASE("what a server dropped is in the record of the phase that follows, and of no other") {
  Sampling sampling(ClientAndFiler());
  REQUIRE(sampling.Gather(1, 1).ok());
  Samplers samplers(sampling.cluster, 0, kNanosPerSecond);
  REQUIRE(samplers.DropCaches().ok());
  REQUIRE(samplers.Begin().ok());
  const std::vector<v1::ServerRecord> dropped = samplers.End();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].dropped_caches().name() == "drop-server-caches");
  CHECK(dropped[0].dropped_caches().system_caches());
  REQUIRE(samplers.Begin().ok());
  CHECK_FALSE(samplers.End()[0].has_dropped_caches());
  sampling.then = Then::kLie;  // it refuses, although it says that it did
  REQUIRE(samplers.DropCaches().ok());
  REQUIRE(samplers.Begin().ok());
  const std::vector<v1::ServerRecord> refused = samplers.End();
  CHECK_FALSE(refused[0].dropped_caches().system_caches());
  CHECK(refused[0].dropped_caches().outcome() == "not here");
}

}  // namespace
}  // namespace iobench
