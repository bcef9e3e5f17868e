#include "coordinator/conduct/data/sharing_check.h"

#include <catch2/catch.hpp>

#include "common/roster/filesystem.h"

namespace iobench {
namespace {

using Catch::Contains;

constexpr char kPath[] = "/mnt/nfs";

// Three clients with one worker each that see /mnt/nfs mounted from server:/export; a test changes what one of them
// sees.
struct Clients {
  v1::Plan plan;
  std::vector<Member> members;
  std::vector<v1::WorkerTargets> facts;
  std::vector<std::string> notes;
  bool force = false;

  Clients() {
    plan.set_lanes_per_worker(1);
    plan.add_targets()->set_path(kPath);
    for (uint32_t number = 0; number < 3; ++number) {
      Member member;
      member.number = member.client = number;
      member.facts.set_host("node" + std::to_string(number));
      member.facts.set_boot_id("boot" + std::to_string(number));
      members.push_back(member);
      facts.emplace_back().add_targets();
      Mounts(number, "nfs4", "server:/export");
    }
  }
  v1::TargetFacts& Seen(uint32_t worker) { return *facts[worker].mutable_targets(0); }
  void Mounts(uint32_t worker, const std::string& type, const std::string& source,
              const std::string& mount_point = kPath) {
    v1::TargetFacts& seen = Seen(worker);
    seen.set_filesystem(type);
    seen.set_network(true);
    seen.set_mount_source(source);
    SetFilesystem({.name = source}, seen);
    seen.set_mount_point(mount_point);
  }
  void HasOwn(uint32_t worker, const std::string& type, const std::string& device) {
    v1::TargetFacts& seen = Seen(worker);
    seen.set_filesystem(type);
    seen.set_network(false);
    seen.set_mount_source(device);
    seen.set_mount_point("/");
    SetFilesystem({.name = "8:1", .boot_id = members[worker].facts.boot_id()}, seen);
  }
  void IsDirectory(uint32_t worker, uint64_t number, int64_t changed_ns) {
    Seen(worker).set_directory_number(number);
    Seen(worker).set_directory_changed_ns(changed_ns);
  }
  std::string Refusal() {
    notes.clear();
    const absl::Status status =
        CheckSharing(plan, Layout(plan, std::vector<uint32_t>{0, 1, 2}), members, facts, force, notes);
    return std::string(status.message());
  }
};

TEST_CASE("clients with one mount are in one total") {
  Clients clients;
  CHECK(clients.Refusal().empty());
  CHECK(clients.notes.empty());
}

TEST_CASE("a client whose path is not mounted is refused, with who sees what") {
  Clients clients;
  clients.HasOwn(1, "ext4", "/dev/sda1");
  CHECK_THAT(clients.Refusal(), Contains("/mnt/nfs") && Contains("node0, node2: nfs4 server:/export") &&
                                    Contains("node1: its own ext4 (/dev/sda1, mounted at /)") &&
                                    Contains("--force"));
  clients.force = true;
  CHECK(clients.Refusal().empty());
  REQUIRE(clients.notes.size() == 1);
  CHECK_THAT(clients.notes[0], Contains("node1: its own ext4") && Contains("(--force)"));
}

TEST_CASE("disks of several clients are not one file system, whatever they are called") {
  Clients clients;
  for (const uint32_t worker : {0u, 1u, 2u}) clients.HasOwn(worker, "xfs", "/dev/sda1");
  CHECK_THAT(clients.Refusal(), Contains("node0, node1, node2: its own xfs (/dev/sda1"));
}

TEST_CASE("workers of one client share its disk") {
  Clients clients;
  for (const uint32_t worker : {0u, 1u, 2u}) {
    clients.members[worker].facts.set_boot_id("boot0");
    clients.HasOwn(worker, "ext4", "/dev/sda1");
  }
  CHECK(clients.Refusal().empty());
}

TEST_CASE("clients with targets of their own are not compared") {
  Clients clients;
  for (const uint32_t worker : {0u, 1u, 2u}) clients.HasOwn(worker, "ext4", "/dev/sda1");
  clients.plan.clear_targets();
  for (const uint32_t worker : {0u, 1u, 2u}) {
    v1::Target& own = *clients.plan.add_targets();
    own.set_path("/scratch/" + std::to_string(worker));
    own.mutable_who()->add_workers(worker);
    v1::WorkerTargets& seen = clients.facts[worker];
    for (int i = 0; i < 2; ++i) *seen.add_targets() = seen.targets(0);
  }
  CHECK(clients.Refusal().empty());
}

TEST_CASE("another export is another file system, another name of the server may be the same") {
  Clients clients;
  clients.Mounts(1, "nfs4", "10.0.0.1:/export");
  CHECK(clients.Refusal().empty());
  REQUIRE(clients.notes.size() == 1);
  CHECK_THAT(clients.notes[0], Contains("cannot be determined") && Contains("10.0.0.1:/export"));
  clients.Mounts(1, "nfs4", "server:/other");
  CHECK_THAT(clients.Refusal(), Contains("nfs4 server:/other"));
  clients.Mounts(1, "lustre", "server:/export");
  CHECK(clients.Refusal().empty());  // the same source is believed
  clients.Mounts(1, "lustre", "mgs:/export");
  CHECK_THAT(clients.Refusal(), Contains("lustre mgs:/export"));
}

TEST_CASE("an export that is mounted higher up is the same place") {
  Clients clients;
  clients.Mounts(1, "nfs", "10.0.0.1:/", "/mnt");
  CHECK_THAT(clients.Refusal(), Contains("10.0.0.1:/"));  // its /nfs is not /export
  clients.Mounts(0, "nfs", "server:/nfs");
  clients.Mounts(2, "nfs", "server:/nfs");
  CHECK(clients.Refusal().empty());
}

TEST_CASE("the server's number and time of a directory say whether it is the same") {
  Clients clients;
  clients.Mounts(1, "nfs", "filer-b:/vol/export");
  for (const uint32_t worker : {0u, 1u, 2u}) clients.IsDirectory(worker, 77, 123456789);
  CHECK(clients.Refusal().empty());
  CHECK(clients.notes.empty());
  clients.IsDirectory(1, 77, 123456790);  // both are the first directory of a disk, perhaps
  CHECK_THAT(clients.Refusal(), Contains("filer-b:/vol/export"));
  clients.Mounts(1, "nfs", "filer-b:/export");
  CHECK(clients.Refusal().empty());
  clients.IsDirectory(1, 78, 123456789);
  CHECK_THAT(clients.Refusal(), Contains("filer-b:/export"));
}

TEST_CASE("one file system by two names has one id from then on") {
  Clients clients;
  clients.Mounts(1, "nfs", "filer-b:/vol/export");
  clients.HasOwn(2, "ext4", "/dev/sda1");
  for (const uint32_t worker : {0u, 1u, 2u}) clients.IsDirectory(worker, 77, 123456789);
  JoinSameFilesystems(clients.plan, clients.members, clients.facts);
  CHECK(FilesystemOf(clients.Seen(1)) == FilesystemId{.name = "server:/export"});
  CHECK(FilesystemOf(clients.Seen(2)) == FilesystemId{.name = "8:1", .boot_id = "boot2"});
}

TEST_CASE("a server that each client calls localhost is each client's own") {
  Clients clients;
  for (const uint32_t worker : {0u, 1u, 2u}) {
    clients.Mounts(worker, "nfs4", "localhost:/export");
    clients.Seen(worker).set_boot_id(clients.members[worker].facts.boot_id());
  }
  CHECK_THAT(clients.Refusal(), Contains("nfs4 localhost:/export on itself"));
}

TEST_CASE("of a type that may be shared it is said that nobody knows") {
  Clients clients;
  for (const uint32_t worker : {0u, 1u, 2u}) clients.HasOwn(worker, "fuse.new", "new");
  CHECK(clients.Refusal().empty());
  REQUIRE(clients.notes.size() == 1);
  CHECK_THAT(clients.notes[0], Contains("fuse.new (new"));
  clients.HasOwn(1, "ext4", "/dev/sda1");
  CHECK_THAT(clients.Refusal(), Contains("node1: its own ext4"));
}

}  // namespace
}  // namespace iobench
