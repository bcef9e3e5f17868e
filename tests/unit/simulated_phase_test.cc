#include "worker/simulated/simulated_phase.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>

#include "tests/unit/worker_harness.h"
#include "worker/simulated/simulated_workers.h"

namespace iobench {
namespace {

// The offset of this worker's clock from CLOCK_MONOTONIC, as a ping shows it.
int64_t OffsetOf(WorkerHandler& worker) {
  Mailbox mailbox;
  v1::WorkerRequest request;
  request.set_run_id(WorkerHarness::kRun);
  request.mutable_ping();
  // Offsets are whole milliseconds, negative ones too, so one ping that takes less is enough.
  constexpr int64_t kStepNs = 1'000'000;
  int64_t least_ns = INT64_MAX, took_ns = INT64_MAX;
  for (uint64_t i = 1; i <= 1000 && took_ns >= kStepNs; ++i) {
    request.set_call_id(i);
    const int64_t before_ns = MonotonicNowNs();
    worker.Handle(request, mailbox);
    const v1::WorkerEvent pong = mailbox.Take([](const v1::WorkerEvent& e) { return e.has_pong(); });
    took_ns = MonotonicNowNs() - before_ns;
    least_ns = std::min(least_ns, pong.pong().received_worker_ns() - before_ns);
  }
  const int64_t toward_zero_ns = least_ns / kStepNs * kStepNs;
  return toward_zero_ns > least_ns ? toward_zero_ns - kStepNs : toward_zero_ns;
}

TEST_CASE("a simulated worker runs a phase with the ops and results of a real one") {
  SimulationLoop loop;
  REQUIRE(loop.Start().ok());
  std::vector<std::unique_ptr<WorkerHandler>> workers = MakeSimulatedWorkers(1, loop);
  const int64_t offset_ns = OffsetOf(*workers[0]);
  REQUIRE(offset_ns != 0);
  WorkerHarness simulated(std::move(workers[0]), offset_ns);
  WorkerHarness real;
  const v1::ResultChunk expected = real.RunPhase(PhaseOf("write", 2));
  for (int phase = 0; phase < 2; ++phase) {  // a worker serves phase after phase
    simulated.Prepare(PhaseOf("write", 2));
    REQUIRE_FALSE(simulated.ArmIn(20'000'000).late());
    const v1::LanesDone done = simulated.WaitDone();
    REQUIRE(done.ends_size() == 2);
    const v1::ResultChunk results = simulated.Collect();
    REQUIRE(results.lanes_size() == 2);
    for (int lane = 0; lane < 2; ++lane) {
      REQUIRE(done.ends(lane).took_part());
      REQUIRE(done.ends(lane).first_op_worker_ns() >= simulated.start().ns - 1'000'000);
      REQUIRE(results.lanes(lane).ops() == expected.lanes(lane).ops());
      REQUIRE(results.lanes(lane).bytes() == expected.lanes(lane).bytes());
      REQUIRE(results.lanes(lane).kinds_size() == expected.lanes(lane).kinds_size());
      REQUIRE(results.lanes(lane).timeline().at_worker_ns_size() > 0);
    }
    REQUIRE(results.steps_size() == expected.steps_size());
    REQUIRE(results.has_host());
  }
}

TEST_CASE("a simulated worker refuses phases with files or with a time limit") {
  SimulationLoop loop;
  REQUIRE(loop.Start().ok());
  WorkerHarness worker(std::move(MakeSimulatedWorkers(1, loop)[0]), 0);
  v1::Prepare timed = PhaseOf("write", 1);
  timed.mutable_stop()->set_time_s(1);
  const TempDir directory;
  for (const v1::Prepare& prepare : {timed, PhaseOf("read", 1, directory.path())}) {
    v1::WorkerRequest request;
    *request.mutable_prepare() = prepare;
    const v1::WorkerEvent answer = worker.Ask(request);
    REQUIRE(answer.problem().message().find("a simulated worker runs only") != std::string::npos);
  }
  REQUIRE(worker.Prepare(PhaseOf("write", 1)).IsInitialized());  // it is idle again
}

TEST_CASE("a simulated phase that is disarmed before its start does nothing") {
  SimulationLoop loop;
  REQUIRE(loop.Start().ok());
  std::vector<std::unique_ptr<WorkerHandler>> workers = MakeSimulatedWorkers(1, loop);
  const int64_t offset_ns = OffsetOf(*workers[0]);
  WorkerHarness worker(std::move(workers[0]), offset_ns);
  worker.Prepare(PhaseOf("write", 1));
  worker.ArmIn(kNanosPerSecond);
  worker.Disarm();
  std::atomic<bool> passed = false;
  loop.PostAt(worker.start().ns - offset_ns + 50'000'000, [&] { passed = true; });
  while (!passed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE_FALSE(worker.mailbox().Holds([](const v1::WorkerEvent& e) { return e.has_lanes_done(); }));
  REQUIRE(worker.RunPhase(PhaseOf("write", 1)).lanes_size() == 1);
}

TEST_CASE("simulated workers told to quit before the start give the results of lanes that did nothing") {
  SimulationLoop loop;
  REQUIRE(loop.Start().ok());
  std::vector<std::unique_ptr<WorkerHandler>> workers = MakeSimulatedWorkers(1, loop);
  const int64_t offset_ns = OffsetOf(*workers[0]);
  WorkerHarness worker(std::move(workers[0]), offset_ns);
  worker.Prepare(PhaseOf("write", 1));
  worker.ArmIn(60 * kNanosPerSecond);
  worker.Quit();
  const v1::ResultChunk results = worker.Collect();
  REQUIRE(results.lanes_size() == 1);
  REQUIRE(results.lanes(0).ops() == 0);
  REQUIRE(results.lanes(0).stopped());
}

TEST_CASE("each simulated worker is a client of its own with a clock of its own") {
  SimulationLoop loop;
  REQUIRE(loop.Start().ok());
  const std::vector<std::unique_ptr<WorkerHandler>> workers = MakeSimulatedWorkers(50, loop);
  std::set<std::string> hosts, boot_ids;
  std::set<int64_t> offsets;
  for (const auto& worker : workers) {
    hosts.insert(worker->Facts().host());
    boot_ids.insert(worker->Facts().boot_id());
    offsets.insert(OffsetOf(*worker));
  }
  REQUIRE(hosts.size() == 50);
  REQUIRE(boot_ids.size() == 50);
  REQUIRE(offsets.size() == 50);
}

TEST_CASE("the simulation's loop runs what is due before what was posted, in order of time") {
  SimulationLoop loop;
  REQUIRE(loop.Start().ok());
  std::vector<int> order;
  std::atomic<bool> done = false;
  const int64_t now_ns = MonotonicNowNs();
  loop.Post([&] {
    loop.Post([&] {
      order.push_back(3);
      done = true;
    });
    loop.PostAt(now_ns - 1, [&] { order.push_back(2); });
    loop.PostAt(now_ns - 2, [&] { order.push_back(1); });
  });
  while (!done) MonotonicNowNs();
  REQUIRE(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("a closed runner drops its tasks, and those of others go on") {
  SimulationLoop loop;
  REQUIRE(loop.Start().ok());
  const std::unique_ptr<TaskRunner> first = loop.MakeRunner(), second = loop.MakeRunner();
  std::atomic<bool> ran = false, done = false;
  REQUIRE(first->Close(MonotonicNowNs() + kNanosPerSecond));
  first->Post([&] { ran = true; });
  second->Post([&] { done = true; });
  while (!done) MonotonicNowNs();
  REQUIRE_FALSE(ran);
}

}  // namespace
}  // namespace iobench
