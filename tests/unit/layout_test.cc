#include "coordinator/layout.h"

#include <catch2/catch.hpp>

#include "common/units.h"

namespace iobench {
namespace {

v1::Plan PlanWith(uint32_t lanes, int targets, bool shared) {
  v1::Plan plan;
  plan.set_lanes_per_worker(lanes);
  for (int i = 0; i < targets; ++i) plan.add_targets()->set_path("/t" + std::to_string(i));
  plan.mutable_files()->set_bytes_per_lane(1_MiB);
  plan.mutable_files()->set_shared_file(shared);
  return plan;
}

std::vector<uint32_t> OwnersOf(const Layout& layout) {
  std::vector<uint32_t> owners;
  for (uint32_t worker = 0; worker < layout.worker_count(); ++worker)
    owners.push_back(layout.RotatedOwner(worker));
  return owners;
}

TEST_CASE("lanes are numbered through all workers and own their files") {
  const Layout layout(PlanWith(3, 1, false), std::vector<uint32_t>{0, 0, 1});
  const std::vector<v1::LanePlan> lanes = layout.LanesOf(2, {});
  REQUIRE(layout.lane_count() == 9);
  REQUIRE(lanes.size() == 3);
  CHECK(lanes[1].lane() == 7);
  CHECK(lanes[1].file_owner() == 7);
  CHECK(lanes[1].extent_offset_bytes() == 0);
}

TEST_CASE("rotated, every worker uses files of another client where clients have equally many workers") {
  const std::vector<uint32_t> clients = {0, 0, 1, 1, 2, 2};
  const Layout layout(PlanWith(2, 1, false), clients);
  CHECK(OwnersOf(layout) == std::vector<uint32_t>{2, 3, 4, 5, 0, 1});
  v1::Operation operation;
  operation.set_rotate_clients(true);
  CHECK(layout.LanesOf(1, operation)[1].lane() == 3);
  CHECK(layout.LanesOf(1, operation)[1].file_owner() == 7);
}

TEST_CASE("rotation follows clients, not worker numbers, when ranks are dealt round robin") {
  const std::vector<uint32_t> clients = {0, 1, 0, 1};
  const Layout layout(PlanWith(1, 1, false), clients);
  for (uint32_t worker = 0; worker < 4; ++worker) {
    CHECK(clients[layout.RotatedOwner(worker)] != clients[worker]);
  }
}

TEST_CASE("rotation is a permutation whatever the numbers of workers") {
  const Layout layout(PlanWith(1, 1, false), std::vector<uint32_t>{0, 0, 0, 1, 2});
  std::vector<uint32_t> owners = OwnersOf(layout);
  std::sort(owners.begin(), owners.end());
  CHECK(owners == std::vector<uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("extents of a shared file are disjoint and dense on each target") {
  const Layout layout(PlanWith(2, 2, true), std::vector<uint32_t>{0, 0, 0, 0});
  // Workers 0 and 2 are on target 0, workers 1 and 3 on target 1.
  std::vector<uint64_t> on_target_0, on_target_1;
  for (uint32_t worker = 0; worker < 4; ++worker) {
    for (const v1::LanePlan& lane : layout.LanesOf(worker, {})) {
      (lane.target() == 0 ? on_target_0 : on_target_1).push_back(lane.extent_offset_bytes());
    }
  }
  const std::vector<uint64_t> dense = {0, 1_MiB, 2_MiB, 3_MiB};
  CHECK(on_target_0 == dense);
  CHECK(on_target_1 == dense);
}

TEST_CASE("extents of a shared file are dense among the workers that have chosen its target") {
  v1::Plan plan = PlanWith(1, 2, true);
  for (const uint32_t worker : {0u, 3u}) plan.mutable_targets(1)->mutable_who()->add_workers(worker);
  for (const uint32_t worker : {1u, 2u}) plan.mutable_targets(0)->mutable_who()->add_workers(worker);
  const Layout layout(plan, std::vector<uint32_t>{0, 1, 2, 3});
  const v1::LanePlan lane = layout.LanesOf(3, {})[0];
  CHECK(lane.target() == 1);
  CHECK(lane.extent_offset_bytes() == 1_MiB);
  CHECK(layout.LanesOf(1, {})[0].target() == 0);
  CHECK(layout.LanesOf(1, {})[0].extent_offset_bytes() == 0);
}

TEST_CASE("lanes are counted through on each client, for their binding") {
  const Layout layout(PlanWith(2, 1, false), std::vector<uint32_t>{0, 1, 0});
  CHECK(layout.LanesOf(0, {})[1].place_on_client() == 1);
  CHECK(layout.LanesOf(1, {})[1].place_on_client() == 1);
  CHECK(layout.LanesOf(2, {})[1].place_on_client() == 3);
}

TEST_CASE("a mix by lane makes the asked share of lanes readers, spread over the workers") {
  const Layout layout(PlanWith(4, 1, false), std::vector<uint32_t>{0, 1, 2, 3, 4});
  v1::Operation operation;
  operation.set_mix_by_lane(true);
  operation.set_read_percent(25);
  int readers = 0;
  for (uint32_t worker = 0; worker < 5; ++worker) {
    int readers_here = 0;
    for (const v1::LanePlan& lane : layout.LanesOf(worker, operation)) readers_here += lane.mix_reader() == 1;
    CHECK(readers_here == 1);
    readers += readers_here;
  }
  CHECK(readers == 5);
}

TEST_CASE("a worker does the first assignment that selects it, or none") {
  v1::Phase phase;
  phase.add_assignments()->mutable_who()->add_workers(1);
  phase.mutable_assignments(0)->mutable_operation()->set_name("read");
  CHECK(AssignmentFor(phase, 0) == nullptr);
  phase.add_assignments()->mutable_operation()->set_name("write");
  CHECK(AssignmentFor(phase, 0)->operation().name() == "write");
  CHECK(AssignmentFor(phase, 1)->operation().name() == "read");
}

}  // namespace
}  // namespace iobench
