// Which part of what servers returned came from their memory, by their samplers.
#include <set>
#include <string>

#include "catch2/catch.hpp"
#include "coordinator/analysis/phase/phase_reads.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// A client that reads 1000 MiB from an NFS server in 10 s with --cold, and nothing from its own memory.
PhaseScript ReadFromServer() {
  PhaseScript script("read");
  script.Lane(0).Moves(1000_MiB).EndsAt(10_s).InOps(1000).HadInMemory(0);
  v1::TargetFacts& target = *script.Worker(0).targets.mutable_targets(0);
  target.set_filesystem("nfs4");
  target.set_network(true);
  target.set_filesystem_id("server:/export");
  (*script.Worker(0).host.mutable_nfs())[0].set_server_read_bytes(1000_MiB);
  script.run.mutable_plan()->mutable_files()->set_bytes_per_lane(1000_MiB);
  script.plan().add_before()->mutable_drop_caches()->set_verify(true);
  return script;
}

// A sampler that covers the phase. Its server's NFS server returned `nfsd` bytes (0: it has none), and its disk read
// `disk` bytes.
v1::ServerInterval& Sampled(uint64_t nfsd, uint64_t disk, PhaseScript& script) {
  v1::WorkerFacts& facts = *script.run.add_samplers();
  facts.set_host("filer" + std::to_string(script.run.samplers_size()));
  facts.set_memory_bytes(8000_MiB);
  v1::ServerRecord& record = *script.phase.add_servers();
  record.set_sampler(static_cast<uint32_t>(script.run.samplers_size() - 1));
  v1::PingSample& ping = *record.add_bursts()->add_samples();
  for (const auto set : {&v1::PingSample::set_sent_coord_ns, &v1::PingSample::set_received_worker_ns,
                          &v1::PingSample::set_replied_worker_ns, &v1::PingSample::set_returned_coord_ns}) {
    (ping.*set)(kStartCoordNs);
  }
  v1::ServerInterval& interval = *record.add_intervals();
  interval.set_begin_worker_ns(kStartCoordNs);
  interval.set_end_worker_ns(CoordAt(10).ns);
  if (nfsd > 0) interval.mutable_nfsd()->set_read_bytes(nfsd);
  v1::DiskDelta& sda = *interval.add_disks();
  sda.set_name("sda");
  sda.set_reads(1);
  sda.set_read_bytes(disk);
  return interval;
}

std::set<std::string> ServerCodesOf(const v1::PhaseReport& report) {
  std::set<std::string> codes;
  for (const v1::Mark& mark : report.marks()) codes.insert(mark.code());
  return codes;
}

}  // namespace

TEST_CASE("a server whose disks read nothing was warm, whatever the clients' caches were") {
  PhaseScript script = ReadFromServer();
  Sampled(1000_MiB, 0, script);
  const v1::PhaseReport report = script.Report();
  CHECK(report.read_sources().server_bytes() == 1000_MiB);
  CHECK(report.read_sources().server_memory_bytes() == 1000_MiB);
  CHECK(report.read_sources().server_disk_bytes() == 0);
  CHECK(ServerCodesOf(report) == std::set<std::string>{"server_cached"});
  CHECK_FALSE(report.cold().verified());
  CHECK(report.cold().server().starts_with("not cold: at least 100 %"));
}

TEST_CASE("a server whose disks read what it returned was cold") {
  PhaseScript script = ReadFromServer();
  Sampled(600_MiB, 560_MiB, script);
  Sampled(400_MiB, 400_MiB, script);
  v1::PhaseReport report = script.Report();
  CHECK(report.read_sources().server_disk_bytes() == 960_MiB);
  CHECK(report.read_sources().server_memory_bytes() == 40_MiB);
  CHECK(ServerCodesOf(report).empty());
  CHECK(report.cold().verified());
  CHECK(report.cold().server().starts_with("verified: the servers' disks delivered 96 %"));
  script.phase.mutable_servers(0)->mutable_intervals(0)->mutable_disks(0)->set_read_bytes(2000_MiB);
  report = script.Report();  // for others, too
  CHECK(report.read_sources().server_disk_bytes() == 1000_MiB);
}

TEST_CASE("where samplers do not see the whole path to the disks, the parts are unknown") {
  const auto is_split = [](const PhaseScript& script) {
    const v1::PhaseReport report = script.Report();
    CHECK(report.read_sources().server_bytes() == 1000_MiB);
    return report.read_sources().has_server_memory_bytes();
  };
  CHECK_FALSE(is_split(ReadFromServer()));  // no sampler
  PhaseScript one_of_two = ReadFromServer();
  Sampled(500_MiB, 0, one_of_two);
  CHECK_FALSE(is_split(one_of_two));
  PhaseScript lost = ReadFromServer();
  Sampled(1000_MiB, 0, lost);
  lost.phase.mutable_servers(0)->set_lost_reason("it hung up");
  CHECK_FALSE(is_split(lost));
  PhaseScript gateway = ReadFromServer();  // fetches what it returns from others
  v1::NicDelta& nic = *Sampled(1000_MiB, 0, gateway).add_nics();
  nic.set_name("eth0");
  nic.set_rx_bytes(1000_MiB);
  CHECK_FALSE(is_split(gateway));
  nic.set_rx_bytes(50_MiB);  // requests
  CHECK(is_split(gateway));
  PhaseScript ganesha = ReadFromServer();  // in user space, without the kernel's counters
  Sampled(0, 0, ganesha);
  CHECK(is_split(ganesha));
}

TEST_CASE("what a short phase read is counted in full, although its last interval ends after it") {
  PhaseScript script = ReadFromServer();
  Sampled(1000_MiB, 1000_MiB, script).set_end_worker_ns(CoordAt(19).ns);  // 10 of 19 s are in the phase
  CHECK(script.Report().read_sources().server_disk_bytes() == 1000_MiB);
}

TEST_CASE("disks may hold compressible data in less space, but not in next to none") {
  PhaseScript script = ReadFromServer();
  script.run.mutable_plan()->mutable_data()->set_compress_percent(50);
  v1::ServerInterval& interval = Sampled(1000_MiB, 500_MiB, script);
  CHECK_FALSE(script.Report().read_sources().has_server_memory_bytes());
  interval.mutable_disks(0)->set_read_bytes(10_MiB);
  CHECK(ServerCodesOf(script.Report()) == std::set<std::string>{"server_cached"});
}

TEST_CASE("what a server's caches can hold, and why it did not drop them, is said where its counters do not decide") {
  PhaseScript script = ReadFromServer();
  Sampled(500_MiB, 0, script);  // there is another server
  v1::StepResult& dropped = *script.phase.mutable_servers(0)->mutable_dropped_caches();
  dropped.set_name("drop-server-caches");
  dropped.set_outcome("drop_caches skipped: not root");
  v1::PhaseReport report = script.Report();
  CHECK(report.cold().server() ==
        "may be warm: the files of 1,000 MiB fit into its memory of 7.81 GiB; drop_caches skipped: not root");
  REQUIRE(report.steps_size() == 1);
  CHECK(report.steps(0).outcome() == "filer1: drop_caches skipped: not root");
  CHECK_FALSE(report.steps(0).system_caches());
}

}  // namespace iobench
