#include "coordinator/conduct/resumption.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "coordinator/plan/plan_check.h"
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
  point.part.first_phase = 3;
  point.part.again = {1};
  point.without = {"node2"};
  point.ended_by = "it was interrupted";
  const v1::RunRecord resumed = ResumedRecord(point, "2026-11-23T03:00:00Z", 99, 0);
  CHECK_FALSE(resumed.finished());
  CHECK_FALSE(resumed.has_exit_code());
  CHECK(resumed.problems().empty());
  CHECK(resumed.run_number() == 7);
  REQUIRE(resumed.resumptions_size() == 1);
  CHECK(resumed.resumptions(0).first_phase() == 3);
  CHECK(resumed.resumptions(0).measured_again(0) == 1);
  CHECK(resumed.resumptions(0).without(0) == "node2");
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
    point.part.first_phase = first_phase;
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
    run.resume = *FindResumePoint(begun.out_directory, "1.0");
    run.resume->part.first_phase = 2;
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

TEST_CASE("a damaged phase is measured again in its place, and the others are as they were") {
  ThirdRemains third;
  Run& run = third.run;
  const std::string raw = run.out_directory + "/raw/phase-00";
  std::filesystem::resize_file(raw + "1.pb", 10);
  const auto before = std::filesystem::last_write_time(raw + "2.pb");
  run.resume = *FindResumePoint(run.out_directory, "1.0");
  CHECK(run.resume->part.again == std::vector<uint32_t>{1});
  REQUIRE(run.Go() == kExitOk);
  REQUIRE(run.phases.size() == 3);
  for (uint32_t i = 0; i < 3; ++i) CHECK(run.phases[i].index() == i);
  CHECK(run.Count(v1::WorkerRequest::kArm) == 3);  // of one phase
  CHECK(std::filesystem::file_size(raw + "1.pb") > 10);
  CHECK(std::filesystem::last_write_time(raw + "2.pb") == before);
  CHECK(run.conductor->record().phase_count() == 3);
  const auto again = FindResumePoint(run.out_directory, "1.0");
  REQUIRE(again.ok());
  CHECK(again->complete);
}

TEST_CASE("raw files that changed while the workers joined refuse the resumption, and nothing is written") {
  ThirdRemains third;
  std::filesystem::remove(third.run.out_directory + "/raw/phase-001.pb");
  CHECK(third.run.Go() == kExitUsage);
  CHECK_THAT(std::string(third.run.conductor->refusal().message()), Contains("have changed"));
  CHECK(third.run.Count(v1::WorkerRequest::kDataStep) == 0);
  CHECK(std::filesystem::exists(third.run.out_directory + "/raw/phase-002.pb"));
}

TEST_CASE("a run goes on without a client: its workers are lost from then on, and the others keep their numbers") {
  ThirdRemains third;
  Run& run = third.run;
  REQUIRE(run.resume->run.workers(0).host() == "b2");
  REQUIRE(LeaveOutClients({"b2"}, *run.resume).ok());
  run.hosts.erase(run.hosts.begin());
  CHECK(run.Go() == kExitPartial);
  REQUIRE(run.phases.size() == 3);
  CHECK(run.phases[1].workers_lost() == 0);
  CHECK(run.phases[2].workers_lost() == 1);
  const v1::RunRecord& record = run.conductor->record();
  CHECK(record.workers_size() == 3);
  CHECK(record.workers(1).host() == "b10");
  CHECK(record.resumptions(0).without(0) == "b2");
  CHECK(record.exit_code() == kExitPartial);
}

std::string TextOf(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_CASE("a run recognises the data of a part that was killed as soon as it had claimed them") {
  ThirdRemains third;
  Run& run = third.run;
  std::vector<uint64_t> ids;
  run.perfect.instead = [&](WorkerId, const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>&) {
    if (request.data_step().action() == v1::DataStep::CLAIM)
      ids = RunIdsOf(FindResumePoint(run.out_directory, "1.0")->run);  // what a next part would find
    return false;
  };
  v1::Phase& phase = *run.plan.mutable_phases(0);
  phase.mutable_assignments(0)->mutable_operation()->set_name("write");
  phase.mutable_assignments(0)->mutable_operation()->set_engine("posix");
  CompletePlan(run.plan);
  run.Go();
  CHECK(std::find(ids.begin(), ids.end(), uint64_t{7}) != ids.end());
  CHECK(ids.size() == 2);
}

TEST_CASE("nothing of an earlier result is removed if the run does not get its data") {
  ThirdRemains third;
  Run& run = third.run;
  SECTION("resumed") {
  }
  SECTION("replaced") {
    run.resume.reset();
    run.force = true;
  }
  v1::Phase& phase = *run.plan.mutable_phases(0);
  phase.mutable_assignments(0)->mutable_operation()->set_name("write");
  phase.mutable_assignments(0)->mutable_operation()->set_engine("posix");
  CompletePlan(run.plan);
  const std::string json = run.out_directory + "/result.json", before = TextOf(json);
  run.perfect.instead = [](WorkerId, const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>& events) {
    if (request.data_step().action() != v1::DataStep::CLAIM) return false;
    *events.emplace_back().mutable_problem() = ToProblem(ErrnoStatus("create the data directory", EIO));
    return true;
  };
  CHECK(run.Go() == kExitIo);
  CHECK_THAT(std::string(run.conductor->refusal().message()), Contains("EIO"));
  CHECK(TextOf(json) == before);
  CHECK(std::filesystem::exists(run.out_directory + "/raw/phase-002.pb"));
}

}  // namespace
}  // namespace iobench
