#include "coordinator/plan/layout.h"

#include <catch2/catch.hpp>

#include "common/model/plan_traits.h"
#include "common/text/units.h"

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

TEST_CASE("lanes that share items use those of the first lane on their target") {
  v1::Operation operation;
  operation.set_name("open-many");
  const Layout layout(PlanWith(2, 2, false), std::vector<uint32_t>{0, 1, 2, 3});  // targets 0, 1, 0, 1
  for (uint32_t worker = 0; worker < 4; ++worker) {
    for (const v1::LanePlan& lane : layout.LanesOf(worker, operation)) {
      CHECK(lane.target() == worker % 2);
      CHECK(lane.file_owner() == 2 * (worker % 2));
    }
  }
  PhaseShape on_one_target;
  on_one_target.only_target = 2;
  CHECK(layout.LanesOf(3, operation, on_one_target)[0].file_owner() == 0);
  operation.set_name("open-close");
  CHECK(layout.LanesOf(3, operation)[1].file_owner() == 7);
}

TEST_CASE("lanes are counted through on each client, for their binding") {
  const Layout layout(PlanWith(2, 1, false), std::vector<uint32_t>{0, 1, 0});
  CHECK(layout.LanesOf(0, {})[1].index_on_client() == 1);
  CHECK(layout.LanesOf(1, {})[1].index_on_client() == 1);
  CHECK(layout.LanesOf(2, {})[1].index_on_client() == 3);
}

TEST_CASE("a mix by lane makes the asked share of lanes readers, spread over the workers") {
  const Layout layout(PlanWith(4, 1, false), std::vector<uint32_t>{0, 1, 2, 3, 4});
  v1::Operation operation;
  operation.set_mix_by_lane(true);
  operation.set_read_percent(25);
  int readers = 0;
  for (uint32_t worker = 0; worker < 5; ++worker) {
    int readers_here = 0;
    for (const v1::LanePlan& lane : layout.LanesOf(worker, operation))
      readers_here += lane.mix() == v1::LANE_MIX_READER;
    CHECK(readers_here == 1);
    readers += readers_here;
  }
  CHECK(readers == 5);
}

TEST_CASE("a worker does the first assignment that selects it, or none") {
  v1::Phase phase;
  phase.add_assignments()->mutable_who()->add_workers(1);
  phase.mutable_assignments(0)->mutable_operation()->set_name("read");
  CHECK(AssignmentOf(phase, 0) == nullptr);
  phase.add_assignments()->mutable_operation()->set_name("write");
  CHECK(AssignmentOf(phase, 0)->operation().name() == "write");
  CHECK(AssignmentOf(phase, 1)->operation().name() == "read");
}

TEST_CASE("the assignments of all workers together are those of each") {
  v1::Phase phase;
  for (const std::vector<uint32_t>& who : {std::vector<uint32_t>{5, 1}, {1, 2, 9}, {2, 0}}) {
    v1::Assignment& assignment = *phase.add_assignments();
    for (const uint32_t worker : who) assignment.mutable_who()->add_workers(worker);
  }
  for (const bool others_too : {false, true}) {
    if (others_too) phase.add_assignments();  // selects everybody
    const WorkerAssignments assignments(phase, 7);
    for (uint32_t worker = 0; worker < 12; ++worker) {  // also those beyond the seven
      CHECK(assignments.Of(worker) == AssignmentOf(phase, worker));
    }
  }
}

PhaseShape ShapeWith(uint32_t lanes, uint64_t bytes, bool shared, bool interleaved = false) {
  PhaseShape shape;
  shape.lanes_per_worker = lanes;
  shape.files.set_bytes_per_lane(bytes);
  shape.files.set_shared_file(shared);
  shape.files.set_interleaved(interleaved);
  return shape;
}

TEST_CASE("a phase with fewer lanes leaves the last ones out, and the others keep their numbers") {
  const Layout layout(PlanWith(4, 1, false), std::vector<uint32_t>{0, 1});
  const std::vector<v1::LanePlan> lanes = layout.LanesOf(1, {}, ShapeWith(2, 1_MiB, false));
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[0].lane() == 4);
  CHECK(lanes[1].lane() == 5);
  CHECK(lanes[1].file_owner() == 5);
}

TEST_CASE("a shared file is dense for the lanes and the size that a phase has") {
  const Layout layout(PlanWith(4, 1, true), std::vector<uint32_t>{0, 1});
  std::vector<uint64_t> offsets;
  for (uint32_t worker = 0; worker < 2; ++worker) {
    for (const v1::LanePlan& lane : layout.LanesOf(worker, {}, ShapeWith(2, 64_KiB, true)))
      offsets.push_back(lane.extent_offset_bytes());
  }
  CHECK(offsets == std::vector<uint64_t>{0, 64_KiB, 128_KiB, 192_KiB});
}

TEST_CASE("interleaved, each lane has its turn among all lanes of its target") {
  const Layout layout(PlanWith(2, 2, true), std::vector<uint32_t>{0, 0, 0, 0});
  v1::Operation operation;
  operation.set_record_bytes(4_KiB);
  // Workers 1 and 3 share the second target.
  const std::vector<v1::LanePlan> lanes = layout.LanesOf(3, operation, ShapeWith(2, 64_KiB, true, true));
  CHECK(lanes[0].interleave_index() == 2);
  CHECK(lanes[1].interleave_index() == 3);
  CHECK(lanes[1].interleave_count() == 4);
  CHECK(lanes[1].extent_offset_bytes() == 12_KiB);
}

TEST_CASE("interleaved in blocks, each lane begins with the block of its turn") {
  const Layout layout(PlanWith(2, 1, true), std::vector<uint32_t>{0, 0});
  v1::Operation operation;
  operation.set_record_bytes(4_KiB);
  PhaseShape shape = ShapeWith(2, 64_KiB, true, true);
  shape.files.set_block_bytes(16_KiB);
  const std::vector<v1::LanePlan> lanes = layout.LanesOf(1, operation, shape);
  CHECK(lanes[0].extent_offset_bytes() == 32_KiB);
  CHECK(lanes[1].extent_offset_bytes() == 48_KiB);
}

TEST_CASE("on the first lane's files all lanes of a worker have one owner, who prepares them") {
  const Layout layout(PlanWith(3, 1, false), std::vector<uint32_t>{0, 1});
  v1::Operation operation;
  operation.set_first_lane_files(true);
  for (const v1::LanePlan& lane : layout.LanesOf(1, operation)) {
    CHECK(lane.file_owner() == 3);
    CHECK(lane.leaves_prefill() == (lane.lane() != 3));
  }
}

TEST_CASE("a number of reader lanes is counted through the workers") {
  const Layout layout(PlanWith(2, 1, false), std::vector<uint32_t>{0, 1, 2});
  v1::Operation operation;
  operation.set_mix_by_lane(true);
  operation.set_read_percent(50);
  operation.set_reader_lanes(3);
  std::vector<uint32_t> readers;
  for (uint32_t worker = 0; worker < 3; ++worker) {
    for (const v1::LanePlan& lane : layout.LanesOf(worker, operation)) readers.push_back(lane.mix());
  }
  CHECK(readers == std::vector<uint32_t>{1, 1, 1, 2, 2, 2});
}

TEST_CASE("all workers use the target that a phase selects, with the shared file dense among all of them") {
  v1::Plan plan = PlanWith(1, 2, true);
  for (const uint32_t target : {1u, 2u}) plan.add_phases()->set_only_target(target);
  const Layout layout(plan, std::vector<uint32_t>{0, 1, 2, 3});
  for (const v1::Phase& phase : plan.phases()) {
    std::vector<uint64_t> extents;
    for (uint32_t worker = 0; worker < 4; ++worker) {
      const v1::LanePlan lane = layout.LanesOf(worker, {}, ShapeOf(plan, phase))[0];
      CHECK(lane.target() == phase.only_target() - 1);
      extents.push_back(lane.extent_offset_bytes());
    }
    CHECK(extents == std::vector<uint64_t>{0, 1_MiB, 2_MiB, 3_MiB});
  }
  CHECK(layout.TargetsOf(3) == std::vector<uint32_t>{0, 1});
  plan.mutable_phases()->Clear();
  CHECK(Layout(plan, std::vector<uint32_t>{0, 1, 2, 3}).TargetsOf(3) == std::vector<uint32_t>{1});
}

TEST_CASE("interleaved records of all workers alternate on the target that a phase selects") {
  v1::Plan plan = PlanWith(2, 2, true);
  plan.mutable_files()->set_interleaved(true);
  plan.add_phases()->set_only_target(2);
  const Layout layout(plan, std::vector<uint32_t>{0, 1, 2});
  const v1::LanePlan lane = layout.LanesOf(2, {}, ShapeOf(plan, plan.phases(0)))[1];
  CHECK(lane.interleave_index() == 5);
  CHECK(lane.interleave_count() == 6);
}

v1::Plan ByMemory(uint32_t percent, uint32_t files_per_lane = 1) {
  v1::Plan plan;
  plan.mutable_files()->set_memory_percent(percent);
  plan.mutable_files()->set_files_per_lane(files_per_lane);
  for (const uint64_t record_bytes : {64_KiB, 48_KiB}) {
    v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
    operation.set_name("write");
    operation.set_record_bytes(record_bytes);
  }
  return plan;
}

uint64_t SizedFor(const std::vector<ClientMemory>& clients, v1::Plan plan) {
  REQUIRE(SizeFilesByMemory(clients, plan).ok());
  return plan.files().bytes_per_lane();
}

TEST_CASE("files by memory: each client's lanes together have the share of the smallest client's memory") {
  const uint64_t granule = 192_KiB;  // whole records of 64 and of 48 KiB
  CHECK(SizedFor({{.memory_bytes = 192_MiB, .lane_count = 4}}, ByMemory(200)) == 96_MiB);
  CHECK(SizedFor({{.memory_bytes = 192_MiB, .lane_count = 4}, {.memory_bytes = 1_GiB, .lane_count = 4}},
                 ByMemory(200)) == 96_MiB);
  // The client with fewer lanes needs larger files.
  CHECK(SizedFor({{.memory_bytes = 192_MiB, .lane_count = 4}, {.memory_bytes = 192_MiB, .lane_count = 2}},
                 ByMemory(200)) == 192_MiB);
  CHECK(SizedFor({{.memory_bytes = 192_MiB + 1, .lane_count = 1}}, ByMemory(100)) == 192_MiB + granule);
  CHECK(SizedFor({{.memory_bytes = 192_MiB, .lane_count = 1}}, ByMemory(100, 10)) % (10 * granule) == 0);
  CHECK(SizedFor({{.memory_bytes = 1, .lane_count = 1}}, ByMemory(1)) == granule);
}

TEST_CASE(
    "files by memory: an unknown memory or an impossible size is an error, and other plans stay as they are") {
  v1::Plan plan = ByMemory(200);
  CHECK(absl::IsInvalidArgument(SizeFilesByMemory(std::vector<ClientMemory>{{0, 1}}, plan)));
  CHECK(absl::IsInvalidArgument(SizeFilesByMemory(std::vector<ClientMemory>{{uint64_t{1} << 62, 1}}, plan)));
  v1::Plan given = ByMemory(0);
  given.mutable_files()->set_bytes_per_lane(5);
  CHECK(SizedFor({{.memory_bytes = 192_MiB, .lane_count = 1}}, given) == 5);
}

}  // namespace
}  // namespace iobench
