#include "coordinator/plan/files_of_owner.h"

#include <catch2/catch.hpp>
#include <vector>

namespace iobench {
namespace {

using Targets = std::set<uint32_t>;

// A phase on shared files, with two lanes per worker: worker 0 has the first target, worker 1 the second.
struct SharedPhase {
  v1::Plan plan;
  v1::Phase phase;

  SharedPhase() {
    plan.set_lanes_per_worker(2);
    plan.mutable_files()->set_bytes_per_lane(1 << 20);
    plan.mutable_files()->set_files_per_lane(1);
    plan.mutable_files()->set_shared_file(true);
    plan.add_targets()->set_path("/a");
    plan.add_targets()->set_path("/b");
  }
  // Empty: all workers that no earlier part has.
  v1::Assignment& Add(const char* operation, const std::vector<uint32_t>& workers) {
    v1::Assignment& part = *phase.add_assignments();
    for (const uint32_t worker : workers) part.mutable_who()->add_workers(worker);
    part.mutable_operation()->set_name(operation);
    part.mutable_operation()->set_engine("posix");
    part.mutable_operation()->set_record_bytes(4096);
    return part;
  }
  Targets Removed() const {
    return TargetsOfNewSharedFiles(plan, phase, Layout(plan, std::vector<uint32_t>{0, 1}));
  }
};

TEST_CASE("a shared file is removed before a phase in which any part creates it, in whatever order") {
  SharedPhase read_first;
  read_first.Add("read", {0});
  read_first.Add("write", {1});
  CHECK(read_first.Removed() == Targets{1});
  SharedPhase write_first;
  write_first.Add("write", {1});
  write_first.Add("read", {0});
  CHECK(write_first.Removed() == Targets{1});
  SharedPhase on_one_target = read_first;
  on_one_target.phase.set_only_target(1);
  CHECK(on_one_target.Removed() == Targets{0});
  SharedPhase all;
  all.Add("write", {});
  CHECK(all.Removed() == Targets{0, 1});
}

TEST_CASE("a shared file is removed where the files are that lanes create, whose they may be") {
  SharedPhase rotated;
  rotated.Add("write", {0}).mutable_operation()->set_rotate_clients(true);
  CHECK(rotated.Removed() == Targets{1});
}

TEST_CASE("a shared file stays if no part creates it") {
  SharedPhase reads;
  reads.Add("read", {0});
  reads.Add("rewrite", {1});
  CHECK(reads.Removed().empty());
  SharedPhase keeps;
  keeps.Add("write", {}).mutable_operation()->set_keep_existing(true);
  CHECK(keeps.Removed().empty());
  SharedPhase nobody_writes;
  nobody_writes.Add("read", {});
  nobody_writes.Add("write", {});  // the first part has all workers
  CHECK(nobody_writes.Removed().empty());
  SharedPhase moves_nothing;
  moves_nothing.Add("write", {}).mutable_operation()->set_engine("null");
  CHECK(moves_nothing.Removed().empty());
  SharedPhase own_files;
  own_files.Add("write", {});
  own_files.plan.mutable_files()->set_shared_file(false);
  CHECK(own_files.Removed().empty());
}

TEST_CASE("a background load leaves the shared file that its victims read") {
  SharedPhase beside;
  beside.Add("read", {0});
  beside.Add("write", {1}).set_background(true);
  CHECK(beside.Removed().empty());
}

TEST_CASE("a lane's own files, its part of a shared file and those on another target are different files") {
  SharedPhase shared;
  v1::Operation& operation = *shared.Add("read", {}).mutable_operation();
  const Layout layout(shared.plan, std::vector<uint32_t>{0, 1});
  const auto files_of_first_lane = [&](uint32_t worker) {
    const PhaseShape shape = ShapeOf(shared.plan, shared.phase);
    return FilesOf(layout.LanesOf(worker, operation, shape)[0], shape);
  };
  CHECK(files_of_first_lane(0) == FilesOfOwner{.target = 0, .shared = true, .owner = 0});
  CHECK(files_of_first_lane(1) == FilesOfOwner{.target = 1, .shared = true, .owner = 2});
  operation.set_rotate_clients(true);
  CHECK(files_of_first_lane(0) == FilesOfOwner{.target = 1, .shared = true, .owner = 2});
  operation.set_rotate_clients(false);
  shared.plan.mutable_files()->set_shared_file(false);
  CHECK(files_of_first_lane(0) == FilesOfOwner{.target = 0, .shared = false, .owner = 0});
  shared.phase.set_only_target(2);
  CHECK(files_of_first_lane(0) == FilesOfOwner{.target = 1, .shared = false, .owner = 0});
}

}  // namespace
}  // namespace iobench
