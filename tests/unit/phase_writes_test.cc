#include "coordinator/analysis/phase/phase_writes.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>

#include "common/model/plan_targets.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

using Codes = std::set<std::string>;

Codes CodesOf(const PhaseScript& script) {
  const v1::PhaseReport report = script.Report();
  Codes codes;
  for (const v1::Mark& mark : report.marks()) codes.insert(mark.code());
  return codes;
}

// Two lanes, a worker each, write 1000 MiB each within 10 s with -c -e, on ext4. One client, or two.
PhaseScript Flushed(int clients = 1) {
  PhaseScript script("write");
  script.plan().set_stonewall(v1::STONEWALL_FLUSHED);
  script.plan().mutable_region()->set_fsync(true);
  script.plan().mutable_region()->set_close(true);
  for (const uint32_t n : {0u, 1u}) {
    script.Lane(n).Moves(1000_MiB).EndsAt(10_s).InOps(1000).Writes();
    script.Worker(n).facts.set_pid(100 + n);
  }
  if (clients == 2) script.Worker(1).RunsOn("node2", "boot2");
  return script;
}

void Charged(PhaseScript& script, uint32_t worker, uint64_t disk_write_bytes) {
  script.Worker(worker).host.set_disk_write_bytes(disk_write_bytes);
}

void IsOnNfs(PhaseScript& script, uint32_t worker, const std::string& filesystem = "nfs4") {
  v1::TargetFacts& target = *script.Worker(worker).targets.mutable_targets(0);
  target.set_filesystem(filesystem);
  target.set_network(true);
  target.set_filesystem_id("server:/export");
}

// Sets what the worker's mount had sent when the last of its lanes had ended.
void Sent(PhaseScript& script, uint32_t worker, uint64_t bytes) {
  (*script.Worker(worker).host.mutable_nfs())[0].set_server_write_bytes(bytes);
}

TEST_CASE("absorbed: a client of which under 90 % of the written bytes reached the device") {
  PhaseScript script = Flushed(2);
  Charged(script, 0, 1000_MiB);
  Charged(script, 1, 901_MiB);
  CHECK(CodesOf(script).empty());
  Charged(script, 1, 64_MiB);
  CHECK(CodesOf(script) == Codes{"absorbed"});
  const v1::PhaseReport report = script.Report();
  CHECK(report.marks(0).subject() == "node2");
  CHECK(report.marks(0).value() == Approx(6.4));
  CHECK(report.marks(0).threshold() == 90);
  CHECK(report.clients(1).written_bytes() == 1000_MiB);
  CHECK(report.clients(1).reached_bytes() == 64_MiB);
  CHECK(report.written_bytes() == 2000_MiB);
  CHECK(report.reached_bytes() == 1064_MiB);
}

TEST_CASE("what more than the lanes wrote reached the device makes up for nothing elsewhere") {
  PhaseScript script = Flushed(2);
  Charged(script, 0, 3000_MiB);  // others' pages, whole blocks of small records
  Charged(script, 1, 500_MiB);
  const v1::PhaseReport report = script.Report();
  CHECK(report.clients(0).reached_bytes() == 1000_MiB);
  CHECK(report.reached_bytes() == 1500_MiB);
  CHECK(CodesOf(script) == Codes{"absorbed"});
}

TEST_CASE("processes of one client are added, and workers in one process count once") {
  PhaseScript script = Flushed();
  Charged(script, 0, 1000_MiB);
  Charged(script, 1, 1000_MiB);
  CHECK(script.Report().clients(0).reached_bytes() == 2000_MiB);
  script.Worker(1).facts.set_pid(100);  // each has read the counter of both
  CHECK(script.Report().clients(0).reached_bytes() == 1000_MiB);
  CHECK(CodesOf(script) == Codes{"absorbed"});
  script.Worker(1).facts.set_pid_namespace(2);  // of a container that has the host's name
  CHECK(script.Report().clients(0).reached_bytes() == 2000_MiB);
}

TEST_CASE("where no counter tells, nothing is marked and how much arrived is not known") {
  PhaseScript script = Flushed();
  Charged(script, 0, 10_MiB);  // the other worker has no /proc/self/io
  const auto knows = [&] { return script.Report().clients(0).has_reached_bytes(); };
  CHECK_FALSE(knows());
  CHECK(script.Report().clients(0).written_bytes() == 2000_MiB);
  CHECK_FALSE(script.Report().has_written_bytes());
  CHECK(CodesOf(script).empty());
  Charged(script, 1, 10_MiB);
  CHECK(knows());

  SECTION("nobody is charged for what a file system in user space writes") {
    for (const uint32_t n : {0u, 1u})
      script.Worker(n).targets.mutable_targets(0)->set_filesystem("fuse.sshfs");
    CHECK_FALSE(knows());
  }
  SECTION("persistent memory that is mapped has no dirty pages") {
    script.Worker(0).targets.mutable_targets(0)->set_mount_options("rw,relatime,dax=always");
    CHECK_FALSE(knows());
    script.Worker(0).targets.mutable_targets(0)->set_mount_options("rw,relatime,dax=never");
    CHECK(knows());
  }
  SECTION("old kernels charge themselves for what a queue writes") {
    script.operation().set_engine("uring");
    for (const uint32_t n : {0u, 1u}) script.Worker(n).facts.set_kernel("Linux 5.10.0-28-amd64");
    CHECK_FALSE(knows());
    for (const uint32_t n : {0u, 1u}) script.Worker(n).facts.set_kernel("Linux 5.12.1");
    CHECK(knows());
    for (const uint32_t n : {0u, 1u}) script.Worker(n).facts.set_kernel("Linux 6.1.0-28-amd64");
    CHECK(knows());
  }
  SECTION("a process is charged for NFS as well") {
    IsOnNfs(script, 1);
    Sent(script, 1, 1000_MiB);
    CHECK_FALSE(knows());
  }
}

TEST_CASE("memory has nowhere for bytes to arrive, and direct writes cannot stay behind") {
  PhaseScript script = Flushed();
  for (const uint32_t n : {0u, 1u}) Charged(script, n, 0);
  SECTION("memory") {
    for (const uint32_t n : {0u, 1u}) script.Worker(n).targets.mutable_targets(0)->set_memory(true);
    CHECK(CodesOf(script) == Codes{"memory_fs"});
  }
  SECTION("direct") {
    script.operation().set_direct(true);
    CHECK(CodesOf(script).empty());
  }
  SECTION("the null engine") {
    script.operation().set_engine("null");
    CHECK(CodesOf(script).empty());
  }
  CHECK_FALSE(script.Report().clients(0).has_written_bytes());
}

TEST_CASE("direct writes of other lanes are taken off the counter that both share") {
  PhaseScript script = Flushed();
  v1::Assignment& direct = *script.plan().add_assignments();
  direct = script.plan().assignments(0);
  direct.mutable_operation()->set_direct(true);
  script.plan().mutable_assignments(0)->mutable_who()->add_workers(0);
  Charged(script, 0, 1000_MiB);
  Charged(script, 1, 1000_MiB);
  CHECK(script.Report().written_bytes() == 1000_MiB);
  CHECK(script.Report().reached_bytes() == 1000_MiB);
  Charged(script, 0, 100_MiB);
  CHECK(script.Report().reached_bytes() == 100_MiB);
}

TEST_CASE("the warm-up was written, too; the unmeasured tail follows when the counters have been read") {
  PhaseScript script = Flushed();
  script.Lane(1).IsStopped().FinishesUnmeasured(500_MiB);
  script.plan().mutable_stop()->set_warmup_s(1);
  for (const uint32_t n : {0u, 1u}) Charged(script, n, 1000_MiB);
  CHECK(script.Report().written_bytes() == 2000_MiB);
  CHECK(script.Report().reached_bytes() == 2000_MiB);
}

TEST_CASE("workers of one client share a mount's counters, and the last reading saw most") {
  PhaseScript script = Flushed();
  for (const uint32_t n : {0u, 1u}) IsOnNfs(script, n);
  Sent(script, 0, 1100_MiB);  // the first to end had seen little of what the other sent
  Sent(script, 1, 2000_MiB);
  CHECK(script.Report().reached_bytes() == 2000_MiB);
  CHECK(CodesOf(script).empty());
  Sent(script, 1, 1200_MiB);
  CHECK(script.Report().reached_bytes() == 1200_MiB);
  CHECK(CodesOf(script) == Codes{"absorbed"});
}

TEST_CASE("workers with targets of their own on one mount share its counters as well") {
  PhaseScript script = Flushed();
  script.run.mutable_plan()->add_targets()->set_path("/mnt/test/below");
  for (const uint32_t n : {0u, 1u}) IsOnNfs(script, n);
  v1::WorkerTargets& targets = script.Worker(1).targets;
  const v1::TargetFacts seen = targets.targets(0);
  targets.Clear();
  AddSeen(targets, 1) = seen;
  Sent(script, 0, 2000_MiB);
  (*script.Worker(1).host.mutable_nfs())[1].set_server_write_bytes(1100_MiB);  // it ended first
  CHECK(script.Report().reached_bytes() == 2000_MiB);
  CHECK(CodesOf(script).empty());
}

TEST_CASE("what the server had not got when nobody had flushed may follow, and is said, not marked") {
  PhaseScript script = Flushed();
  script.plan().mutable_region()->Clear();
  script.plan().set_stonewall(v1::STONEWALL_RETROACTIVE);
  for (const uint32_t n : {0u, 1u}) {
    IsOnNfs(script, n);
    Sent(script, n, 64_MiB);
  }
  CHECK(CodesOf(script) == Codes{"unflushed"});
  CHECK(script.Report().reached_bytes() == 64_MiB);
}

TEST_CASE("a local page was charged when it became dirty: what was not will never follow") {
  PhaseScript script = Flushed();
  script.plan().mutable_region()->Clear();
  script.plan().set_stonewall(v1::STONEWALL_RETROACTIVE);
  for (const uint32_t n : {0u, 1u}) Charged(script, n, 64_MiB);
  CHECK(CodesOf(script) == Codes{"absorbed", "unflushed"});
  for (const uint32_t n : {0u, 1u}) Charged(script, n, 1000_MiB);
  CHECK(CodesOf(script) == Codes{"unflushed"});
}

TEST_CASE("without a mount every byte has reached the server") {
  PhaseScript script = Flushed();
  script.operation().set_engine("libnfs");
  CHECK(script.Report().reached_bytes() == 2000_MiB);
  CHECK(CodesOf(script).empty());
}

PhaseScript OnlyClosed() {
  PhaseScript script = Flushed();
  script.plan().mutable_region()->set_fsync(false);
  return script;
}

TEST_CASE("close() of a local file flushes nothing: the figure is unflushed, and not called flushed") {
  PhaseScript script = OnlyClosed();
  for (const uint32_t n : {0u, 1u}) Charged(script, n, 1000_MiB);
  CHECK(CodesOf(script) == Codes{"unflushed"});
  CHECK(script.Report().stonewall().kind() == "closed");
  CHECK(script.Report().marks(0).text().find("close() does not wait") != std::string::npos);
  script.plan().set_stonewall(v1::STONEWALL_NONE);
  CHECK(CodesOf(script) == Codes{"unflushed"});
  script.plan().mutable_region()->set_fsync(true);
  CHECK(CodesOf(script).empty());
}

TEST_CASE("writes with flushes among them are flushed where at most 5 % can be left") {
  for (const auto& [every, flushed] : {std::pair(0, false), std::pair(1, true), std::pair(51, true), std::pair(52, false)}) {
    PhaseScript script = OnlyClosed();
    script.plan().mutable_region()->clear_close();
    script.plan().set_stonewall(v1::STONEWALL_RETROACTIVE);
    v1::Operation& operation = *script.plan().mutable_assignments(0)->mutable_operation();
    operation.set_record_bytes(1_MiB);  // of 1000 MiB
    operation.mutable_between()->set_flush_every_ops(every);
    for (const uint32_t n : {0u, 1u}) Charged(script, n, 1000_MiB);
    INFO(every);
    CHECK(CodesOf(script).contains("unflushed") != flushed);
    operation.mutable_between()->set_flush_call("sync-file-range");  // promises nothing about the storage
    CHECK(CodesOf(script).contains("unflushed"));
  }
}

TEST_CASE("nor does close() in memory") {
  PhaseScript script = OnlyClosed();
  for (const uint32_t n : {0u, 1u}) script.Worker(n).targets.mutable_targets(0)->set_memory(true);
  CHECK(CodesOf(script) == Codes{"memory_fs", "unflushed"});
}

TEST_CASE("close() on NFS flushes where the counters have seen it") {
  PhaseScript script = OnlyClosed();
  for (const uint32_t n : {0u, 1u}) {
    IsOnNfs(script, n);
    Sent(script, n, 2000_MiB);
  }
  CHECK(CodesOf(script).empty());
  CHECK(script.Report().stonewall().kind() == "flushed");

  SECTION("not under a write delegation, where the bytes follow later") {
    for (const uint32_t n : {0u, 1u}) Sent(script, n, 1500_MiB);
    CHECK(CodesOf(script) == Codes{"unflushed"});
    CHECK(script.Report().stonewall().kind() == "closed");
  }
  SECTION("NFSv3 knows no delegations: what is missing was written over") {
    for (const uint32_t n : {0u, 1u}) {
      IsOnNfs(script, n, "nfs");
      Sent(script, n, 1500_MiB);
    }
    CHECK(CodesOf(script) == Codes{"absorbed"});
    CHECK(script.Report().stonewall().kind() == "flushed");
  }
  SECTION("without counters NFSv3 is believed, and NFSv4 is not") {
    for (const uint32_t n : {0u, 1u}) script.Worker(n).host.Clear();
    CHECK(CodesOf(script) == Codes{"unflushed"});
    for (const uint32_t n : {0u, 1u}) IsOnNfs(script, n, "nfs");
    CHECK(CodesOf(script).empty());
  }
}

}  // namespace
}  // namespace iobench
