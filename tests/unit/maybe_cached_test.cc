// Reads and look-ups of which no counter tells whether they came from the client's memory.
#include "coordinator/analysis/marks/maybe_cached.h"

#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "catch2/catch.hpp"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

using CodeSet = std::set<std::string>;

CodeSet MaybeCodesOf(const v1::PhaseReport& report) {
  CodeSet codes;
  for (const v1::Mark& mark : report.marks()) codes.insert(mark.code());
  return codes;
}

const v1::Mark& MaybeMarkOf(const v1::PhaseReport& report) {
  for (const v1::Mark& mark : report.marks()) {
    if (mark.code() == "maybe_cached") return mark;
  }
  throw std::runtime_error("no such mark");
}

void AddPhaseOf(const std::string& operation, v1::Plan& plan) {
  v1::Operation& what = *plan.add_phases()->add_assignments()->mutable_operation();
  what.set_name(operation);
  what.set_engine("posix");
}

// A client with 4000 MiB of memory reads the 1000 MiB that the phase before has written, on a file system of this type.
PhaseScript ReadBackOn(const std::string& filesystem) {
  PhaseScript script("read");
  script.Lane(0).Moves(1000_MiB).EndsAt(10_s).InOps(1000);
  script.Worker(0).facts.set_memory_bytes(4000_MiB);
  script.Worker(0).targets.mutable_targets(0)->set_filesystem(filesystem);
  v1::Plan& plan = *script.run.mutable_plan();
  plan.mutable_files()->set_bytes_per_lane(1000_MiB);
  AddPhaseOf("write", plan);
  AddPhaseOf("read", plan);
  script.phase.set_index(1);
  return script;
}

void DropsAllCaches(PhaseScript& script) {
  v1::StepResult step;
  step.set_name("drop-caches");
  step.set_system_caches(true);
  script.Worker(0).steps.push_back(step);
  script.plan().add_before()->mutable_drop_caches();
}

}  // namespace

TEST_CASE("files just written that fit into memory may be read from there, on file systems without counters") {
  for (const char* const filesystem : {"fuse.bindfs", "fuse", "zfs", "lustre", "cifs", "ceph", "hostfs", "virtiofs"}) {
    INFO(filesystem);
    const v1::PhaseReport report = ReadBackOn(filesystem).Report();
    CHECK(MaybeCodesOf(report) == CodeSet{"maybe_cached"});
    CHECK(MaybeMarkOf(report).value() == Approx(100));
    CHECK(MaybeMarkOf(report).subject() == "node1");
  }
  // The counters of these decide; in memory, another mark says so.
  PhaseScript local = ReadBackOn("ext4");
  local.Worker(0).host.set_disk_read_bytes(1000_MiB);
  CHECK(MaybeCodesOf(local.Report()).empty());
  PhaseScript memory = ReadBackOn("tmpfs");
  memory.Worker(0).targets.mutable_targets(0)->set_memory(true);
  CHECK(MaybeCodesOf(memory.Report()) == CodeSet{"memory_fs"});
}

TEST_CASE("what the run has not touched, or memory cannot hold, may well come from the storage") {
  PhaseScript first = ReadBackOn("fuse.bindfs");
  first.phase.set_index(0);
  CHECK(MaybeCodesOf(first.Report()).empty());
  v1::StepResult prefill;
  prefill.set_name("prefill");
  prefill.set_bytes(1000_MiB);
  first.Worker(0).steps.push_back(prefill);
  CHECK(MaybeCodesOf(first.Report()) == CodeSet{"maybe_cached"});

  PhaseScript large = ReadBackOn("fuse.bindfs");
  large.Worker(0).facts.set_memory_bytes(999_MiB);
  CHECK(MaybeCodesOf(large.Report()).empty());
  large.Lane(0).Moves(4000_MiB);  // four times; of the last three, 999 of 1000 MiB may have stayed
  CHECK(MaybeMarkOf(large.Report()).value() == Approx(100 * 0.999 * 3 / 4));
}

TEST_CASE("whoever reads more than the files hold may read the rest from memory") {
  PhaseScript script = ReadBackOn("fuse.bindfs");
  script.phase.set_index(0);
  script.Lane(0).Moves(1040_MiB);
  CHECK(MaybeCodesOf(script.Report()).empty());  // 3.8 %
  script.Lane(0).Moves(2000_MiB);
  CHECK(MaybeMarkOf(script.Report()).value() == Approx(50));
}

TEST_CASE("dropped caches hold nothing, except those that the kernel cannot drop") {
  PhaseScript script = ReadBackOn("fuse.bindfs");
  DropsAllCaches(script);
  CHECK(MaybeCodesOf(script.Report()).empty());
  PhaseScript zfs = ReadBackOn("zfs");
  DropsAllCaches(zfs);
  CHECK(MaybeCodesOf(zfs.Report()) == CodeSet{"maybe_cached"});
  // Where a client keeps only pages, it is enough that none was there.
  PhaseScript lustre = ReadBackOn("lustre");
  lustre.Lane(0).HadInMemory(0);
  CHECK(MaybeCodesOf(lustre.Report()).empty());
  lustre.Lane(0).HadInMemory(100_MiB);
  CHECK(MaybeMarkOf(lustre.Report()).value() == Approx(10));
  PhaseScript fuse = ReadBackOn("fuse.bindfs");  // its daemon has memory of its own
  fuse.Lane(0).HadInMemory(0);
  CHECK(MaybeCodesOf(fuse.Report()) == CodeSet{"maybe_cached"});
}

TEST_CASE("direct reads bypass a client that keeps only pages, but not a FUSE daemon or ZFS") {
  for (const auto& [filesystem, marked] : {std::pair{"lustre", false}, {"cifs", false}, {"fuse.bindfs", true}, {"zfs", true}}) {
    INFO(filesystem);
    PhaseScript script = ReadBackOn(filesystem);
    script.operation().set_direct(true);
    CHECK(MaybeCodesOf(script.Report()).contains("maybe_cached") == marked);
  }
  PhaseScript uncached = ReadBackOn("9p");
  uncached.Worker(0).targets.mutable_targets(0)->set_mount_options("rw,trans=virtio");
  CHECK(MaybeCodesOf(uncached.Report()).empty());
  uncached.Worker(0).targets.mutable_targets(0)->set_mount_options("rw,trans=virtio,cache=loose");
  CHECK(MaybeCodesOf(uncached.Report()) == CodeSet{"maybe_cached"});
}

TEST_CASE("bytes that the client's network or disks delivered did not come from its memory") {
  PhaseScript script = ReadBackOn("lustre");
  script.Worker(0).host.set_nic_rx_bytes(940_MiB);
  CHECK(MaybeCodesOf(script.Report()) == CodeSet{"maybe_cached"});
  script.Worker(0).host.set_all_disks_read_bytes(10_MiB);
  CHECK(MaybeCodesOf(script.Report()).empty());
}

TEST_CASE("another client's files are not in this client's memory until it has read them") {
  PhaseScript script = ReadBackOn("lustre");
  script.Worker(1).RunsOn("node2", "boot2");
  script.Worker(1).facts.set_memory_bytes(4000_MiB);
  script.Worker(1).targets.mutable_targets(0)->set_filesystem("lustre");
  script.Lane(1).Moves(1000_MiB).EndsAt(10_s).InOps(1000).WorksOnFilesOf(0);
  script.Lane(0).WorksOnFilesOf(1);
  script.operation().set_rotate_clients(true);
  CHECK(MaybeCodesOf(script.Report()).empty());
  v1::Plan& plan = *script.run.mutable_plan();
  plan.mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_rotate_clients(true);
  AddPhaseOf("reread", plan);
  script.phase.set_index(2);
  CHECK(MaybeCodesOf(script.Report()) == CodeSet{"maybe_cached"});
}

TEST_CASE("names that were just made may be looked up in memory, where no requests are counted") {
  const auto report_of = [](const char* operation, v1::OpKind kind, bool drops, uint64_t ops) {
    PhaseScript script(operation);
    script.operation().mutable_tree()->set_items_per_lane(1000);
    script.Lane(0).Moves(0).InOps(ops).EndsAt(10_s);
    script.Worker(0).facts.set_memory_bytes(4000_MiB);
    v1::Plan& plan = *script.run.mutable_plan();
    AddPhaseOf("create", plan);
    AddPhaseOf(operation, plan);
    script.phase.set_index(1);
    if (drops) DropsAllCaches(script);
    v1::PhaseRecord record = script.Record();
    record.mutable_workers(0)->mutable_lanes(0)->mutable_kinds(0)->set_kind(kind);
    return SummarizePhase(script.Run(), record);
  };
  CHECK(MaybeCodesOf(report_of("stat", v1::OP_STAT, false, 1000)) == CodeSet{"maybe_cached"});
  CHECK(MaybeCodesOf(report_of("find", v1::OP_FIND, false, 1000)).contains("maybe_cached"));
  CHECK(MaybeCodesOf(report_of("unlink", v1::OP_UNLINK, false, 1000)).empty());
  CHECK(MaybeCodesOf(report_of("stat", v1::OP_STAT, true, 1000)).empty());
  CHECK(MaybeMarkOf(report_of("stat", v1::OP_STAT, true, 4000)).value() == Approx(75));  // the later passes
}

TEST_CASE("a damaged record, whose plan has no targets or whose lanes have owners that do not exist, does no harm") {
  PhaseScript script = ReadBackOn("fuse.bindfs");
  script.run.mutable_plan()->clear_targets();
  CHECK_FALSE(MaybeCodesOf(script.Report()).contains("maybe_cached"));
  script.run.mutable_plan()->add_targets()->set_path("/mnt/test");
  script.Lane(0).WorksOnFilesOf(1000);
  CHECK_FALSE(MaybeCodesOf(script.Report()).contains("maybe_cached"));
}

TEST_CASE("holes and compressed extents are neither memory nor storage") {
  PhaseScript script = ReadBackOn("ext4");
  script.Worker(0).host.set_disk_read_bytes(0);
  script.operation().set_direct(true);
  script.Lane(0).HasHoles(1000_MiB);
  v1::PhaseReport report = script.Report();
  CHECK(MaybeCodesOf(report) == CodeSet{"holes"});
  CHECK(report.read_sources().hole_bytes() == 1000_MiB);
  CHECK(report.read_sources().cache_bytes() == 0);
  script.Lane(0).HasHoles(40_MiB);
  script.Worker(0).host.set_disk_read_bytes(960_MiB);
  report = script.Report();
  CHECK(MaybeCodesOf(report).empty());  // 4 %
  script.Lane(0).HasHoles(100_MiB);
  script.Worker(0).host.set_disk_read_bytes(700_MiB);
  report = script.Report();
  CHECK(MaybeCodesOf(report) == CodeSet{"holes", "cached"});
  CHECK(report.read_sources().cache_bytes() == 200_MiB);

  PhaseScript compressed = ReadBackOn("btrfs");
  compressed.Worker(0).host.set_disk_read_bytes(100_MiB);
  compressed.Lane(0).IsCompressed(1000_MiB);
  report = compressed.Report();
  CHECK(MaybeCodesOf(report) == CodeSet{"holes"});
  CHECK(report.read_sources().unknown_bytes() == 900_MiB);
}

}  // namespace iobench
