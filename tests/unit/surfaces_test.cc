#include "coordinator/analysis/across/surfaces.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <string>

namespace iobench {
namespace {

// Phases are planned and then measured in the plan's order, by two workers with two lanes each.
class Run {
 public:
  Run() {
    v1::RunInfo& run = *report.mutable_run();
    run.set_worker_count(2);
    run.mutable_plan()->set_lanes_per_worker(2);
  }
  Run& Phase(const std::string& operation, uint64_t bytes, uint64_t record_bytes) {
    v1::Phase& planned = *plan().add_phases();
    planned.set_name(operation + " " + std::to_string(bytes) + "/" + std::to_string(record_bytes));
    planned.mutable_files()->set_bytes_per_lane(bytes);
    v1::Assignment& assignment = *planned.add_assignments();
    assignment.mutable_operation()->set_name(operation);
    assignment.mutable_operation()->set_record_bytes(record_bytes);
    return *this;
  }
  Run& Measured(double rate) {
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_index(static_cast<uint32_t>(report.phases_size() - 1));
    phase.set_name(plan().phases(static_cast<int>(phase.index()) % plan().phases_size()).name());
    phase.set_ops(10);
    phase.set_lane_count(4);
    phase.mutable_headline()->set_bytes_per_s(rate);
    return *this;
  }
  v1::PhaseReport& last() { return *report.mutable_phases(report.phases_size() - 1); }
  v1::Plan& plan() { return *report.mutable_run()->mutable_plan(); }
  const google::protobuf::RepeatedPtrField<v1::SurfaceReport>& Surfaces() {
    UpdateSurfaces(report);
    return report.surfaces();
  }

  v1::RunReport report;
};

TEST_CASE("a sweep over sizes and records is a surface for each operation") {
  Run run;
  run.Phase("write", 64, 4).Phase("read", 64, 4).Phase("write", 128, 4).Phase("read", 128, 4).Phase("write", 128, 8);
  run.Phase("read", 128, 8);
  run.Measured(10).Measured(1).Measured(20).Measured(2).Measured(30).Measured(3);
  run.last().set_title("re-read");
  const auto& surfaces = run.Surfaces();
  REQUIRE(surfaces.size() == 2);
  const v1::SurfaceReport& write = surfaces[0];
  CHECK(write.operation() == "write");
  CHECK(write.worker_count() == 2);
  CHECK(write.lanes_per_worker() == 2);
  CHECK(write.lane_count() == 4);
  REQUIRE(write.bytes_per_lane_size() == 2);
  CHECK(write.bytes_per_lane(1) == 128);
  REQUIRE(write.record_bytes_size() == 2);
  REQUIRE(write.cells_size() == 3);  // there is no 64/8
  CHECK(write.cells(0).rate() == 10);
  CHECK(write.cells(1).rate() == 20);
  CHECK(write.cells(2).rate() == 30);
  CHECK(write.cells(2).bytes_per_lane() == 128);
  CHECK(write.cells(2).record_bytes() == 8);
  CHECK(write.cells(2).phases(0) == 4);
  CHECK(surfaces[1].cells(2).rate() == 3);
}

TEST_CASE("of a cell's repetitions the median of the whole ones counts, with its interval") {
  Run run;
  run.Phase("write", 64, 4).Phase("write", 128, 4);
  for (const double rate : {100, 300, 200}) run.Measured(rate).Measured(7);
  run.Measured(1000).Measured(9);
  run.report.mutable_phases(6)->set_not_whole("1 worker lost");
  v1::Mark& mark = *run.report.mutable_phases(2)->add_marks();
  mark.set_code("cached");
  const auto& surfaces = run.Surfaces();
  REQUIRE(surfaces.size() == 1);
  const v1::SurfaceCell& cell = surfaces[0].cells(0);
  CHECK(cell.rate() == 200);
  CHECK(cell.low() == 100);
  CHECK(cell.high() == 300);
  CHECK(cell.level_percent() == Approx(75));  // 1 - 2 / 8
  CHECK(cell.count() == 3);
  CHECK_FALSE(cell.not_whole());
  CHECK(cell.phases_size() == 4);
  REQUIRE(cell.marks_size() == 1);
  CHECK(cell.marks(0) == "cached");
}

TEST_CASE("without a whole repetition the others stand for the cell, and one without ops for nothing") {
  Run run;
  run.Phase("write", 64, 4).Phase("write", 128, 4).Measured(100).Measured(200);
  run.last().set_not_whole("interrupted");
  run.report.mutable_phases(0)->set_ops(0);
  const v1::SurfaceReport surface = run.Surfaces()[0];
  CHECK(surface.cells(0).count() == 0);
  CHECK(std::isnan(surface.cells(0).rate()));
  CHECK_FALSE(surface.cells(0).not_whole());
  CHECK(surface.cells(1).rate() == 200);
  CHECK(surface.cells(1).not_whole());
}

TEST_CASE("a sweep over lanes has a surface for each number of lanes") {
  Run run;
  run.Phase("write", 64, 4).Phase("write", 64, 4).Measured(100).Measured(200);
  run.plan().mutable_phases(1)->set_lanes_per_worker(8);
  REQUIRE(run.Surfaces().size() == 2);
  CHECK(run.report.surfaces(1).lanes_per_worker() == 8);
  CHECK(run.report.surfaces(1).lane_count() == 16);
  CHECK_FALSE(CoversSizes(run.report.surfaces(1)));
}

TEST_CASE("phases with a size and a record of their own each are no sweep") {
  Run run;
  run.Phase("write", 64, 4).Phase("write", 128, 8).Phase("stat", 0, 0).Measured(1).Measured(2).Measured(3);
  CHECK(run.Surfaces().empty());
}

TEST_CASE("phases of one client or of servers or beside a load are no cells of a surface") {
  Run run;
  run.Phase("write", 64, 4).Phase("write", 128, 4).Measured(1).Measured(2);
  REQUIRE(run.Surfaces().size() == 1);
  Run alone = run, on_servers = run, beside = run;
  alone.plan().mutable_phases(1)->mutable_alone()->set_client("c01");
  on_servers.plan().mutable_phases(1)->mutable_on_servers()->set_servers(1);
  beside.plan().mutable_phases(1)->mutable_interference()->set_others(1);
  CHECK(alone.Surfaces().empty());
  CHECK(on_servers.Surfaces().empty());
  CHECK(beside.Surfaces().empty());
}

TEST_CASE("each lane has a level 2 cache, and the lanes of a client share the rest") {
  Run run;
  run.Phase("write", 64, 4).Phase("write", 128, 4).Measured(1).Measured(2);
  for (const uint64_t memory_bytes : {4000, 3000}) {
    v1::ClientReport& client = *run.report.add_clients();
    client.set_l2_cache_bytes(100);
    client.set_memory_bytes(memory_bytes);
  }
  const v1::SurfaceReport surface = run.Surfaces()[0];
  REQUIRE(surface.limits_size() == 2);  // the level 3 cache is not known
  CHECK(surface.limits(0).name() == "L2 cache");
  CHECK(surface.limits(0).bytes_per_lane() == 100);
  CHECK(surface.limits(1).name() == "clients' memory");
  CHECK(surface.limits(1).bytes_per_lane() == 1500);  // two lanes on the client with 3000 bytes
}

}  // namespace
}  // namespace iobench
