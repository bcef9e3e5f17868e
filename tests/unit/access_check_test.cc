#include "coordinator/conduct/data/access_check.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/text/units.h"

namespace iobench {
namespace {

// Workers on one file system; a test adds the phases of their plan.
struct SharedStorage {
  v1::Plan plan;
  uint32_t worker_count;
  v1::TargetFacts seen;  // by all workers

  SharedStorage(uint32_t workers, uint32_t lanes_per_worker) : worker_count(workers) {
    plan.add_targets()->set_path("/mnt");
    plan.set_lanes_per_worker(lanes_per_worker);
    plan.mutable_files()->set_files_per_lane(1);
    seen.set_filesystem_id("server:/export");
  }
  v1::Phase& Writes(uint64_t bytes_per_lane) {
    v1::Phase& phase = *plan.add_phases();
    phase.mutable_files()->set_bytes_per_lane(bytes_per_lane);
    AddOperation("write", phase);
    return phase;
  }
  static v1::Assignment& AddOperation(const std::string& name, v1::Phase& phase) {
    v1::Assignment& assignment = *phase.add_assignments();
    assignment.mutable_operation()->set_name(name);
    assignment.mutable_operation()->set_engine("posix");
    return assignment;
  }
  // The phase is that of the first workers alone.
  static void ByFirst(uint32_t count, v1::Phase& phase) {
    for (uint32_t worker = 0; worker < count; ++worker) {
      phase.mutable_assignments(0)->mutable_who()->add_workers(worker);
    }
  }

  uint64_t BytesNeeded() const { return Need().bytes; }
  SpaceNeed Need() const {
    std::vector<Member> members;
    std::vector<v1::WorkerTargets> facts;
    for (uint32_t worker = 0; worker < worker_count; ++worker) {
      members.emplace_back().number = worker;
      *facts.emplace_back().add_targets() = seen;
    }
    const Layout layout(plan, std::vector<uint32_t>(worker_count, 0));
    const std::vector<SpaceNeed> needs = SpaceNeeds(plan, layout, members, facts);
    REQUIRE(needs.size() == 1);
    CHECK(needs[0].workers.size() == worker_count);
    return needs[0];
  }
};

TEST_CASE("a worker needs space for the phases in which it takes part alone") {
  SharedStorage storage(3, 1);
  for (const uint32_t workers : {1u, 2u, 3u})
    SharedStorage::ByFirst(workers, storage.Writes(12_MiB / workers));
  CHECK(storage.BytesNeeded() == 12_MiB + 6_MiB + 4_MiB);
}

TEST_CASE("a lane that later phases leave idle keeps its files") {
  SharedStorage storage(1, 4);
  for (const uint32_t lanes : {4u, 2u, 1u}) storage.Writes(1_GiB / lanes).set_lanes_per_worker(lanes);
  CHECK(storage.BytesNeeded() == 1_GiB + 512_MiB + 2 * 256_MiB);
}

TEST_CASE("workers that work on names alone hold no files of records") {
  SharedStorage storage(3, 2);
  v1::Phase& mix = storage.Writes(100_MiB);
  SharedStorage::ByFirst(1, mix);
  SharedStorage::AddOperation("stat", mix);
  CHECK(storage.BytesNeeded() == 2 * 100_MiB);
}

TEST_CASE("trees need space where workers work on names") {
  SharedStorage storage(3, 2);
  v1::Phase& mix = storage.Writes(100_MiB);
  SharedStorage::ByFirst(1, mix);
  v1::Tree& tree = *SharedStorage::AddOperation("stat", mix).mutable_operation()->mutable_tree();
  tree.set_items_per_lane(1024);
  tree.set_file_bytes(1_KiB);
  CHECK(storage.BytesNeeded() == 2 * 100_MiB + 2 * 2 * 1_MiB);
}

TEST_CASE("inodes are needed for the lanes' files and for the names of trees") {
  SharedStorage storage(3, 2);
  storage.plan.mutable_files()->set_files_per_lane(5);
  SharedStorage::ByFirst(1, storage.Writes(10_MiB));
  v1::Phase& names = *storage.plan.add_phases();
  SharedStorage::AddOperation("create", names).mutable_operation()->mutable_tree()->set_items_per_lane(100);
  CHECK(storage.Need().items == 1 * 2 * 5 + 3 * 2 * 100);
}

TEST_CASE("what a file system does not tell is unknown, not 0") {
  SharedStorage storage(1, 1);
  storage.Writes(10_MiB);
  CHECK_FALSE(storage.Need().free_bytes.has_value());
  CHECK_FALSE(storage.Need().free_items.has_value());
  storage.seen.set_free_bytes(0);
  storage.seen.mutable_space()->set_total_items(1000);
  CHECK(storage.Need().free_bytes == 0);
  CHECK(storage.Need().free_items == 0);
}

TEST_CASE("a shared file is as large as in the phase in which it is largest") {
  SharedStorage storage(3, 1);
  storage.plan.mutable_files()->set_shared_file(true);
  for (const uint32_t workers : {1u, 2u, 3u})
    SharedStorage::ByFirst(workers, storage.Writes(12_MiB / workers));
  CHECK(storage.BytesNeeded() == 12_MiB);
}

}  // namespace
}  // namespace iobench
