#include "coordinator/conduct/data/client_steps.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/support/scripted_workers.h"

namespace iobench {
namespace {

v1::WorkerFacts On(const std::string& host, uint32_t place = 0) {
  v1::WorkerFacts facts;
  facts.set_host(host);
  facts.set_boot_id("boot of " + host);
  facts.set_program_version("1");
  facts.set_client_list_position(place);
  return facts;
}

v1::Phase Remounting() {
  v1::Phase phase;
  phase.add_before()->mutable_drop_caches();
  phase.add_before()->mutable_remount()->set_mount_point("/mnt/nfs");
  return phase;
}

struct Clients {
  Interrupt interrupt;
  std::vector<WorkerId> asked;
  bool busy = false;
  absl::StatusCode busy_code = absl::StatusCode::kFailedPrecondition;
  ManualClock clock;
  ScriptedWorkers workers;
  Cluster cluster;

  explicit Clients(std::vector<v1::WorkerFacts> facts)
      : workers(clock, std::move(facts),
                [this](WorkerId id, const v1::WorkerRequest& request) {
                  v1::WorkerEvent event;
                  CHECK(request.client_step().step().remount().mount_point() == "/mnt/nfs");
                  asked.push_back(id);
                  if (busy) {
                    event.mutable_problem()->set_code(static_cast<int>(busy_code));
                    event.mutable_problem()->set_message("still in use");
                  } else {
                    event.mutable_client_step_done()->mutable_step()->set_name("remount");
                  }
                  return std::vector<v1::WorkerEvent>{event};
                }),
        cluster(workers, 1, interrupt, ClusterPatience(), [this] { return clock.now; }) {}

  void Join(uint32_t count) {
    REQUIRE(cluster.Gather(count, clock.now + 1'000'000'000, "1", [](uint32_t) {}).ok());
  }
};

TEST_CASE("a client's step is done by the first of its workers that takes part") {
  Clients clients({On("a"), On("a"), On("b"), On("b"), On("c")});
  clients.Join(5);
  StepsOfWorkers done;
  const auto takes_part = [](uint32_t worker) { return worker != 2 && worker != 4; };
  REQUIRE(RunClientSteps(clients.cluster, Remounting(), takes_part, done).ok());
  CHECK(clients.asked == std::vector<WorkerId>{0, 3});
  REQUIRE(done.size() == 2);
  CHECK(done[0].at(0).name() == "remount");
  CHECK(done[3].size() == 1);
}

TEST_CASE("a client that cannot do its step is named") {
  Clients clients({On("a")});
  clients.Join(1);
  clients.busy = true;
  StepsOfWorkers done;
  const absl::Status status = RunClientSteps(
      clients.cluster, Remounting(), [](uint32_t) { return true; }, done);
  CHECK(status.message() == "worker 0 on a: still in use");
  CHECK(absl::IsFailedPrecondition(status));
}

TEST_CASE("only steps of whole clients are client steps") {
  const v1::Phase phase = Remounting();
  CHECK_FALSE(IsClientStep(phase.before(0)));
  CHECK(IsClientStep(phase.before(1)));
  CHECK(HasClientSteps(phase));
  CHECK_FALSE(HasClientSteps(v1::Phase()));
  v1::Step eats;
  eats.mutable_eat_memory()->set_percent(50);
  CHECK(IsClientStep(eats));
}

// The facts of a worker that could not drop the system's caches; `resident_mib` of 100 MiB are in memory.
v1::Coldness Cold(uint64_t resident_mib, const std::string& remountable = "") {
  v1::Coldness cold;
  cold.set_resident_bytes(resident_mib << 20);
  cold.set_file_bytes(100 << 20);
  if (!remountable.empty()) cold.add_remountable(remountable);
  return cold;
}

TEST_CASE("--cold remounts on clients that are warm, where a worker may") {
  Clients clients({On("a"), On("a"), On("b"), On("c"), On("d")});
  clients.Join(5);
  // a: its second worker is warm, and its first may remount; b: cold enough; c: may not; d: warm.
  const ColdnessOfWorkers coldness = {{0, Cold(0, "/mnt/nfs")},
                                      {1, Cold(6)},
                                      {2, Cold(5, "/mnt/nfs")},
                                      {3, Cold(100)},
                                      {4, Cold(100, "/mnt/nfs")}};
  CHECK(AnyToRemount(clients.cluster, coldness));
  StepsOfWorkers done;
  REQUIRE(RemountForCold(clients.cluster, coldness, done).ok());
  CHECK(clients.asked == std::vector<WorkerId>{0, 4});
  REQUIRE(done.size() == 2);
  CHECK(done[0].at(0).name() == "cold-remount");
  CHECK(done[0].at(0).outcome() == ": 6 MiB of the files were still in memory");
  CHECK_FALSE(AnyToRemount(clients.cluster, {{2, Cold(5, "/mnt/nfs")}, {3, Cold(100)}}));
}

TEST_CASE("--cold: names need drop_caches or a remount, and files whose pages are unknown too") {
  Clients clients({On("a")});
  clients.Join(1);
  v1::Coldness cold;
  cold.add_remountable("/mnt/nfs");
  for (const bool names : {true, false}) {
    cold.set_names(names);
    cold.set_system_dropped(false);
    CHECK(AnyToRemount(clients.cluster, {{0, cold}}));
    cold.set_system_dropped(true);
    CHECK_FALSE(AnyToRemount(clients.cluster, {{0, cold}}));
  }
}

TEST_CASE("a mount in use stays, and the run goes on; one that is gone ends it") {
  Clients clients({On("a")});
  clients.Join(1);
  clients.busy = true;
  StepsOfWorkers done;
  REQUIRE(RemountForCold(clients.cluster, {{0, Cold(50, "/mnt/nfs")}}, done).ok());
  CHECK(done[0].at(0).name() == "no-remount");
  CHECK(done[0].at(0).outcome() == "50 MiB of the files were still in memory, and still in use");
  clients.busy_code = absl::StatusCode::kUnavailable;
  const absl::Status gone = RemountForCold(clients.cluster, {{0, Cold(50, "/mnt/nfs")}}, done);
  CHECK(gone.message() == "worker 0 on a: still in use");
}

TEST_CASE("workers of a client list are numbered by their places, whoever joins first") {
  Clients clients({On("z", 2), On("a", 3), On("m", 1)});
  clients.workers.set_ordered(false);
  clients.Join(3);
  CHECK(clients.cluster.members()[0].facts.host() == "m");
  CHECK(clients.cluster.members()[1].facts.host() == "z");
  CHECK(clients.cluster.members()[2].facts.host() == "a");
}

TEST_CASE("who waits for workers hears at once that one of them has ended") {
  Clients clients({On("a")});
  const absl::Status status =
      clients.cluster.Gather(2, CoordTime{INT64_MAX}, "1", [](uint32_t) {},
                             {.check = [] { return absl::UnavailableError("client b: exit code 2"); }});
  CHECK(status.message() == "client b: exit code 2");
}

}  // namespace
}  // namespace iobench
