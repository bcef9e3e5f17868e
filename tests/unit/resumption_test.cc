#include "coordinator/conduct/resumption.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "tests/support/temp_dir.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

using Catch::Contains;

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
  const v1::RunRecord resumed = ResumedRecord(point, "2026-11-23T03:00:00Z", 99, 0);
  CHECK_FALSE(resumed.finished());
  CHECK_FALSE(resumed.has_exit_code());
  CHECK(resumed.problems().empty());
  CHECK(resumed.run_number() == 7);
  REQUIRE(resumed.resumptions_size() == 1);
  CHECK(resumed.resumptions(0).first_phase() == 3);
  CHECK(RunIdsOf(resumed) == std::vector<uint64_t>{7, 99});
}

TEST_CASE("a resumed record has the limit of its new part, which runs the phases that were skipped") {
  ResumePoint point;
  point.run = TwoWorkers();
  for (const char* const name : {"write", "read", "reread"}) {
    point.run.mutable_plan()->add_phases()->set_name(name);
  }
  point.run.mutable_plan()->set_repetitions(2);
  point.run.set_max_duration_s(30);
  point.run.add_shortened_phases("read");
  for (const char* const name : {"reread", "write"}) point.run.add_skipped_phases(name);
  const auto resumed_at = [&point](uint32_t first_phase, double max_duration_s,
                                   bool repeats_shortened = false) {
    point.first_phase = first_phase;
    point.repeats_shortened = repeats_shortened;
    return ResumedRecord(point, "2026-11-23T03:00:00Z", 99, max_duration_s);
  };
  const v1::RunRecord goes_on = resumed_at(2, 60);
  CHECK(goes_on.skipped_phases().empty());
  CHECK(goes_on.max_duration_s() == 60);
  CHECK(goes_on.shortened_phases_size() == 1);
  CHECK(resumed_at(2, 0).max_duration_s() == 30);  // it shortened a phase of the report
  // "read" of the second repetition is measured again. The first one's stays shortened.
  CHECK(resumed_at(4, 0).shortened_phases_size() == 1);
  const v1::RunRecord again = resumed_at(4, 0, true);
  CHECK(again.shortened_phases().empty());
  CHECK(again.max_duration_s() == 0);
}

// A run of three phases that goes on with the third.
struct ThirdRemains {
  const TempDir temporary;
  Run run;

  ThirdRemains() {
    Run begun;
    begun.plan = EmptyPhases(3, 1);
    begun.out_directory = temporary / "out";
    REQUIRE(begun.Go() == kExitOk);
    run.plan = begun.conductor->record().plan();
    run.out_directory = begun.out_directory;
    run.resume.emplace();
    run.resume->directory = begun.out_directory;
    run.resume->run = begun.conductor->record();
    run.resume->first_phase = 2;
  }
};

TEST_CASE("workers get their pings while a resumed run reads its finished phases") {
  ThirdRemains third;
  Run& resumed = third.run;
  bool runs_phases = false;
  int pings = 0;
  resumed.on_phase = [&](const v1::PhaseReport& phase) {
    resumed.phases.push_back(phase);
    resumed.perfect.clock.Advance(20 * kNanosPerSecond);
  };
  resumed.perfect.instead = [&](WorkerId, const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>&) {
    runs_phases |= request.has_prepare();
    if (request.has_ping() && !runs_phases && !resumed.phases.empty()) ++pings;
    return false;
  };
  CHECK(resumed.Go() == kExitOk);
  CHECK(resumed.phases.size() == 3);
  CHECK(pings == 2 * 3);  // each worker after each of the two finished phases
}

TEST_CASE("a resumed run does not wait for its workers after each finished phase") {
  ThirdRemains third;
  std::vector<int64_t> added_ns;
  third.run.on_phase = [&](const v1::PhaseReport&) { added_ns.push_back(third.run.perfect.clock.now.ns); };
  REQUIRE(third.run.Go() == kExitOk);
  REQUIRE(added_ns.size() == 3);
  CHECK(added_ns[0] == added_ns[1]);
}

}  // namespace
}  // namespace iobench
