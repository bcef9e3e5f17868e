#include "coordinator/run/resumption.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

namespace iobench {
namespace {

using Catch::Matchers::Contains;

// Two workers on two clients, on one NFS mount.
v1::RunRecord TwoWorkers() {
  v1::RunRecord run;
  run.set_run_number(7);
  run.set_transport("grpc");
  run.mutable_plan()->add_targets()->set_path("/mnt");
  for (const std::string host : {"a", "b"}) {
    v1::WorkerFacts& worker = *run.add_workers();
    worker.set_host(host);
    worker.set_boot_id("boot " + host);
    worker.set_kernel("6.1");
    worker.set_processors(8);
    v1::TargetFacts& target = *run.add_targets()->add_targets();
    target.set_network(true);
    target.set_filesystem("nfs4");
    target.set_mount_source("server:/export");
    target.set_mount_options("rsize=1048576");
  }
  return run;
}

std::string Refusal(const std::function<void(v1::RunRecord&)>& change) {
  v1::RunRecord now = TwoWorkers();
  change(now);
  const auto differences = DifferencesSince(TwoWorkers(), now);
  return differences.ok() ? "" : std::string(differences.status().message());
}

TEST_CASE("the same clients may go on, also after they were restarted") {
  v1::RunRecord now = TwoWorkers();
  now.mutable_workers(0)->set_boot_id("another boot of a");
  now.mutable_workers(0)->set_pid(4711);
  const auto differences = DifferencesSince(TwoWorkers(), now);
  REQUIRE(differences.ok());
  CHECK(differences->empty());
}

TEST_CASE("what may change the figures is named, once") {
  v1::RunRecord now = TwoWorkers();
  now.set_transport("mpi");
  for (int worker : {0, 1}) now.mutable_workers(worker)->set_host("a");
  v1::RunRecord saved = now;  // both workers on one client
  saved.set_transport("grpc");
  for (int worker : {0, 1}) {
    now.mutable_workers(worker)->set_kernel("6.2");
    now.mutable_targets(worker)->mutable_targets(0)->set_mount_options("rsize=4096");
  }
  const auto differences = DifferencesSince(saved, now);
  REQUIRE(differences.ok());
  CHECK(*differences == std::vector<std::string>{"the run: transport mpi, was grpc", "a: kernel 6.2, was 6.1",
                                                 "a /mnt: mount options rsize=4096, was rsize=1048576"});
}

TEST_CASE("other clients, paths or storage are refused, each by name") {
  CHECK_THAT(Refusal([](v1::RunRecord& now) { now.mutable_workers()->RemoveLast(); }),
             Contains("workers 1, was 2"));
  CHECK_THAT(Refusal([](v1::RunRecord& now) { now.mutable_workers(1)->set_host("c"); }),
             Contains("worker 1: on c, was b"));
  CHECK_THAT(Refusal([](v1::RunRecord& now) { now.mutable_workers(1)->set_boot_id("boot a"); }),
             Contains("worker 1: on the client of worker 0, was 1"));
  CHECK_THAT(Refusal([](v1::RunRecord& now) { now.mutable_plan()->mutable_targets(0)->set_path("/x"); }),
             Contains("paths /x, was /mnt"));
  const auto both = [](v1::RunRecord& now) {
    now.mutable_targets(0)->mutable_targets(0)->set_mount_source("other:/export");
    now.mutable_targets(1)->mutable_targets(0)->set_filesystem("ext4");
  };
  CHECK_THAT(Refusal(both), Contains("nfs4 from other:/export") && Contains("ext4 from server:/export"));
}

TEST_CASE("a resumed record keeps the run and forgets how it ended") {
  ResumePoint point;
  point.run = TwoWorkers();
  point.run.set_finished(true);
  point.run.set_exit_code(130);
  point.run.add_problems()->set_message("a worker was lost");
  point.first_phase = 3;
  point.ended_by = "it was interrupted";
  const v1::RunRecord resumed = ResumedRecord(point, "2026-11-23T03:00:00Z", 99);
  CHECK_FALSE(resumed.finished());
  CHECK_FALSE(resumed.has_exit_code());
  CHECK(resumed.problems().empty());
  CHECK(resumed.run_number() == 7);
  REQUIRE(resumed.resumptions_size() == 1);
  CHECK(resumed.resumptions(0).first_phase() == 3);
  CHECK(RunIdsOf(resumed) == std::vector<uint64_t>{7, 99});
}

}  // namespace
}  // namespace iobench
