#include "coordinator/analysis/phase/phase_reads.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/model/plan_targets.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// Two clients with a lane each that read 1000 MiB; the first on ext4, the second on NFS. Each has 4000 MiB of memory.
PhaseScript DiskAndServer() {
  PhaseScript script("read");
  for (const uint32_t n : {0u, 1u}) {
    script.Lane(n).Moves(1000_MiB).EndsAt(10_s).InOps(1000);
    script.Worker(n).facts.set_memory_bytes(4000_MiB);
  }
  script.Worker(1).RunsOn("node2", "boot2");
  v1::TargetFacts& target = *script.Worker(1).targets.mutable_targets(0);
  target.set_filesystem("nfs4");
  target.set_network(true);
  target.set_filesystem_id("server:/export");
  script.run.mutable_plan()->mutable_files()->set_bytes_per_lane(1000_MiB);
  return script;
}

void FromServer(PhaseScript& script, uint64_t bytes) {
  (*script.Worker(1).host.mutable_nfs())[0].set_server_read_bytes(bytes);
}

TEST_CASE(
    "what a phase read came from disks, servers and the clients' memory, and the parts make the whole") {
  PhaseScript script = DiskAndServer();
  script.Worker(0).host.set_disk_read_bytes(700_MiB);
  FromServer(script, 400_MiB);
  const v1::PhaseReport report = script.Report();
  const v1::ReadSources& first = report.clients(0).read_sources();
  CHECK(first.asked_bytes() == 1000_MiB);
  CHECK(first.disk_bytes() == 700_MiB);
  CHECK(first.server_bytes() == 0);
  CHECK(first.cache_bytes() == 300_MiB);
  CHECK(first.files_to_memory() == Approx(0.25));
  const v1::ReadSources& second = report.clients(1).read_sources();
  CHECK(second.server_bytes() == 400_MiB);
  CHECK(second.cache_bytes() == 600_MiB);
  CHECK(second.unknown_bytes() == 0);
  const v1::ReadSources& all = report.read_sources();
  CHECK(all.asked_bytes() == 2000_MiB);
  CHECK(all.disk_bytes() == 700_MiB);
  CHECK(all.server_bytes() == 400_MiB);
  CHECK(all.cache_bytes() == 900_MiB);
  CHECK(all.unknown_bytes() == 0);
}

TEST_CASE("a phase shows the client whose files fit best into its memory") {
  PhaseScript script = DiskAndServer();
  script.Worker(1).facts.set_memory_bytes(10'000_MiB);
  CHECK(script.Report().read_sources().files_to_memory() == Approx(0.1));
  script.Worker(1).facts.set_memory_bytes(0);  // unknown
  CHECK(script.Report().read_sources().files_to_memory() == Approx(0.25));
}

TEST_CASE("reads ahead do not count, and bytes without a counter are not known") {
  PhaseScript script = DiskAndServer();
  FromServer(script, 9000_MiB);
  const v1::PhaseReport report = script.Report();
  CHECK(report.clients(1).read_sources().server_bytes() == 1000_MiB);
  CHECK(report.clients(0).read_sources().unknown_bytes() == 1000_MiB);  // no /proc/self/io
  CHECK(report.clients(0).read_sources().cache_bytes() == 0);
  script.Worker(1).targets.mutable_targets(0)->set_filesystem("fuse.sshfs");
  CHECK(script.Report().clients(1).read_sources().unknown_bytes() == 1000_MiB);
}

TEST_CASE("beside NFS nothing is known of local reads because processes are charged for both") {
  PhaseScript script = DiskAndServer();
  script.Worker(1).RunsOn("node1", "boot1");
  FromServer(script, 1000_MiB);
  script.Worker(0).host.set_disk_read_bytes(0);  // all from memory
  script.Worker(1).host.set_disk_read_bytes(1000_MiB);
  const v1::ReadSources sources = script.Report().clients(0).read_sources();
  CHECK(sources.server_bytes() == 1000_MiB);
  CHECK(sources.disk_bytes() == 0);
  CHECK(sources.cache_bytes() == 0);
  CHECK(sources.unknown_bytes() == 1000_MiB);
}

TEST_CASE("what workers with targets of their own read from one mount is what the last to end has counted") {
  PhaseScript script = DiskAndServer();
  script.run.mutable_plan()->add_targets()->set_path("/mnt/test/below");
  script.Lane(1).EndsAt(6_s);
  script.Worker(1).RunsOn("node1", "boot1");
  v1::WorkerTargets& targets = script.Worker(1).targets;
  script.Worker(0).targets = targets;
  const v1::TargetFacts seen = targets.targets(0);
  targets.Clear();
  AddSeen(targets, 1) = seen;
  (*script.Worker(1).host.mutable_nfs())[1].set_server_read_bytes(1600_MiB);
  (*script.Worker(0).host.mutable_nfs())[0].set_server_read_bytes(2000_MiB);
  const v1::ReadSources sources = script.Report().clients(0).read_sources();
  CHECK(sources.server_bytes() == 2000_MiB);
  CHECK(sources.cache_bytes() == 0);
}

TEST_CASE("libnfs has no cache: all it reads comes from its server; the null engine reads nothing") {
  PhaseScript script = DiskAndServer();
  script.operation().set_engine("libnfs");
  CHECK(script.Report().read_sources().server_bytes() == 2000_MiB);
  script.operation().set_engine("null");
  CHECK_FALSE(script.Report().has_read_sources());
}

TEST_CASE("a phase that only writes has no sources") {
  PhaseScript script = DiskAndServer();
  script.operation().set_name("write");
  for (const uint32_t n : {0u, 1u}) script.Lane(n).Writes();
  CHECK_FALSE(script.Report().has_read_sources());
}

// The same phase with --cold: all counters are present and show cold caches.
PhaseScript Cold() {
  PhaseScript script = DiskAndServer();
  script.plan().add_before()->mutable_drop_caches()->set_verify(true);
  script.Worker(0).host.set_disk_read_bytes(1000_MiB);
  FromServer(script, 1000_MiB);
  for (const uint32_t n : {0u, 1u}) script.Lane(n).HadInMemory(0);
  return script;
}

const v1::Mark* MarkOf(const v1::PhaseReport& report, const std::string& code) {
  for (const v1::Mark& mark : report.marks()) {
    if (mark.code() == code) return &mark;
  }
  return nullptr;
}

TEST_CASE("--cold is verified by the counters of every client") {
  PhaseScript script = Cold();
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.has_cold());
  CHECK(report.cold().verified());
  CHECK_THAT(report.cold().clients(), Catch::Contains("verified"));
  CHECK(MarkOf(report, "not_cold") == nullptr);
  CHECK_THAT(report.cold().clients(), !Catch::Contains("remount"));
  script.Worker(1).steps.emplace_back().set_name("cold-remount");
  CHECK_THAT(script.Report().cold().clients(),
             Catch::Contains("verified") && Catch::EndsWith(", after a remount on 1 client"));
  CHECK_FALSE(DiskAndServer().Report().has_cold());
}

TEST_CASE("not_cold: a client that read from its memory, or had the files there before") {
  PhaseScript script = Cold();
  SECTION("read") {
    FromServer(script, 940_MiB);
  }
  SECTION("had") {
    script.Lane(1).HadInMemory(60_MiB);
  }
  const v1::PhaseReport report = script.Report();
  CHECK_FALSE(report.cold().verified());
  REQUIRE(MarkOf(report, "not_cold") != nullptr);
  CHECK(MarkOf(report, "not_cold")->subject() == "node2");
  CHECK(MarkOf(report, "not_cold")->value() == Approx(6));
  CHECK(MarkOf(report, "not_cold")->threshold() == 5);
}

TEST_CASE("--cold without a counter is neither verified nor marked") {
  PhaseScript script = Cold();
  script.Worker(0).host.clear_disk_read_bytes();
  const v1::PhaseReport report = script.Report();
  CHECK_FALSE(report.cold().verified());
  CHECK_THAT(report.cold().clients(), Catch::Contains("not verified") && Catch::Contains("node1"));
  CHECK(MarkOf(report, "not_cold") == nullptr);
}

TEST_CASE("the server's cache is unknown unless a hook drops it or it is too small") {
  PhaseScript script = Cold();
  const auto server = [&] { return script.Report().cold().server(); };
  CHECK_THAT(server(), Catch::StartsWith("unknown"));
  script.run.mutable_plan()->set_server_memory_bytes(500_MiB);  // files: 2000 MiB
  CHECK_THAT(server(), Catch::Contains("at most 25 %"));
  script.run.mutable_plan()->set_server_memory_bytes(5000_MiB);
  CHECK_THAT(server(), Catch::StartsWith("may be warm"));
  script.phase.add_hooks()->set_name("before-phase");
  CHECK_THAT(server(), Catch::Contains("hook"));
  script.Worker(1).targets.mutable_targets(0)->set_network(false);
  CHECK(server().empty());  // local disks
}

}  // namespace
}  // namespace iobench
