#include "coordinator/preflight/preflight.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/preflight/refusal.h"

namespace iobench {
namespace {

// Clients node1, node2 …, with one worker each, that all see server:/export at /mnt and can do what the plan needs.
// Each lane writes 1 MiB.
struct Clients {
  explicit Clients(uint32_t count) {
    plan.add_targets()->set_path("/mnt");
    plan.set_lanes_per_worker(2);
    plan.set_repetitions(1);
    plan.mutable_files()->set_bytes_per_lane(1_MiB);
    plan.mutable_files()->set_files_per_lane(1);
    v1::Operation& write = *plan.add_phases()->add_assignments()->mutable_operation();
    write.set_name("write");
    write.set_engine("posix");
    write.set_record_bytes(64_KiB);
    CompletePlan(plan);
    for (uint32_t number = 0; number < count; ++number) {
      Member member;
      member.number = member.client = number;
      member.facts.set_host(absl::StrCat("node", number + 1));
      member.facts.set_memory_bytes(64_GiB);
      members.push_back(member);
      v1::TargetFacts& seen = *targets.emplace_back().add_targets();
      seen.set_filesystem("nfs4");
      seen.set_mount_source("server:/export");
      seen.set_mount_options("rw,vers=4.2,hard,clientaddr=10.0.0." + std::to_string(number));
      limits.emplace_back().set_available_memory_bytes(32_GiB);
      unmet.emplace_back();
      clock_error_ns.push_back(1000);
    }
    storage.resize(1);
    for (uint32_t worker = 0; worker < count; ++worker) storage[0].storage_of_worker[worker] = 0;
  }

  v1::TargetFacts& Sees(uint32_t worker) { return *targets[worker].mutable_targets(0); }
  std::vector<Finding> Found() {
    std::vector<uint32_t> clients;
    for (const Member& member : members) clients.push_back(member.client);
    layout.emplace(plan, clients);
    return Judge({.plan = plan,
                  .layout = *layout,
                  .members = members,
                  .targets = targets,
                  .limits = limits,
                  .unmet = unmet,
                  .clock_error_ns = clock_error_ns,
                  .storage = storage,
                  .space = space,
                  .join_faults = join_faults,
                  .force = force});
  }
  // Returns the only finding.
  Finding Only() {
    const std::vector<Finding> found = Found();
    REQUIRE(found.size() == 1);
    return found[0];
  }

  v1::Plan plan;
  std::vector<Member> members;
  std::vector<v1::WorkerTargets> targets;
  std::vector<v1::WorkerLimits> limits;
  std::vector<std::vector<absl::Status>> unmet;
  std::vector<int64_t> clock_error_ns;
  std::vector<StorageSights> storage;
  std::vector<SpaceNeed> space;
  std::vector<JoinFault> join_faults;
  bool force = false;
  std::optional<Layout> layout;
};

void SetMissing(v1::TargetFacts& seen) {
  *seen.mutable_problem() = ToProblem(ErrnoStatus("/mnt does not exist: create it", ENOENT));
}

TEST_CASE("clients that have what the plan needs have no findings, although their addresses differ") {
  CHECK(Clients(3).Found().empty());
}

TEST_CASE("all faults of all clients are found, in the order of the clients") {
  Clients clients(4);
  SetMissing(clients.Sees(1));
  clients.storage[0].storage_of_worker.erase(1);
  clients.storage[0].cannot_write.emplace(2, absl::PermissionDeniedError("create /mnt/x: Permission denied"));
  clients.limits[3].set_open_files(50);
  clients.unmet[3].push_back(absl::InvalidArgumentError("node4: this build has no io_uring"));
  clients.join_faults.push_back({.client = "node5", .problem = "no route to host", .advice = "check it"});
  const std::vector<Finding> found = clients.Found();
  REQUIRE(found.size() == 5);
  CHECK(found[0].client == "node5");
  CHECK(found[0].check == PreflightCheck::kJoin);
  CHECK(found[1].client == "node2");
  CHECK(found[1].problem == "/mnt does not exist");
  CHECK(found[1].advice.find("mount it") == 0);
  CHECK(found[2].client == "node3");
  CHECK(found[2].check == PreflightCheck::kWrite);
  CHECK(found[3].client == "node4");
  CHECK(found[3].problem == "this build has no io_uring");
  CHECK(found[4].check == PreflightCheck::kLimits);
  CHECK(found[4].problem == "a worker may have 50 files open, and its lanes need 66");
  for (const Finding& finding : found) CHECK(finding.severity == Severity::kFault);
}

TEST_CASE("equal findings of a client's workers are one") {
  Clients clients(3);
  clients.members[1].client = 0;
  clients.members[1].facts.set_host("node1");
  SetMissing(clients.Sees(0));
  SetMissing(clients.Sees(1));
  CHECK(clients.Only().workers == std::set<uint32_t>{0, 1});
}

TEST_CASE("who sees another storage than most is told with what it sees") {
  Clients clients(5);
  clients.storage[0].storage_of_worker[0] = 1;
  clients.storage[0].waited_s = 5;
  clients.Sees(0).set_filesystem("ext4");
  clients.Sees(0).set_mount_source("/dev/vda1");
  const Finding finding = clients.Only();  // that its mount differs is not reported separately
  CHECK(finding.check == PreflightCheck::kStorage);
  CHECK(finding.client == "node1");
  CHECK(finding.problem ==
        "/mnt is other storage than node2, node3, node4 and 1 more see there: what was written there did not "
        "appear here within 5 s (here: ext4 from /dev/vda1)");
  CHECK(WorkersToLeaveOut(clients.members, clients.Found()) == std::set<uint32_t>{0});
}

// In proportional time: if what each client sees were put together for each of them, this would take minutes.
TEST_CASE("each of 10,000 clients sees a disk of its own") {
  constexpr uint32_t kCount = 10'000;
  Clients clients(kCount);
  for (uint32_t worker = 0; worker < kCount; ++worker) {
    clients.Sees(worker).set_filesystem("ext4");
    clients.Sees(worker).set_filesystem_id(absl::StrCat("disk of ", worker));
    clients.storage[0].storage_of_worker[worker] = static_cast<int>(worker);
  }
  const std::vector<Finding> found = clients.Found();
  REQUIRE(found.size() == kCount - 1);
  CHECK(found.back().problem.find("/mnt is other storage than node1 sees there") == 0);
  CHECK(found.back().alone.message().find("node1, node2, node3 and 9997 more: its own ext4") !=
        std::string::npos);
}

TEST_CASE("with --force, other storage and too little space are warnings") {
  Clients clients(2);
  clients.storage[0].storage_of_worker[1] = 1;
  clients.space.push_back(
      {.workers = {0}, .path = "/mnt", .bytes = 2_MiB, .free_bytes = 1_MiB, .smaller = "a smaller -s"});
  CHECK(clients.Found().size() == 2);
  CHECK_FALSE(RefusalFor(clients.members, clients.Found()).ok());
  clients.force = true;
  CHECK(clients.Found().size() == 2);
  CHECK(RefusalFor(clients.members, clients.Found()).ok());
  CHECK(WorkersToLeaveOut(clients.members, clients.Found()).empty());
}

TEST_CASE("a full file system that clients share is no reason to leave one of them out") {
  Clients clients(2);
  clients.space.push_back(
      {.workers = {0, 1}, .path = "/mnt", .bytes = 4_MiB, .free_bytes = 1_MiB, .smaller = "a smaller -s"});
  CHECK(clients.Only().client.empty());
  CHECK(WorkersToLeaveOut(clients.members, clients.Found()).empty());
  clients.space[0].workers = {1};  // its own disk
  CHECK(clients.Only().client == "node2");
  CHECK(WorkersToLeaveOut(clients.members, clients.Found()) == std::set<uint32_t>{1});
  clients.space[0].free_bytes = 4_MiB;
  CHECK(clients.Found().empty());
}

TEST_CASE("too few inodes are refused like too few bytes, and what a file system does not tell is enough") {
  Clients clients(1);
  clients.space.push_back({.workers = {0}, .path = "/mnt", .bytes = 4_MiB, .free_bytes = 8_MiB, .items = 2000});
  CHECK(clients.Found().empty());  // it does not tell how many inodes are free
  clients.space[0].free_items = 2000;
  CHECK(clients.Found().empty());
  clients.space[0].free_items = 1999;
  CHECK(clients.Only().check == PreflightCheck::kSpace);
  CHECK(clients.Only().problem == "the lanes at /mnt need at least 2,000 inodes, but only 1,999 are free");
  clients.space[0].free_items = 0;
  CHECK(clients.Only().severity == Severity::kFault);
  clients.space[0].free_items.reset();
  clients.space[0].free_bytes = 0;
  CHECK(clients.Only().problem == "the lanes at /mnt need 4 MiB, but only 0 B are free");
  clients.space[0].free_bytes.reset();
  CHECK(clients.Found().empty());
}

TEST_CASE("a worker that may not read or write what another has made has a fault") {
  Clients clients(3);
  clients.storage[0].cannot_write_others.insert(1);
  CHECK(clients.Only().severity == Severity::kFault);
  CHECK(clients.Only().check == PreflightCheck::kStorage);
  CHECK(clients.Only().client == "node2");
  CHECK(clients.Only().problem == "may not write what another worker has made at /mnt");
  CHECK(WorkersToLeaveOut(clients.members, clients.Found()) == std::set<uint32_t>{1});
  clients.storage[0].cannot_read.insert(1);
  CHECK(clients.Only().problem == "may not read what another worker has made at /mnt");
}

TEST_CASE("limits of a process are compared with what its lanes need") {
  Clients clients(1);
  v1::WorkerLimits& limits = clients.limits[0];
  limits.set_file_bytes(1_MiB);
  CHECK(clients.Found().empty());
  limits.set_file_bytes(1_MiB - 1);
  CHECK(clients.Only().check == PreflightCheck::kLimits);
  limits.clear_file_bytes();
  limits.set_max_lanes(2);
  CHECK(clients.Found().empty());
  limits.set_max_lanes(1);
  CHECK(clients.Only().problem == "the worker takes at most 1 lanes, and the plan has 2 per worker");
  limits.clear_max_lanes();
  limits.set_max_memory_bytes(512_KiB);
  CHECK(clients.Only().check == PreflightCheck::kMemory);
  limits.clear_max_memory_bytes();
  limits.set_threads_left(2);
  limits.set_address_space_left_bytes(22_MiB);
  CHECK(clients.Found().empty());
  limits.set_address_space_left_bytes(20_MiB);  // two stacks and their lanes' data, without buffers
  CHECK(clients.Only().check == PreflightCheck::kMemory);
}

TEST_CASE("workers that share a limit of threads share what it leaves") {
  Clients clients(3);
  clients.members[1].client = 0;
  for (v1::WorkerLimits& limits : clients.limits) {
    limits.set_threads_left(4);  // a worker has two lanes
    limits.set_threads_limit("pids.max of the control group /bench is 60: raise it");
    limits.set_threads_shared_by("/bench");
  }
  CHECK(clients.Found().empty());
  clients.limits[1].set_threads_left(3);  // it has looked later
  CHECK(clients.Only().workers == std::set<uint32_t>{0, 1});
  CHECK(clients.Only().problem == "the lanes of 2 workers need 4 threads, and only 3 more may be started there (pids.max "
                                  "of the control group /bench is 60: raise it)");
  clients.limits[1].set_threads_shared_by("/of-another-container");
  CHECK(clients.Found().empty());
  clients.limits[1].set_threads_left(1);
  CHECK(clients.Only().workers == std::set<uint32_t>{1});
}

TEST_CASE("a shared file counts with the extents of all lanes") {
  Clients clients(2);
  clients.plan.mutable_files()->set_shared_file(true);
  clients.limits[0].set_file_bytes(4_MiB);
  clients.limits[1].set_file_bytes(4_MiB - 1);
  CHECK(clients.Only().client == "node2");
}

TEST_CASE("all workers of a client share its memory") {
  Clients clients(2);
  clients.members[1].client = 0;
  clients.limits[0].set_available_memory_bytes(1_MiB);  // a worker needs 2 x (256 KiB + a record)
  clients.limits[1].set_available_memory_bytes(1_MiB);
  const Finding finding = clients.Only();
  CHECK(finding.check == PreflightCheck::kMemory);
  CHECK(finding.problem == "the lanes of this client need at least 1.25 MiB, and only 1 MiB are free");
}

TEST_CASE("the parts of a mix need the memory of the workers that do them") {
  Clients clients(5);
  for (uint32_t worker = 0; worker < 5; ++worker) {
    clients.members[worker].client = 0;
    clients.members[worker].facts.set_memory_bytes(5_MiB);
    clients.limits[worker].set_available_memory_bytes(5_MiB);
  }
  // One worker with large records in each phase: 2 x (256 KiB + 1 MiB) + 4 x 2 x (256 KiB + 64 KiB).
  v1::Phase& first = *clients.plan.mutable_phases(0);
  *first.add_assignments() = first.assignments(0);
  first.mutable_assignments(0)->mutable_who()->add_workers(0);
  first.mutable_assignments(0)->mutable_operation()->set_record_bytes(1_MiB);
  v1::Phase second = first;
  second.mutable_assignments(0)->mutable_who()->set_workers(0, 1);
  *clients.plan.add_phases() = second;
  CHECK(clients.Found().empty());
  clients.limits[4].set_max_memory_bytes(1_MiB);  // it needs 640 KiB
  CHECK(clients.Found().empty());
  clients.limits[1].set_max_memory_bytes(1_MiB);
  CHECK(clients.Only().workers == std::set<uint32_t>{1});
  clients.limits[1].set_max_memory_bytes(0);
  clients.limits[0].set_available_memory_bytes(4_MiB);
  CHECK(clients.Only().problem == "the lanes of this client need at least 5 MiB, and only 4 MiB are free");
}

TEST_CASE("little free memory, an uncertain clock and other mount options are warnings") {
  Clients clients(3);
  clients.limits[0].set_available_memory_bytes(6_GiB);
  clients.clock_error_ns[1] = 5'000'001;
  clients.Sees(2).set_mount_options("rw,vers=4.2,soft,clientaddr=10.0.0.9");
  const std::vector<Finding> found = clients.Found();
  REQUIRE(found.size() == 3);
  CHECK(found[0].check == PreflightCheck::kMemory);
  CHECK(found[1].check == PreflightCheck::kClock);
  CHECK(found[2].check == PreflightCheck::kMount);
  CHECK(found[2].client == "node3");
  CHECK(found[2].problem == "/mnt is mounted with soft, where most have hard");
  for (const Finding& finding : found) CHECK(finding.severity == Severity::kWarning);
  CHECK(RefusalFor(clients.members, found).ok());
}

TEST_CASE("a client with a fault is left out with all its workers") {
  Clients clients(4);
  for (const uint32_t worker : {0u, 1u}) clients.members[worker].client = 0;
  clients.storage[0].cannot_write.emplace(1, absl::PermissionDeniedError("create /mnt/x: Permission denied"));
  CHECK(WorkersToLeaveOut(clients.members, clients.Found()) == std::set<uint32_t>{0, 1});
}

TEST_CASE("a run with one fault is refused with its words, one with several with their number") {
  Clients clients(3);
  SetMissing(clients.Sees(1));
  clients.storage[0].storage_of_worker.erase(1);
  CHECK(
      RefusalFor(clients.members, clients.Found()).message().find("node2: /mnt does not exist: create it") ==
      0);
  clients.members[2].lost = true;
  clients.members[2].lost_reason = "connection reset";
  clients.storage[0].storage_of_worker.erase(2);
  CHECK(RefusalFor(clients.members, clients.Found()).message() ==
        "2 faults on 2 clients, listed above: fix them, or leave these clients out with --skip-bad");
}

TEST_CASE("leaving clients out is advised only if somebody is left then") {
  Clients clients(2);
  clients.storage[0].storage_of_worker[1] = 1;
  clients.storage[0].cannot_write.emplace(1, absl::PermissionDeniedError("create /mnt/x: Permission denied"));
  CHECK(clients.Found().size() == 2);
  CHECK(RefusalFor(clients.members, clients.Found()).message() ==
        "2 faults on 1 client, listed above: fix them, or leave this client out with --skip-bad");
  const auto mentions_it = [&] {
    bool said = absl::StrContains(RefusalFor(clients.members, clients.Found()).message(), "--skip-bad");
    for (const Finding& finding : clients.Found()) {
      said |= absl::StrContains(finding.advice, "--skip-bad") ||
              absl::StrContains(finding.alone.message(), "--skip-bad");
    }
    return said;
  };
  CHECK(mentions_it());
  clients.members[1].client = clients.members[0].client;  // two workers of the only client
  CHECK_FALSE(mentions_it());
  clients.members[1].client = 1;
  clients.members[0].facts.set_server(true);  // a run needs clients
  CHECK_FALSE(mentions_it());
}

// Created a file in so many seconds, by a clock that is ahead of the file system's.
ClockSight FileMade(const std::string& client, double ahead_s, double took_s) {
  constexpr int64_t kChangedNs = 1'000'000'000'500'000'000;
  const int64_t end_ns = kChangedNs + static_cast<int64_t>((ahead_s + 0.001) * 1e9);
  return {.client = client,
          .begin_wall_ns = end_ns - static_cast<int64_t>(took_s * 1e9),
          .end_wall_ns = end_ns,
          .modified_ns = kChangedNs};
}

TEST_CASE("a server whose clock is off, a client whose clock is off, and a grace period are warnings") {
  Clients clients(2);
  clients.storage[0].clocks = {{0, FileMade("node1", 0, 0.01)}, {1, FileMade("node2", 0.5, 0.01)}};
  CHECK(clients.Found().empty());
  clients.storage[0].clocks = {{0, FileMade("node1", -3600, 0.01)}, {1, FileMade("node2", -3600.1, 0.01)}};
  std::vector<Finding> found = clients.Found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kWarning);
  CHECK(found[0].client.empty());
  CHECK(absl::StartsWith(found[0].problem, "the server's clock is 1 h"));
  clients.storage[0].clocks = {{0, FileMade("node1", 0, 0.01)}, {1, FileMade("node2", 2, 0.01)}};
  found = clients.Found();
  REQUIRE(found.size() == 1);
  CHECK(absl::StrContains(found[0].problem, "node2: its clock is 1.99 s ahead of the file system's"));
  clients.storage[0].clocks = {{0, FileMade("node1", 0, 17)}, {1, FileMade("node2", 0, 0.01)}};
  found = clients.Found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].client == "node1");
  CHECK(absl::StrContains(found[0].problem, "waited 17 s for a new file at /mnt"));
  CHECK(absl::StrContains(found[0].advice, "grace period"));
}

TEST_CASE("clients are left out, and servers are not") {
  Clients clients(3);
  clients.members[2].facts.set_server(true);
  for (const uint32_t worker : {0u, 2u}) {
    SetMissing(clients.Sees(worker));
    clients.storage[0].storage_of_worker.erase(worker);
  }
  const std::vector<Finding> found = clients.Found();
  CHECK(WorkersToLeaveOut(clients.members, found) == std::set<uint32_t>{0});
  CHECK(LeavesClients(clients.members, {0}));
  CHECK_FALSE(LeavesClients(clients.members, {0, 1}));
  CHECK(RefusalFor(clients.members, found).message() == "2 faults on 2 clients, listed above: fix them");
}

TEST_CASE("a fault of a refused worker is one of all workers of its client") {
  Clients clients(3);
  for (Member& member : clients.members) member.facts.set_boot_id("boot of " + member.facts.host());
  clients.join_faults.push_back({.client = "node2", .problem = "another version", .advice = ""});
  CHECK(clients.Only().workers.empty());
  clients.join_faults[0].boot_id = "boot of node2";
  CHECK(clients.Only().workers == std::set<uint32_t>{1});
  clients.members[1].facts.set_server(true);  // its workers take part apart from the client's
  CHECK(clients.Only().workers.empty());
}

TEST_CASE("a fault of a refused worker is one of its machine, and not of a clone with the same boot id") {
  Clients clients(3);
  clients.members[0].facts.set_boot_id("boot of node1");
  clients.members[1].facts.set_boot_id("boot of node2");
  clients.members[2].facts.set_boot_id("boot of node2");
  clients.members[2].facts.set_clone(1);
  clients.join_faults.push_back({.client = "node3", .problem = "another version", .advice = ""});
  clients.join_faults[0].boot_id = "boot of node2";
  CHECK(clients.Only().workers == std::set<uint32_t>{2});
  clients.join_faults[0].client = "node2";
  CHECK(clients.Only().workers == std::set<uint32_t>{1});
  clients.join_faults[0].client = "a container of one of the two";
  CHECK(clients.Only().workers == std::set<uint32_t>{1, 2});
}

}  // namespace
}  // namespace iobench
