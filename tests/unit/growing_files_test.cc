#include <catch2/catch.hpp>

#include "common/model/phase_files.h"
#include "common/text/units.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

v1::Plan WriteAndRead(double time_s) {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt");
  plan.mutable_files()->set_bytes_per_lane(64_MiB);
  for (const char* const name : {"write", "read"}) {
    v1::Phase& phase = *plan.add_phases();
    phase.add_assignments()->mutable_operation()->set_name(name);
    phase.mutable_assignments(0)->mutable_operation()->set_record_bytes(64_KiB);
    phase.mutable_stop()->set_time_s(time_s);
  }
  plan.mutable_phases(0)->mutable_files()->set_bytes_per_lane(64_GiB);
  CompletePlan(plan);
  return plan;
}

TEST_CASE("only phases that write new files for a time let them grow") {
  const v1::Plan plan = WriteAndRead(1);
  CHECK(GrowsFiles(plan, plan.phases(0)));
  CHECK_FALSE(GrowsFiles(plan, plan.phases(1)));
  CHECK(CheckPlan(plan).ok());
  CHECK(GrowsFiles(plan));
  const v1::Plan whole = WriteAndRead(0);
  CHECK_FALSE(GrowsFiles(whole));
  CHECK_THAT(std::string(CheckPlan(whole).message()), Catch::Contains("larger than the plan's of 64 MiB"));
  v1::Plan shared = plan;
  shared.mutable_phases(0)->mutable_files()->set_shared_file(true);
  CHECK_FALSE(GrowsFiles(shared));
}

TEST_CASE("files grow into a quarter of what is free, at most 64 GiB for a lane") {
  const v1::Plan plan = WriteAndRead(1);
  CHECK(MostGrownBytes(plan, plan.phases(0), 80_GiB, 4) == 5_GiB);
  CHECK(MostGrownBytes(plan, plan.phases(0), 8000_GiB, 4) == 64_GiB);
  CHECK(MostGrownBytes(plan, plan.phases(0), 100_MiB, 4) == 64_MiB);
  CHECK(MostGrownBytes(plan, plan.phases(0), std::nullopt, 4) == 64_MiB);
}

TEST_CASE("a phase uses whole records of what was written") {
  v1::Plan plan = WriteAndRead(1);
  CHECK(WholeRecordsIn(1_MiB + 4_KiB, plan.phases(1)) == 1_MiB);
  plan.mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_record_bytes(3_MiB);
  CHECK(WholeRecordsIn(4_MiB, plan.phases(1)) == 3_MiB);
  CHECK(WholeRecordsIn(2_MiB, plan.phases(1)) == 0);
}

}  // namespace
}  // namespace iobench
