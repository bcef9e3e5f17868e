#include "coordinator/analysis/marks/marks.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/roster/filesystem.h"
#include "coordinator/analysis/summarize.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// Two lanes on two clients, 10 s, 1000 ops each; nothing wrong with it.
PhaseScript Healthy(const std::string& operation = "read") {
  PhaseScript script(operation);
  for (const uint32_t n : {0u, 1u}) {
    script.Lane(n).Moves(1000_MiB).EndsAt(10_s).InOps(1000);
    if (operation == "write") script.Lane(n).Writes();
    v1::HostDelta& host = script.Worker(n).host;
    host.set_seconds(10);
    host.set_cpu_user_s(5);
    host.set_cpu_system_s(5);
    host.set_cpu_idle_s(10);
    host.set_cpu_steal_s(0);
    host.set_disk_read_bytes(1000_MiB);
  }
  script.Worker(1).RunsOn("node2", "boot2");
  return script;
}

// The same on NFS: every byte that was read came from the server.
PhaseScript HealthyNfs() {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u}) {
    v1::TargetFacts& target = *script.Worker(n).targets.mutable_targets(0);
    target.set_filesystem("nfs4");
    target.set_network(true);
    SetFilesystem({.name = "server:/export"}, target);
    target.set_mount_options("rw,vers=4.2,rsize=1048576,hard,addr=10.0.0.1,clientaddr=10.0.0.1" +
                             std::to_string(n));
    v1::NfsDelta& nfs = (*script.Worker(n).host.mutable_nfs())[0];
    nfs.set_app_read_bytes(1000_MiB);
    nfs.set_server_read_bytes(1000_MiB);
    v1::NfsOpDelta& read = (*nfs.mutable_ops())["READ"];
    read.set_ops(1000);
    read.set_transmissions(1000);
    script.Worker(n).host.set_disk_read_bytes(0);
  }
  return script;
}

std::set<std::string> CodesOf(const v1::PhaseReport& report) {
  std::set<std::string> codes;
  for (const v1::Mark& mark : report.marks()) codes.insert(mark.code());
  return codes;
}

std::set<std::string> Codes(const PhaseScript& script) {
  return CodesOf(script.Report());
}

v1::Mark Mark(const PhaseScript& script, const std::string& code) {
  const v1::PhaseReport report = script.Report();
  for (const v1::Mark& mark : report.marks()) {
    if (mark.code() == code) return mark;
  }
  FAIL("no mark " << code);
  return {};
}

using Only = std::set<std::string>;

TEST_CASE("a healthy phase has no mark") {
  CHECK(Codes(Healthy()).empty());
  CHECK(Codes(HealthyNfs()).empty());
}

TEST_CASE("start_late: a worker confirmed the start too late") {
  PhaseScript script = Healthy();
  script.phase.set_start_late(true);
  script.phase.set_start_attempts(6);
  CHECK(Codes(script) == Only{"start_late"});
  CHECK(Mark(script, "start_late").value() == 6);
  CHECK(Mark(script, "start_late").subject() == "phase");
}

TEST_CASE("begun_before: lanes may have read something in an attempt that was called off") {
  PhaseScript script = Healthy();
  script.phase.set_begun_before(true);
  script.phase.set_start_attempts(2);
  CHECK(Codes(script) == Only{"begun_before"});
  CHECK(Mark(script, "begun_before").value() == 2);
  script.operation().set_engine("libnfs");  // has no cache of what it reads
  CHECK(Codes(script).empty());
  script.operation().set_engine("posix");
  script.phase.mutable_phase()->add_before()->mutable_drop_caches();  // repeated with the start
  CHECK(Codes(script).empty());
}

TEST_CASE("skewed_start: lanes began more than 1 % of the phase apart") {
  PhaseScript script = Healthy();
  script.Lane(1).StartsAt(99_ms);
  CHECK(Codes(script).empty());
  script.Lane(1).StartsAt(150_ms);
  CHECK(Codes(script) == Only{"skewed_start"});
  CHECK(Mark(script, "skewed_start").value() == Approx(1.5));
  CHECK(Mark(script, "skewed_start").text().find("lanes began 150 ms apart, 1.5 % of the phase") == 0);
  script.Worker(1).HasClock(3, 10e-6);
  CHECK(Mark(script, "skewed_start").text().find("apart (between 150 ms and 150 ms), ") != std::string::npos);
}

TEST_CASE("clock_step: the bursts of a client's clock contradict each other") {
  PhaseScript script = Healthy();
  script.Worker(1).HasClock(3, 50e-6).Burst(10, 3.001, 50e-6);
  CHECK(Codes(script).count("clock_step") == 0);
  script.Worker(1).Burst(10.1, 5, 50e-6);
  CHECK(Mark(script, "clock_step").subject() == "node2");
  const v1::PhaseReport report = script.Report();
  CHECK(report.clients(0).marks().empty());
  CHECK_FALSE(report.clients(1).marks().empty());
}

TEST_CASE("clock_uncertain: a clock is known worse than 5 ms or 1 % of the phase") {
  PhaseScript script = Healthy();
  script.Worker(1).HasClock(3, 2e-3, {0, 3, 6, 10});
  CHECK(Codes(script).empty());
  script.Worker(1).HasClock(3, 5.1e-3, {0, 3, 6, 10});  // intersected: still 2 ms
  CHECK(Codes(script).empty());

  PhaseScript loose = Healthy();
  loose.Worker(1).HasClock(3, 5.1e-3, {0, 3, 6, 10});
  CHECK(Codes(loose) == Only{"clock_uncertain"});
  CHECK(Mark(loose, "clock_uncertain").threshold() == Approx(5));
  CHECK(Mark(loose, "clock_uncertain").value() == Approx(5.1).epsilon(0.2));

  PhaseScript brief = Healthy();
  for (const uint32_t n : {0u, 1u}) brief.Lane(n).EndsAt(100_ms);
  brief.Worker(1).HasClock(3, 2e-3);
  CHECK(Codes(brief).count("clock_uncertain") == 1);
  CHECK(Mark(brief, "clock_uncertain").threshold() == Approx(1).epsilon(0.05));
}

TEST_CASE("too_short: under a second, or under 100 ops a lane") {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u}) script.Lane(n).EndsAt(0.9_s);
  CHECK(Codes(script) == Only{"too_short"});
  CHECK(Mark(script, "too_short").value() == Approx(0.9));
  for (const uint32_t n : {0u, 1u}) script.Lane(n).EndsAt(1.1_s);
  CHECK(Codes(script).empty());
  for (const uint32_t n : {0u, 1u}) script.Lane(n).InOps(99);
  CHECK(Codes(script) == Only{"too_short"});
  CHECK(Mark(script, "too_short").value() == Approx(99));
  for (const uint32_t n : {0u, 1u}) script.Lane(n).InOps(100);
  CHECK(Codes(script).empty());
}

TEST_CASE("too_short: where the warm-up took the phase it is the warm-up that is named") {
  PhaseScript script = Healthy();
  script.plan().mutable_stop()->set_warmup_s(9.5);
  CHECK(Mark(script, "too_short").text() ==
        "measured for only 500 ms after a warm-up of 9.5 s: use a shorter --warmup, or a larger -s, or "
        "--time 30");
  script.plan().mutable_stop()->set_warmup_s(30);
  CHECK(Codes(script) == Only{"too_short"});
  CHECK(Mark(script, "too_short").text().find("the warm-up of 30 s took the whole phase: ") == 0);
}

TEST_CASE("too_short: writes that go round in memory are not made to last") {
  PhaseScript script = Healthy("write");
  for (const uint32_t n : {0u, 1u}) script.Lane(n).EndsAt(0.9_s);
  CHECK(Mark(script, "too_short").text() == "measured for only 900 ms: use a larger -s, or --time 30 with -e");
  script.plan().set_stonewall(v1::STONEWALL_FLUSHED);
  script.plan().mutable_region()->set_fsync(true);  // then each pass is flushed
  CHECK(Mark(script, "too_short").text() == "measured for only 900 ms: use a larger -s, or --time 30");
}

TEST_CASE("unflushed: buffered writes whose headline has neither fsync nor a close that flushes") {
  PhaseScript script = Healthy("write");
  CHECK(Codes(script) == Only{"unflushed"});

  SECTION("an fsync in the headline's region flushes, and -x does not change that") {
    script.plan().set_stonewall(v1::STONEWALL_NONE);
    script.plan().mutable_region()->set_fsync(true);
    CHECK(Codes(script).empty());
  }
  SECTION("a close that the retroactive headline does not count does not") {
    script.plan().mutable_region()->set_close(true);
    CHECK(Codes(script) == Only{"unflushed"});
  }
  SECTION("direct, sync and dsync writes are on the server when they return") {
    script.operation().set_direct(true);
    CHECK(Codes(script).empty());
    script.operation().set_direct(false);
    script.operation().set_sync(true);
    CHECK(Codes(script).empty());
    script.operation().set_sync(false);
    script.operation().set_dsync(true);
    CHECK(Codes(script).empty());
  }
  SECTION("without a mount it is the server whose memory may hold them") {
    CHECK(Mark(script, "unflushed").text().find("client memory") != std::string::npos);
    script.operation().set_engine("libnfs");
    CHECK(Codes(script) == Only{"unflushed"});
    CHECK(Mark(script, "unflushed").text().find("server's memory") != std::string::npos);
    CHECK(Mark(script, "unflushed").text().find("-I") == std::string::npos);
  }
  SECTION("the null engine writes nothing") {
    script.operation().set_engine("null");
    CHECK(Codes(script).empty());
  }
}

TEST_CASE("cached on NFS: more than 5 % of the bytes did not come from the server") {
  PhaseScript script = HealthyNfs();
  v1::NfsDelta& nfs = (*script.Worker(1).host.mutable_nfs())[0];
  nfs.set_server_read_bytes(951_MiB);
  CHECK(Codes(script).empty());
  nfs.set_server_read_bytes(200_MiB);
  CHECK(Codes(script) == Only{"cached"});
  CHECK(Mark(script, "cached").subject() == "node2");
  CHECK(Mark(script, "cached").value() == Approx(80));
  nfs.set_server_read_bytes(5000_MiB);  // read-ahead
  CHECK(Codes(script).empty());

  SECTION("counters that are not there are no reason to guess") {
    nfs.clear_server_read_bytes();
    CHECK(Codes(script).empty());
    script.Worker(1).host.clear_nfs();
    CHECK(Codes(script).empty());
  }
  SECTION("workers of one client read the same counters: each is taken once") {
    script.Lane(2).Moves(1000_MiB).EndsAt(10_s).InOps(1000);
    script.Worker(2).targets = script.Worker(1).targets;
    script.Worker(2).host = script.Worker(1).host;
    script.Worker(2).RunsOn("node2", "boot2");
    nfs.set_server_read_bytes(200_MiB);  // of 2 x 1000 MiB
    CHECK(Mark(script, "cached").value() == Approx(90));
    CHECK(script.Report().marks_size() == 1);
  }
  SECTION("the null engine reads nothing") {
    nfs.set_server_read_bytes(0);
    script.operation().set_engine("null");
    CHECK(Codes(script).empty());
  }
}

TEST_CASE("cached on NFS through maps, which the kernel's count of reads leaves out") {
  PhaseScript script = HealthyNfs();
  v1::NfsDelta& nfs = (*script.Worker(1).host.mutable_nfs())[0];
  nfs.set_app_read_bytes(0);
  CHECK(Codes(script).empty());
  nfs.set_server_read_bytes(200_MiB);
  CHECK(Codes(script) == Only{"cached"});
  CHECK(Mark(script, "cached").value() == Approx(80));
}

TEST_CASE("cached: what lay in memory before is seen behind read-ahead where a part of the file is read") {
  PhaseScript script = HealthyNfs();  // each lane reads 1000 MiB
  script.operation().set_name("random-read");
  (*script.Worker(1).host.mutable_nfs())[0].set_server_read_bytes(1500_MiB);
  script.run.mutable_plan()->mutable_files()->set_bytes_per_lane(4000_MiB);
  CHECK(Codes(script).empty());
  script.Lane(1).HadInMemory(1000_MiB);  // a quarter
  CHECK(Codes(script) == Only{"cached"});
  CHECK(Mark(script, "cached").subject() == "node2");
  CHECK(Mark(script, "cached").value() == Approx(25));
  script.Lane(1).HadInMemory(160_MiB);  // 4 %
  CHECK(Codes(script).empty());

  SECTION("in order a client reads hardly more than it is asked for") {
    script.Lane(1).HadInMemory(1000_MiB);
    script.operation().set_name("read");
    CHECK(Codes(script).empty());
  }
  SECTION("where all of it is read the counters say enough") {
    script.run.mutable_plan()->mutable_files()->set_bytes_per_lane(1000_MiB);
    script.Lane(1).HadInMemory(1000_MiB);  // and was obsolete: the server sent it all
    CHECK(Codes(script).empty());
  }
}

TEST_CASE("cached: each mount weighs by its own bytes, however many lanes, workers and targets share it") {
  // Workers 0 and 2 read /mnt/a, all of it from memory; worker 1 reads /mnt/b, all of it from the server.
  PhaseScript script = HealthyNfs();
  script.Lane(2).Moves(1000_MiB).EndsAt(10_s).InOps(1000);
  script.run.mutable_plan()->add_targets()->set_path("/mnt/b");
  for (const uint32_t n : {0u, 1u, 2u}) {
    script.Worker(n).RunsOn("node1", "boot1");
    v1::WorkerTargets& targets = script.Worker(n).targets;
    targets = HealthyNfs().Worker(0).targets;
    *targets.add_targets() = targets.targets(0);
    targets.mutable_targets(1)->set_filesystem_id("server:/other");
    v1::HostDelta& host = script.Worker(n).host;
    host = HealthyNfs().Worker(0).host;
    (*host.mutable_nfs())[1] = host.nfs().at(0);
    (*host.mutable_nfs())[0].set_server_read_bytes(0);
  }
  CHECK(Mark(script, "cached").value() == Approx(200.0 / 3));
}

// On NFS with one client, whose two workers have a target each, both on one mount.
PhaseScript TargetsOnOneMount() {
  PhaseScript script = HealthyNfs();
  script.run.mutable_plan()->add_targets()->set_path("/mnt/test/below");
  script.Worker(1).RunsOn("node1", "boot1");
  v1::WorkerTargets& targets = script.Worker(1).targets;
  const v1::TargetFacts seen = targets.targets(0);
  targets.Clear();
  AddSeen(targets, 1) = seen;
  v1::HostDelta& host = script.Worker(1).host;
  const v1::NfsDelta nfs = host.nfs().at(0);
  host.clear_nfs();
  (*host.mutable_nfs())[1] = nfs;
  for (const uint32_t n : {0u, 1u}) MutableSeenOf(script.Worker(n).targets, n)->set_device(40);
  return script;
}

TEST_CASE("cached: of one mount the reading of the last worker to end counts, whichever target it has") {
  for (const uint32_t last : {0u, 1u}) {
    PhaseScript script = TargetsOnOneMount();
    script.Lane(1 - last).EndsAt(6_s);
    const auto served = [&](uint32_t n, uint64_t bytes) {
      (*script.Worker(n).host.mutable_nfs())[n].set_server_read_bytes(bytes);
    };
    served(1 - last, 1600_MiB);  // of 2 x 1000 MiB
    served(last, 2000_MiB);
    CHECK(Codes(script).empty());
    served(last, 1800_MiB);
    CHECK(Mark(script, "cached").value() == Approx(10));
  }
}

TEST_CASE("cached on a local file system: block reads of the client's workers against what they read") {
  PhaseScript script = Healthy();
  script.Lane(2).Moves(1000_MiB).EndsAt(10_s).InOps(1000);  // a second worker on node2
  script.Worker(2).RunsOn("node2", "boot2");
  script.Worker(2).host = script.Worker(1).host;
  CHECK(Codes(script).empty());
  script.Worker(2).host.set_disk_read_bytes(0);  // half of the client's
  CHECK(Codes(script) == Only{"cached"});
  CHECK(Mark(script, "cached").value() == Approx(50));
  CHECK(Mark(script, "cached").subject() == "node2");

  SECTION("no counter, no mark") {
    script.Worker(2).host.clear_disk_read_bytes();
    CHECK(Codes(script).empty());
  }
  SECTION("a file system whose reads are not charged to the reader has no mark") {
    for (const uint32_t n : {1u, 2u})
      script.Worker(n).targets.mutable_targets(0)->set_filesystem("fuse.sshfs");
    CHECK(Codes(script).empty());
  }
  SECTION("writes are not reads") {
    PhaseScript write = Healthy("write");
    write.operation().set_direct(true);
    write.Worker(0).host.set_disk_read_bytes(0);
    CHECK(Codes(write).empty());
  }
}

TEST_CASE("memory_fs: the target is the client's memory") {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u}) {
    v1::TargetFacts& target = *script.Worker(n).targets.mutable_targets(0);
    target.set_filesystem("tmpfs");
    target.set_memory(true);
    script.Worker(n).host.set_disk_read_bytes(0);
  }
  CHECK(Codes(script) == Only{"memory_fs"});  // and not cached: that goes without saying
  CHECK(Mark(script, "memory_fs").value() == 2);
  CHECK(Mark(script, "memory_fs").text().find("/mnt/test (tmpfs)") == 0);
  script.operation().set_engine("null");
  CHECK(Codes(script).empty());
}

TEST_CASE("a phase that selects its target is judged by that target, and the report names it") {
  PhaseScript script = Healthy();
  script.run.mutable_plan()->add_targets()->set_path("/dev/shm");
  for (const uint32_t n : {0u, 1u}) {
    v1::TargetFacts& memory = *script.Worker(n).targets.add_targets();
    memory.set_filesystem("tmpfs");
    memory.set_memory(true);
  }
  script.plan().set_only_target(1);
  CHECK(Codes(script).empty());
  CHECK(script.Report().target() == "/mnt/test");
  script.plan().set_only_target(2);
  CHECK(Mark(script, "memory_fs").value() == 2);
  CHECK(Mark(script, "memory_fs").text().find("/dev/shm (tmpfs)") == 0);
  CHECK(script.Report().target() == "/dev/shm");
  script.plan().set_only_target(3);  // a damaged plan
  CHECK(script.Report().target().empty());
}

TEST_CASE("partial: something is missing from the totals") {
  PhaseScript script = Healthy();
  SECTION("a failed lane") {
    script.Lane(2).FailsWith(5);
    CHECK(Codes(script) == Only{"partial"});
    CHECK(Mark(script, "partial").text().find("1 lane failed") == 0);
  }
  SECTION("a lane that sat out") {
    script.Lane(2).SitsOut();
    CHECK(Codes(script) == Only{"partial"});
  }
  SECTION("lost workers") {
    script.Worker(2).IsLost("gone");
    script.Worker(3).IsLost("gone");
    CHECK(Codes(script) == Only{"partial"});
    CHECK(Mark(script, "partial").value() == 2);
    CHECK(Mark(script, "partial").text().find("2 workers lost") == 0);
  }
  SECTION("a worker that brought no result") {
    script.Worker(2);
    CHECK(Codes(script) == Only{"partial"});
  }
  SECTION("a worker that no assignment selects is not missing") {
    script.Worker(2);
    for (const uint32_t n : {0u, 1u}) script.plan().mutable_assignments(0)->mutable_who()->add_workers(n);
    CHECK(Codes(script).empty());
  }
}

TEST_CASE("partial: where every lane failed or sat out there is no other mark") {
  PhaseScript script = Healthy("write");  // would be unflushed if it had a figure
  script.Worker(1).host.set_cpu_idle_s(0);
  script.Lane(0).FailsWith(5);
  script.Lane(1).SitsOut();
  CHECK(Codes(script) == Only{"partial"});
  CHECK(Mark(script, "partial").text().find("1 lane failed, 1 lane sat out: no figures; ") == 0);
}

TEST_CASE("retransmits: READ, WRITE or COMMIT had to be sent again, timed out or failed") {
  PhaseScript script = HealthyNfs();
  v1::NfsDelta& nfs = (*script.Worker(0).host.mutable_nfs())[0];
  v1::NfsOpDelta& read = (*nfs.mutable_ops())["READ"];
  SECTION("sent again") {
    read.set_transmissions(1003);
    CHECK(Codes(script) == Only{"retransmits"});
    CHECK(Mark(script, "retransmits").value() == 3);
    CHECK(Mark(script, "retransmits").subject() == "node1");
  }
  SECTION("sent again, on two mounts that share their counters, or do not") {
    read.set_transmissions(1003);
    v1::NfsDelta second = nfs;
    (*script.Worker(0).host.mutable_nfs())[1] = second;
    v1::WorkerTargets& targets = script.Worker(0).targets;
    AddSeen(targets, 1) = targets.targets(0);
    for (const uint32_t target : {0u, 1u}) MutableSeenOf(targets, target)->set_device(40);
    MutableSeenOf(targets, 1)->set_filesystem_id("server:/export/below");
    CHECK(Mark(script, "retransmits").value() == 3);
    MutableSeenOf(targets, 1)->set_filesystem_id("server:/export");
    MutableSeenOf(targets, 1)->set_device(41);
    CHECK(Mark(script, "retransmits").value() == 6);
  }
  SECTION("timed out") {
    (*nfs.mutable_ops())["COMMIT"].set_major_timeouts(1);
    CHECK(Codes(script) == Only{"retransmits"});
  }
  SECTION("failed") {
    (*nfs.mutable_ops())["WRITE"].set_errors(1);
    CHECK(Codes(script) == Only{"retransmits"});
  }
  SECTION("other calls may fail: a LOOKUP of what is not there is no fault") {
    (*nfs.mutable_ops())["LOOKUP"].set_errors(5);
    CHECK(Codes(script).empty());
  }
}

TEST_CASE("retransmits: of one mount the reading of the last worker to end counts, whichever target it has") {
  for (const uint32_t last : {0u, 1u}) {
    PhaseScript script = TargetsOnOneMount();
    script.Lane(1 - last).EndsAt(6_s);
    for (const uint32_t n : {0u, 1u}) {
      v1::NfsDelta& nfs = (*script.Worker(n).host.mutable_nfs())[n];
      nfs.set_server_read_bytes(2000_MiB);
      (*nfs.mutable_ops())["READ"].set_transmissions(n == last ? 1003 : 1001);
    }
    CHECK(Mark(script, "retransmits").value() == 3);
  }
}

TEST_CASE("options_differ: clients are not alike") {
  PhaseScript script = HealthyNfs();
  SECTION("a mount option") {
    script.Worker(1).targets.mutable_targets(0)->set_mount_options(
        "rw,vers=4.2,rsize=262144,hard,addr=10.0.0.1,clientaddr=10.0.0.12");
    CHECK(Codes(script) == Only{"options_differ"});
    CHECK(
        Mark(script, "options_differ").text().find("node2 differs: rsize=262144 instead of rsize=1048576") ==
        0);
  }
  SECTION("an option that only one has") {
    script.Worker(1).targets.mutable_targets(0)->set_mount_options("rw,vers=4.2,rsize=1048576,addr=10.0.0.1");
    CHECK(Mark(script, "options_differ").text().find("no hard instead of hard") != std::string::npos);
  }
  SECTION("the order of options does not count") {
    script.Worker(1).targets.mutable_targets(0)->set_mount_options("vers=4.2,hard,rw,rsize=1048576");
    CHECK(Codes(script).empty());
  }
  SECTION("workers with targets of their own: what another one uses need not be there") {
    v1::Plan& plan = *script.run.mutable_plan();
    plan.mutable_targets(0)->mutable_who()->add_workers(0);
    plan.add_targets()->mutable_who()->add_workers(1);
    for (const uint32_t worker : {0u, 1u}) {
      v1::WorkerTargets& targets = script.Worker(worker).targets;
      *targets.add_targets() = targets.targets(0);
      targets.mutable_targets(worker == 0 ? 1 : 0)->set_mount_options("ro");
    }
    CHECK(Codes(script).empty());
    script.Worker(1).targets.mutable_targets(1)->set_mount_options("vers=3");
    CHECK(Codes(script) == Only{"options_differ"});
  }
  SECTION("a path that only some use is compared among these") {
    v1::Plan& plan = *script.run.mutable_plan();
    plan.add_targets()->set_path("/mnt/second");
    const v1::TargetFacts first = script.Worker(1).targets.targets(0);
    script.Worker(1).targets.Clear();
    v1::TargetFacts& second = AddSeen(script.Worker(1).targets, 1) = first;
    second.set_mount_options("rw,vers=3");
    CHECK(Codes(script).count("options_differ") == 0);
    AddSeen(script.Worker(1).targets, 0) = first;
    CHECK(Codes(script).count("options_differ") == 0);
    MutableSeenOf(script.Worker(1).targets, 0)->set_mount_options("rw,vers=3");
    CHECK(Codes(script).count("options_differ") == 1);
  }
  SECTION("the kernel") {
    script.Worker(1).facts.set_kernel("5.10.0");
    CHECK(Mark(script, "options_differ").text().find("kernel=5.10.0 instead of kernel=6.1.0") !=
          std::string::npos);
  }
  SECTION("the type of a network file system") {
    script.Worker(1).targets.mutable_targets(0)->set_filesystem("nfs");
    CHECK(Codes(script) == Only{"options_differ"});
  }
  SECTION("local disks are each client's own") {
    PhaseScript local = Healthy();
    local.Worker(1).targets.mutable_targets(0)->set_mount_options("rw,noatime");
    CHECK(Codes(local).empty());
  }
}

// Each worker is a client and sees only the target of its own number.
v1::RunRecord RunWithTargetsOfTheirOwn(uint32_t count) {
  v1::RunRecord run;
  for (uint32_t worker = 0; worker < count; ++worker) {
    run.mutable_plan()->add_targets()->set_path(absl::StrCat("/mnt/", worker));
    v1::WorkerFacts& facts = *run.add_workers();
    facts.set_host(absl::StrCat("node", worker + 1));
    facts.set_kernel("6.1.0");
    v1::TargetFacts& seen = AddSeen(*run.add_targets(), worker);
    seen.set_filesystem("nfs4");
    seen.set_network(true);
    seen.set_mount_options("rw,vers=4.2");
  }
  return run;
}

TEST_CASE(
    "options_differ: what each client differs in is compared with most others, one thing after the other") {
  v1::RunRecord run = RunWithTargetsOfTheirOwn(4);
  AddSeen(*run.mutable_targets(1), 0).CopyFrom(run.targets(0).targets(0));
  AddSeen(*run.mutable_targets(2), 0).CopyFrom(run.targets(0).targets(0));
  CHECK_FALSE(OptionsDiffer(run, ClientRoster(run)).has_value());
  MutableSeenOf(*run.mutable_targets(2), 0)->set_mount_options("rw,vers=3");
  run.mutable_workers(3)->set_kernel("5.10.0");
  const std::optional<v1::Mark> mark = OptionsDiffer(run, ClientRoster(run));
  REQUIRE(mark.has_value());
  CHECK(mark->value() == 2);
  CHECK(mark->text().find("node3 and 1 more clients differ: /mnt/0 vers=3 instead of /mnt/0 vers=4.2; ") ==
        0);
  run.mutable_workers(2)->set_kernel("5.10.1");
  CHECK(OptionsDiffer(run, ClientRoster(run))
            ->text()
            .find("node3 and 1 more clients differ: /mnt/0 vers=3 instead of /mnt/0 vers=4.2, "
                  "kernel=5.10.1 instead of kernel=6.1.0; ") == 0);
}

// In time proportional to the number of workers: if each target were looked for at each client, this would take minutes.
TEST_CASE("options_differ: 20,000 clients with a target each") {
  v1::RunRecord run = RunWithTargetsOfTheirOwn(20'000);
  CHECK_FALSE(OptionsDiffer(run, ClientRoster(run)).has_value());
  for (uint32_t worker = 0; worker < 20'000; ++worker) {
    run.mutable_plan()->mutable_targets(static_cast<int>(worker))->mutable_who()->add_workers(worker);
  }
  CHECK_FALSE(OptionsDiffer(run, ClientRoster(run)).has_value());
  MutableSeenOf(*run.mutable_targets(19'999), 19'999)->set_mount_options("rw,vers=3");
  CHECK(OptionsDiffer(run, ClientRoster(run))->text().find("node20000 differs: vers=3 instead of vers=4.2") ==
        0);
}

TEST_CASE("options_differ: another server, unless it has the same file system") {
  PhaseScript script = HealthyNfs();
  for (const uint32_t n : {0u, 1u}) {
    v1::TargetFacts& target = *script.Worker(n).targets.mutable_targets(0);
    target.set_mount_source(n == 0 ? "server:/export" : "10.0.0.1:/export");
    SetFilesystem({.name = target.mount_source()}, target);
  }
  CHECK(Codes(script) == Only{"options_differ"});
  CHECK(Mark(script, "options_differ")
            .text()
            .find("source=10.0.0.1:/export instead of source=server:/export") != std::string::npos);
  script.Worker(1).targets.mutable_targets(0)->set_filesystem_id("server:/export");
  CHECK(Codes(script).empty());
}

TEST_CASE("repeated_data: a phase that writes one buffer again and again, and none that reads") {
  PhaseScript writes = Healthy("write");
  v1::DataContent& data = *writes.run.mutable_plan()->mutable_data();
  data.set_kind(v1::DataContent::SAME);
  REQUIRE(Codes(writes).count("repeated_data") == 1);
  CHECK(Mark(writes, "repeated_data").value() == 2);
  CHECK(Mark(writes, "repeated_data").text().find("deduplicates or compresses") != std::string::npos);
  data.set_kind(v1::DataContent::INCOMPRESSIBLE);
  CHECK(Codes(writes).count("repeated_data") == 0);
  data.set_kind(v1::DataContent::SAME);
  writes.operation().set_engine("null");
  CHECK(Codes(writes).count("repeated_data") == 0);
  PhaseScript reads = Healthy();
  reads.run.mutable_plan()->mutable_data()->set_kind(v1::DataContent::SAME);
  CHECK(Codes(reads).count("repeated_data") == 0);
}

TEST_CASE("not_shared: a client works on its own disk, or each of them does") {
  PhaseScript script = HealthyNfs();
  v1::TargetFacts& other = *script.Worker(1).targets.mutable_targets(0);
  SECTION("one under the mount point") {
    other.set_network(false);
    other.set_filesystem("ext4");
    other.set_mount_source("/dev/sda1");
    SetFilesystem({.name = "8:1", .boot_id = "boot2"}, other);
    CHECK(Codes(script).count("not_shared") == 1);
    const v1::Mark mark = Mark(script, "not_shared");
    CHECK(mark.value() == 2);
    CHECK(mark.text().find("/mnt/test (node1: nfs4 ") != std::string::npos);
    CHECK(mark.text().find("node2: its own ext4 (/dev/sda1)") != std::string::npos);
  }
  SECTION("each") {
    PhaseScript local = Healthy();
    SetFilesystem({.name = "8:1", .boot_id = "boot2"}, *local.Worker(1).targets.mutable_targets(0));
    CHECK(Codes(local) == Only{"not_shared"});
    local.operation().set_engine("null");
    CHECK(Codes(local).count("not_shared") == 0);
  }
  SECTION("only one of them takes part in the phase") {
    SetFilesystem({.name = "8:1", .boot_id = "boot2"}, other);
    script.Worker(1).has_lanes = false;
    CHECK(Codes(script).count("not_shared") == 0);
  }
}

TEST_CASE("clients' marks stand with the client and in the phase's list, alike in text") {
  PhaseScript script = HealthyNfs();
  (*script.Worker(0).host.mutable_nfs())[0].set_server_read_bytes(0);
  (*script.Worker(1).host.mutable_nfs())[0].set_server_read_bytes(300_MiB);
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.marks_size() == 2);
  CHECK(report.marks(0).subject() == "node1");
  CHECK(report.marks(1).subject() == "node2");
  CHECK(report.marks(0).text() == report.marks(1).text());
  CHECK(report.clients(0).marks(0).value() == Approx(100));
  CHECK(report.clients(1).marks(0).value() == Approx(70));
}

}  // namespace
}  // namespace iobench
