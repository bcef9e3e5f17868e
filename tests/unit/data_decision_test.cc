#include "coordinator/conduct/data/data_decision.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "common/host_identity.h"
#include "common/text/units.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/conduct/data/access_check.h"
#include "coordinator/conduct/data/data_ledger.h"
#include "tests/support/command_words.h"

namespace iobench {
namespace {

using Catch::Contains;

// Two clients with one worker each on one NFS mount with 1 GiB free; a test changes only what it tests.
struct Deployment {
  std::vector<std::string> arguments = {"-i0", "-i1", "-s", "100m", "-r", "64k", "--path", "/mnt/nfs"};
  std::vector<Member> members;
  std::vector<v1::WorkerTargets> facts;
  bool force = false;
  std::vector<uint64_t> earlier_runs;

  Deployment() {
    for (uint32_t number = 0; number < 2; ++number) {
      Member member;
      member.number = number;
      member.client = number;
      member.facts.set_host("node" + std::to_string(number));
      members.push_back(member);
      v1::WorkerTargets targets;
      v1::TargetFacts& seen = *targets.add_targets();
      seen.set_filesystem_id("server:/export");
      seen.set_network(true);
      seen.set_free_bytes(1_GiB);
      seen.set_logical_block_bytes(4096);
      facts.push_back(targets);
    }
  }
  v1::TargetFacts& Seen(int worker) { return *facts[static_cast<size_t>(worker)].mutable_targets(0); }

  v1::Manifest Ours(const v1::Plan& plan) const {
    v1::Manifest manifest;
    manifest.set_workers(2);
    manifest.set_lanes_per_worker(plan.lanes_per_worker());
    manifest.set_targets(1);
    *manifest.mutable_files() = plan.files();
    manifest.set_seed(plan.seed());
    *manifest.mutable_data() = plan.data();
    if (plan.data().verify()) manifest.set_unit_bytes(SectorUnitBytes(plan));
    return manifest;
  }
  void FindsData(v1::Manifest::State state, const std::vector<std::string>& written_by) {
    v1::Manifest manifest = Ours(PlanOf(written_by));
    manifest.clear_data();
    manifest.clear_unit_bytes();
    manifest.set_state(state);
    manifest.set_created_by("node7");
    for (int worker : {0, 1}) *Seen(worker).mutable_manifest() = manifest;
  }
  static v1::Plan PlanOf(const std::vector<std::string>& arguments) {
    return *BuildPlan(JobFrom(arguments)->given, {});
  }

  absl::StatusOr<DataDecision> Decide() {
    const v1::Plan plan = PlanOf(arguments);
    return DecideAboutData(plan, Layout(plan, std::vector<uint32_t>{0, 1}), members, facts, Ours(plan), force,
                           earlier_runs);
  }
  std::string Refusal() {
    const auto decision = Decide();
    return decision.ok() ? "" : std::string(decision.status().message());
  }
};

TEST_CASE("an empty target with room is used, and the space is that of all lanes") {
  Deployment deployment;
  const auto decision = deployment.Decide();
  REQUIRE(decision.ok());
  CHECK(decision->bytes_needed == 200_MiB);
  CHECK_FALSE(decision->uses_kept_data);
  CHECK_FALSE(decision->removes_old_data);
}

TEST_CASE("lanes of all clients on one file system count together against its space") {
  Deployment deployment;
  deployment.Seen(0).set_free_bytes(150_MiB);
  deployment.Seen(1).set_free_bytes(150_MiB);
  CHECK_THAT(deployment.Refusal(), Contains("200 MiB") && Contains("150 MiB") && Contains("--force"));
  deployment.Seen(1).set_filesystem_id("another");  // now each has a file system of its own
  CHECK(deployment.Refusal().empty());
  deployment.Seen(1).set_filesystem_id("server:/export");
  deployment.force = true;
  CHECK(deployment.Refusal().empty());
}

TEST_CASE("with --each-path all lanes need their space on every path, and can use each") {
  Deployment deployment;
  deployment.arguments.insert(deployment.arguments.end(), {"--path", "/b", "--each-path"});
  for (v1::WorkerTargets& seen : deployment.facts) {
    *seen.add_targets() = seen.targets(0);
    seen.mutable_targets(1)->set_filesystem_id("server:/other");
  }
  const auto decision = deployment.Decide();
  REQUIRE(decision.ok());
  CHECK(decision->bytes_needed == 400_MiB);
  const v1::Plan plan = Deployment::PlanOf(deployment.arguments);
  const Layout layout(plan, std::vector<uint32_t>{0, 1});
  const auto claimers = Claimers(layout, deployment.members, deployment.facts);
  REQUIRE(claimers.size() == 2);
  CHECK(claimers.begin()->first == FilesystemOfTarget(0, "server:/export"));
  CHECK(claimers.rbegin()->first == FilesystemOfTarget(1, "server:/other"));
  for (v1::WorkerTargets& seen : deployment.facts) seen.mutable_targets(1)->set_free_bytes(150_MiB);
  CHECK_THAT(deployment.Refusal(), Contains("/b: the lanes there need 200 MiB, but only 150 MiB are free"));
  for (v1::WorkerTargets& seen : deployment.facts) {
    seen.mutable_targets(1)->set_filesystem_id("server:/export");  // both paths are on one file system
    for (v1::TargetFacts& target : *seen.mutable_targets()) target.set_free_bytes(300_MiB);
  }
  CHECK_THAT(deployment.Refusal(), Contains("need 400 MiB"));
  deployment.facts[1].mutable_targets(0)->mutable_problem()->set_code(13);
  deployment.facts[1].mutable_targets(0)->mutable_problem()->set_message("cannot write there");
  CHECK_THAT(deployment.Refusal(), Contains("node1: cannot write there"));
}

TEST_CASE("the null engine needs neither space nor a directory") {
  Deployment deployment;
  deployment.arguments.insert(deployment.arguments.end(), {"--engine", "null"});
  deployment.Seen(0).set_free_bytes(0);
  deployment.Seen(0).mutable_problem()->set_code(5);
  REQUIRE(deployment.Decide().ok());
  CHECK_FALSE(deployment.Decide()->uses_files);
}

TEST_CASE("a path that one client cannot use is refused with that client's name") {
  Deployment deployment;
  deployment.Seen(1).mutable_problem()->set_code(5);
  deployment.Seen(1).mutable_problem()->set_message("/mnt/nfs: No such file or directory (ENOENT)");
  CHECK_THAT(deployment.Refusal(), Contains("node1") && Contains("/mnt/nfs") && Contains("ENOENT"));
}

TEST_CASE("with -I records must fit the logical block of the file system") {
  Deployment deployment;
  deployment.arguments = {"-i0", "-I", "-r", "512b", "-s", "1m", "--path", "/mnt/nfs"};
  CHECK_THAT(deployment.Refusal(), Contains("4096") && Contains("512"));
}

TEST_CASE("data that are not ours are left alone") {
  Deployment deployment;
  deployment.Seen(0).set_foreign_data(true);
  CHECK_THAT(deployment.Refusal(), Contains("not ours"));
  deployment.force = true;
  CHECK_THAT(deployment.Refusal(), Contains("not ours"));  // --force does not help
}

TEST_CASE("data of a run that is active or crashed are removed only with --force") {
  Deployment deployment;
  deployment.FindsData(v1::Manifest::ACTIVE, deployment.arguments);
  CHECK_THAT(deployment.Refusal(), Contains("node7") && Contains("cluster-iobench clean"));
  deployment.force = true;
  REQUIRE(deployment.Decide().ok());
  CHECK(deployment.Decide()->removes_old_data);
}

TEST_CASE("a run that is resumed replaces what its earlier parts left, unless one of them is alive") {
  Deployment deployment;
  deployment.FindsData(v1::Manifest::ACTIVE, deployment.arguments);
  for (int worker : {0, 1}) deployment.Seen(worker).mutable_manifest()->set_run_id(77);
  deployment.earlier_runs = {70};
  CHECK_FALSE(deployment.Refusal().empty());
  deployment.earlier_runs = {70, 77};
  const auto decision = deployment.Decide();
  REQUIRE(decision.ok());
  CHECK(decision->removes_old_data);
  deployment.Seen(1).set_owner(v1::TargetFacts::ALIVE);
  CHECK_THAT(deployment.Refusal(), Contains("is alive"));
}

TEST_CASE("data of a run that any client sees alive are removed by nobody") {
  Deployment deployment;
  deployment.FindsData(v1::Manifest::ACTIVE, deployment.arguments);
  deployment.Seen(1).set_owner(v1::TargetFacts::ALIVE);
  deployment.Seen(1).set_owner_pid(4711);
  for (int worker : {0, 1}) deployment.Seen(worker).mutable_manifest()->set_pid(12);  // has ended
  for (const bool force : {false, true}) {
    deployment.force = force;
    CHECK_THAT(deployment.Refusal(),
               Contains("the run of node1 pid 4711") && Contains("is alive") && !Contains("--force"));
  }
  deployment.Seen(1).mutable_manifest()->set_state(v1::Manifest::KEPT);
  deployment.Seen(0).mutable_manifest()->set_state(v1::Manifest::KEPT);
  CHECK(deployment.Refusal().empty());
}

TEST_CASE("a run that has crashed is told from one that cannot be seen") {
  Deployment deployment;
  deployment.FindsData(v1::Manifest::ACTIVE, deployment.arguments);
  CHECK_THAT(deployment.Refusal(),
             Contains("cannot be seen from here") && Contains("clean --force /mnt/nfs"));
  deployment.force = true;
  REQUIRE(deployment.Decide()->notes.size() == 1);
  CHECK_THAT(deployment.Decide()->notes[0], Contains("node7") && Contains("could not be seen"));
  deployment.Seen(1).set_owner(v1::TargetFacts::GONE);  // one client that can see it is enough
  CHECK(deployment.Decide()->notes.empty());
  deployment.force = false;
  CHECK_THAT(deployment.Refusal(), Contains("crashed") && Contains("clean /mnt/nfs") && !Contains("seen"));
}

TEST_CASE("a run whose coordinator ran on this host is seen from here where no worker sees it") {
  Deployment deployment;
  deployment.FindsData(v1::Manifest::ACTIVE, deployment.arguments);
  const ProcessIdentity self = *OwnIdentity();
  const auto name_coordinator = [&deployment](const ProcessIdentity& process) {
    for (int worker : {0, 1}) {
      v1::Manifest& manifest = *deployment.Seen(worker).mutable_manifest();
      manifest.set_coordinator_boot_id(process.place);
      manifest.set_coordinator_pid(process.pid);
      manifest.set_coordinator_start_ticks(process.start_ticks);
    }
  };
  name_coordinator(self);
  const std::string pid = std::to_string(::getpid());
  for (const bool force : {false, true}) {
    deployment.force = force;
    CHECK_THAT(deployment.Refusal(), Contains("the run of " + HostName() + " pid " + pid + ", which node7") &&
                                         Contains("is alive"));
  }
  name_coordinator({.place = self.place, .pid = self.pid, .start_ticks = self.start_ticks + 1});
  CHECK(deployment.Decide()->notes.empty());
  deployment.force = false;
  CHECK_THAT(deployment.Refusal(),
             Contains("has crashed") && Contains("clean /mnt/nfs") && !Contains("cannot be seen"));
  name_coordinator({.place = "another boot", .pid = self.pid, .start_ticks = self.start_ticks});
  CHECK_THAT(deployment.Refusal(), Contains("cannot be seen from here"));
}

TEST_CASE("kept data are read by a run that writes none and matches") {
  Deployment deployment;
  deployment.arguments = {"-i1", "-s", "100m", "-r", "64k", "--path", "/mnt/nfs"};
  deployment.FindsData(v1::Manifest::KEPT, deployment.arguments);
  deployment.Seen(0).set_free_bytes(0);  // nothing is written, no space is needed
  REQUIRE(deployment.Decide().ok());
  CHECK(deployment.Decide()->uses_kept_data);
}

TEST_CASE("a run that only reads needs space for the files that are written for it") {
  Deployment deployment;
  deployment.arguments = {"-i1", "-s", "100m", "-r", "64k", "--path", "/mnt/nfs"};
  CHECK(deployment.Decide()->bytes_needed == 200_MiB);
  deployment.Seen(0).set_free_bytes(150_MiB);
  deployment.Seen(1).set_free_bytes(150_MiB);
  CHECK_THAT(deployment.Refusal(), Contains("the lanes there need 200 MiB, but only 150 MiB are free"));
}

TEST_CASE("kept data that do not fit are refused with what differs") {
  Deployment deployment;
  deployment.arguments = {"-i1", "-s", "200m", "-r", "64k", "--path", "/mnt/nfs"};
  deployment.FindsData(v1::Manifest::KEPT, {"-i1", "-s", "100m", "--seed", "9", "--path", "/mnt/nfs"});
  CHECK_THAT(deployment.Refusal(), Contains("bytes per lane 104857600, now 209715200") && !Contains("seed"));
}

TEST_CASE("kept data are read with another seed, which is of this run's orders alone") {
  Deployment deployment;
  deployment.arguments = {"-i1", "-s", "100m", "--seed", "8", "--path", "/mnt/nfs"};
  deployment.FindsData(v1::Manifest::KEPT, {"-i1", "-s", "100m", "--seed", "9", "--path", "/mnt/nfs"});
  REQUIRE(deployment.Decide().ok());
  CHECK(deployment.Decide()->uses_kept_data);
  CHECK(deployment.Decide()->kept.seed() == 9);
}

TEST_CASE("kept data are verified where they were written to be, with the same sectors") {
  Deployment deployment;
  deployment.arguments = {"-i1", "-s", "100m", "-r", "64k", "--verify", "--path", "/mnt/nfs"};
  deployment.FindsData(v1::Manifest::KEPT, deployment.arguments);
  CHECK_THAT(deployment.Refusal(), Contains("written with --verify no, now yes"));
  for (int worker : {0, 1}) {
    v1::Manifest& manifest = *deployment.Seen(worker).mutable_manifest();
    manifest.mutable_data()->set_verify(true);
    manifest.set_unit_bytes(512);
    manifest.set_run_id(12);
    manifest.set_generation_low(3);
    manifest.set_generation_high(4);
  }
  REQUIRE(deployment.Decide().ok());
  CHECK(deployment.Decide()->uses_kept_data);
  CHECK(deployment.Decide()->kept.run_id() == 12);
  CHECK(deployment.Decide()->kept.generation_high() == 4);
  for (int worker : {0, 1}) deployment.Seen(worker).mutable_manifest()->set_unit_bytes(1000);
  CHECK_THAT(deployment.Refusal(), Contains("multiples of bytes 1000, now 512"));
}

TEST_CASE("kept data of two runs on two file systems are read, but not verified together") {
  Deployment deployment;
  deployment.arguments = {"-i1", "-s", "100m", "-r", "64k", "--verify", "--path", "/mnt/nfs"};
  deployment.FindsData(v1::Manifest::KEPT, deployment.arguments);
  for (int worker : {0, 1}) {
    v1::TargetFacts& seen = deployment.Seen(worker);
    seen.set_filesystem_id("local disk " + std::to_string(worker));
    seen.mutable_manifest()->mutable_data()->set_verify(true);
    seen.mutable_manifest()->set_unit_bytes(512);
    seen.mutable_manifest()->set_run_id(12 + static_cast<uint64_t>(worker));
  }
  CHECK_THAT(deployment.Refusal(), Contains("another run") && Contains("-i 0"));
  deployment.arguments = {"-i1", "-s", "100m", "-r", "64k", "--path", "/mnt/nfs"};
  REQUIRE(deployment.Decide().ok());
}

TEST_CASE("a run that writes replaces kept data") {
  Deployment deployment;
  deployment.FindsData(v1::Manifest::KEPT, deployment.arguments);
  deployment.Seen(0).set_free_bytes(10_MiB);  // its 200 MiB make room
  deployment.Seen(1).set_free_bytes(10_MiB);
  for (int worker : {0, 1})
    deployment.Seen(worker).mutable_manifest()->set_created_at("2026-01-02T03:04:05Z");
  REQUIRE(deployment.Decide().ok());
  CHECK(deployment.Decide()->removes_old_data);
  CHECK_FALSE(deployment.Decide()->uses_kept_data);
  REQUIRE(deployment.Decide()->notes.size() == 1);  // one file system, one directory
  CHECK_THAT(deployment.Decide()->notes[0], Contains("node0: /mnt/nfs/cluster-iobench.data") &&
                                                Contains("node7") && Contains("2026-01-02T03:04:05Z") &&
                                                Contains("200 MiB") && Contains("are removed"));
}

TEST_CASE("nothing is said of kept data that the run uses") {
  Deployment deployment;
  deployment.FindsData(v1::Manifest::KEPT, deployment.arguments);
  deployment.arguments = {"-i1", "-s", "100m", "-r", "64k", "--path", "/mnt/nfs"};
  REQUIRE(deployment.Decide()->uses_kept_data);
  CHECK(deployment.Decide()->notes.empty());
}

TEST_CASE("rotation needs the same file system on both clients") {
  Deployment deployment;
  deployment.arguments.push_back("--rotate-clients");
  CHECK(deployment.Refusal().empty());
  deployment.Seen(1).set_filesystem_id("local disk of node1");
  CHECK_THAT(deployment.Refusal(), Contains("--rotate-clients") && Contains("node0") && Contains("node1"));
}

TEST_CASE("space is looked for once for a sweep, for the largest of its files") {
  Deployment deployment;
  deployment.arguments = {"-i0", "-s", "100m", "-s",  "10m",    "-t",      "1",
                          "-t",  "3",  "-r",   "64k", "--path", "/mnt/nfs"};
  const auto decision = deployment.Decide();
  REQUIRE(decision.ok());
  CHECK(decision->bytes_needed == 600_MiB);  // two workers of three lanes
}

TEST_CASE("files of the user's need no space and no directory") {
  Deployment deployment;
  deployment.arguments = {"-i1", "-s", "100m", "--existing", "/mnt/nfs/mine"};
  deployment.Seen(0).set_free_bytes(0);
  const auto decision = deployment.Decide();
  REQUIRE(decision.ok());
  CHECK_FALSE(decision->uses_files);
}

TEST_CASE("a worker's existing files are those of its own lanes, and must be there and large enough") {
  const v1::Plan plan = Deployment::PlanOf(
      {"-i1", "-s", "1m", "-t", "2", "--existing", "/a", "--existing", "/b", "--existing", "/c"});
  Member member;
  member.number = 1;  // lanes 2 and 3: files 2 and 0
  member.facts.set_host("node1");
  google::protobuf::RepeatedPtrField<v1::ExistingFile> seen;
  for (const uint64_t bytes : {1_MiB, 0_MiB, 1_MiB}) seen.Add()->set_bytes(bytes);
  CHECK(CheckExistingFiles(plan, member, seen).ok());
  seen.Mutable(2)->set_bytes(1_MiB - 1);
  CHECK_THAT(std::string(CheckExistingFiles(plan, member, seen).message()),
             Catch::Contains("node1") && Catch::Contains("/c") &&
                 Catch::Contains("-s"));
  seen.Mutable(2)->mutable_problem()->set_code(5);
  seen.Mutable(2)->mutable_problem()->set_message("existing file /c: gone");
  CHECK_THAT(std::string(CheckExistingFiles(plan, member, seen).message()),
             Catch::Contains("gone"));
}

}  // namespace
}  // namespace iobench
