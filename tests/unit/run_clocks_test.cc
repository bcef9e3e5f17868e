// The clocks of whole runs, on simulated workers in simulated time.
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/conduct/conductor.h"
#include "coordinator/conduct/plan_phases.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/process/failure.h"
#include "tests/support/simulated_workers.h"

namespace iobench {
namespace {

using Catch::Contains;

SimulatedWorker On(const std::string& host, const std::string& boot_id) {
  SimulatedWorker worker;
  worker.facts.set_host(host);
  worker.facts.set_boot_id(boot_id);
  worker.facts.set_program_version("1.0");
  return worker;
}

// A run of one phase on simulated workers, which nobody watches unless `watch_interval_ns` is given.
struct SimulatedRun {
  struct Observer final : RunObserver {
    struct Seen {
      double elapsed_s;
      std::vector<ClientProgress> clients;
    };
    v1::PhaseReport phase;
    std::vector<Seen> seen;
    int64_t interval_ns = 0;
    bool wants_latency = false;
    void PhaseMoves(const PhaseProgress& progress) override {
      seen.push_back({progress.elapsed_s, {progress.clients.begin(), progress.clients.end()}});
    }
    void PhaseEnds(const v1::RunReport&, const v1::PhaseReport& ended) override { phase = ended; }
    int64_t progress_interval_ns() const override { return interval_ns; }
    bool shows_latency() const override { return wants_latency; }
  };

  explicit SimulatedRun(std::vector<SimulatedWorker> list, int64_t watch_interval_ns = 0,
                        bool wants_latency = false)
      : workers(list) {
    observer.interval_ns = watch_interval_ns;
    observer.wants_latency = wants_latency;
    ConductorOptions options;
    options.run_name = "test";
    options.run_id = 7;
    options.version = "1.0";
    options.worker_count = static_cast<uint32_t>(list.size());
    options.clock = [this] { return workers.now(); };
    conductor.emplace(workers, observer, interrupt, On("here", "boot of the coordinator").facts,
                      EmptyPhases(1, 1), options);
    REQUIRE(conductor->Assemble().ok());
    PlanPhases phases;
    REQUIRE(conductor->Conduct(phases) == kExitOk);
  }
  const v1::RunReport& report() const { return conductor->report(); }
  const v1::PhaseReport& phase() const { return observer.phase; }  // the report keeps a brief of it
  std::set<std::string> codes() const {
    std::set<std::string> codes;
    for (const v1::Mark& mark : phase().marks()) codes.insert(mark.code());
    return codes;
  }

  SimulatedWorkers workers;
  Observer observer;
  Interrupt interrupt;
  std::optional<Conductor> conductor;
};

// The first of two lanes ends in the middle of a phase, where the pings around the phase are farthest away.
std::vector<SimulatedWorker> TwoHostsFor(double seconds) {
  std::vector<SimulatedWorker> workers = {On("a", "boot a"), On("b", "boot b")};
  workers[0].offset_s = 3600;
  workers[0].drift_ppm = 40;
  workers[0].lane_s = seconds / 2;
  workers[1].offset_s = -5;
  workers[1].drift_ppm = -100;
  workers[1].lane_s = seconds;
  return workers;
}

TEST_CASE("an observer sees the answers to its polls as they arrive, by client") {
  SimulatedRun run(TwoHostsFor(20), kNanosPerSecond);  // its first lane ends after 10 s
  REQUIRE(run.observer.seen.size() >= 18);
  for (size_t i = 0; i < 4; ++i) {
    const auto& [elapsed_s, clients] = run.observer.seen[i];
    // A message takes 50 us each way.
    CHECK(elapsed_s == Approx(static_cast<double>(i) + 1.0001).margin(1e-3));
    REQUIRE(clients.size() == 2);
    CHECK(clients[0].name == "a");
    CHECK(clients[1].name == "b");
    for (const ClientProgress& client : clients) {
      CHECK(client.bytes == (i + 1) * 4096);
      CHECK(client.at_s == Approx(static_cast<double>(i) + 1.00005).margin(1e-3));
    }
  }
}

TEST_CASE(
    "latencies are asked for only if an observer shows them, and are those of each client's workers together") {
  std::vector<SimulatedWorker> workers = TwoHostsFor(8);
  workers.push_back(workers[1]);  // a second worker of the same client
  for (const bool wants : {false, true}) {
    SimulatedRun run(workers, kNanosPerSecond, wants);
    REQUIRE(run.observer.seen.size() >= 2);
    const std::vector<ClientProgress>& clients = run.observer.seen[1].clients;
    REQUIRE(clients.size() == 2);
    CHECK(clients[0].latency.count() == (wants ? 2 : 0));
    CHECK(clients[1].latency.count() == (wants ? 4 : 0));
    CHECK(clients[1].latency.ToProto().counts_size() == (wants ? 2 : 0));
  }
}

TEST_CASE("an observer knows the clients by the names of the report, also where two have one host name") {
  std::vector<SimulatedWorker> workers = TwoHostsFor(4);
  workers[1].facts.set_host("a");
  SimulatedRun run(workers, kNanosPerSecond);
  REQUIRE_FALSE(run.observer.seen.empty());
  const std::vector<ClientProgress>& clients = run.observer.seen[0].clients;
  REQUIRE(clients.size() == 2);
  REQUIRE(run.phase().clients_size() == 2);
  CHECK(clients[0].name == run.phase().clients(0).host());
  CHECK(clients[1].name == "a (2)");
  CHECK(clients[1].name == run.phase().clients(1).host());
}

TEST_CASE("what a silent worker delays is shown at the next poll, without its answer") {
  std::vector<SimulatedWorker> workers = TwoHostsFor(20);
  workers[1].polls_answered = 1;
  SimulatedRun run(workers, kNanosPerSecond);
  REQUIRE(run.observer.seen.size() >= 3);
  const auto& [elapsed_s, clients] = run.observer.seen[1];  // the second poll, shown when the third is due
  CHECK(elapsed_s == Approx(3).margin(1e-2));
  CHECK(clients[0].bytes == 2 * 4096);
  CHECK(clients[1].bytes == 4096);
  CHECK(clients[1].at_s == Approx(1).margin(1e-2));
}

TEST_CASE("watching a run once a second adds no polls to those of the clocks") {
  // The first lane ends between two polls: this polls the clocks too, and shifts their later polls.
  SimulatedRun unwatched(TwoHostsFor(61)), watched(TwoHostsFor(61), kNanosPerSecond);
  CHECK(watched.observer.seen.size() >= 58);
  CHECK(watched.workers.count(v1::WorkerRequest::kPoll) <=
        unwatched.workers.count(v1::WorkerRequest::kPoll) + 4);
}

TEST_CASE("the clocks of a minute's phase are known although nobody watches it") {
  SimulatedRun run(TwoHostsFor(60));
  CHECK(run.codes().count("clock_uncertain") == 0);
  CHECK(run.codes().count("clock_step") == 0);
  for (const v1::ClientPhaseReport& client : run.phase().clients()) {
    CHECK(client.clock_error_us() > 0);
    CHECK(client.clock_error_us() < 1000);
  }
  CHECK(run.phase().stonewall().at_s() == Approx(30).epsilon(1e-4));
  CHECK(run.phase().duration_s() == Approx(60).epsilon(1e-4));
  // One a second to each, and one at the stonewall.
  CHECK(run.workers.count(v1::WorkerRequest::kPoll) >= 2 * 55);
  CHECK(run.workers.count(v1::WorkerRequest::kPoll) <= 2 * 62);
}

TEST_CASE("what is kept of an hour's pings is bounded, and the stonewall is known as well as both ends") {
  SimulatedRun run(TwoHostsFor(3600));
  CHECK(run.codes().count("clock_uncertain") == 0);
  for (const v1::ClientPhaseReport& client : run.phase().clients()) CHECK(client.clock_error_us() < 1000);
}

TEST_CASE("who shares the coordinator's clock is polled once a second for its progress alone") {
  std::vector<SimulatedWorker> workers = {On("here", "boot of the coordinator")};
  workers[0].lane_s = 60;
  SimulatedRun run(workers);
  CHECK(run.workers.count(v1::WorkerRequest::kPoll) >= 58);
  CHECK(run.workers.count(v1::WorkerRequest::kPoll) <= 60);
  CHECK(run.report().clients(0).same_clock());
}

TEST_CASE("cloned machines, of one boot id with other clocks, are clients of their own") {
  std::vector<SimulatedWorker> workers = {
      On("node1", "boot of the coordinator"), On("node2", "boot of the coordinator"),
      On("node2", "boot of the coordinator"), On("node3", "boot x"), On("node4", "boot x")};
  workers[1].offset_s = workers[2].offset_s = 3;
  workers[3].offset_s = 100;
  workers[4].offset_s = 100.001;
  SimulatedRun run(workers);
  REQUIRE(run.report().clients_size() == 4);
  const auto client = [&](int index) -> const v1::ClientReport& { return run.report().clients(index); };
  CHECK(client(0).host() == "node1");
  CHECK(client(0).same_clock());
  CHECK(client(1).host() == "node2");
  CHECK(client(1).worker_count() == 2);
  CHECK_FALSE(client(1).same_clock());
  CHECK(client(1).clock_offset_ns() == Approx(3e9));
  CHECK(client(1).clock_error_ns() > 0);
  CHECK(client(3).clock_offset_ns() == Approx(100.001e9).epsilon(1e-9));
  CHECK(client(1).boot_id() == client(0).boot_id());
  CHECK(client(1).clone() == 1);
  CHECK(client(2).clone() == 0);
  CHECK(client(3).clone() == 1);
  CHECK(run.phase().clients_size() == 4);
  CHECK(run.phase().start().skew_us() < 1000);
  // A note names each clone, and the member whose identity it has.
  int named = 0;
  for (const std::string& note : run.report().notes()) {
    named += note.find("cloned machines") != std::string::npos;
  }
  CHECK(named == 2);
  const std::string all = run.report().notes(0) + run.report().notes(1);
  CHECK_THAT(all, Contains("worker 1 on node2 has the same boot id as the coordinator"));
  CHECK_THAT(all, Contains("worker 4 on node4 has the same boot id as worker 3 on node3"));
}

TEST_CASE("containers of one host share boot id and clock: one client") {
  SimulatedRun run({On("pod1", "boot x"), On("pod2", "boot x")});
  CHECK(run.report().clients_size() == 1);
}

TEST_CASE("with more than 1,000 clients, a phase has no pings but those of its start and its results") {
  std::vector<SimulatedWorker> list;
  for (int number = 0; number < 1001; ++number) {
    list.push_back(On("h" + std::to_string(number), "boot " + std::to_string(number)));
    list.back().offset_s = number - 500;
    list.back().drift_ppm = number % 2 == 0 ? 40 : -40;
  }
  list[1].settles = list[1000].settles = true;
  SimulatedRun run(list);
  // One for each worker in Verify, and one before the first phase.
  CHECK(run.workers.count(v1::WorkerRequest::kPing) == 2 * 1001);
  CHECK(run.workers.count(v1::WorkerRequest::kArm) == 1001);
  CHECK(run.workers.count(v1::WorkerRequest::kCollect) == 1001 + 2);  // two workers are asked again
  CHECK(run.phase().lane_count() == 1001);
  CHECK(run.phase().ops() == 1001 * 1000);
  CHECK(run.codes().count("clock_step") == 0);
  REQUIRE(run.report().clients_size() == 1001);
  for (const v1::ClientReport& client : run.report().clients()) {
    CHECK(client.clock_error_ns() < 100'000);  // a ping takes 0.1 ms
  }
}

}  // namespace
}  // namespace iobench
