#include "coordinator/preflight/untimed_work.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/text/units.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

// Two lanes of 1 GiB per worker; each phase with this stop rule.
v1::Plan UntimedPlan(const std::vector<std::string>& operations, const v1::StopRule& stop = {}) {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt");
  plan.set_lanes_per_worker(2);
  plan.set_repetitions(1);
  plan.mutable_files()->set_bytes_per_lane(1_GiB);
  plan.mutable_files()->set_files_per_lane(1);
  for (const std::string& name : operations) {
    v1::Phase& phase = *plan.add_phases();
    *phase.mutable_stop() = stop;
    phase.set_name(name);
    v1::Operation& operation = *phase.add_assignments()->mutable_operation();
    const bool on_names = name == "create" || name == "stat" || name == "open-many";
    operation.set_name(name);
    operation.set_engine(on_names ? "metadata" : "posix");
    operation.set_record_bytes(on_names ? 0 : 1_MiB);
    if (on_names) operation.mutable_tree()->set_items_per_lane(1000);
  }
  CompletePlan(plan);
  return plan;
}

v1::StopRule Seconds(double seconds) {
  v1::StopRule stop;
  stop.set_time_s(seconds);
  return stop;
}
v1::StopRule Ops(uint64_t ops) {
  v1::StopRule stop;
  stop.set_max_ops(ops);
  return stop;
}

TEST_CASE("a dry run says what is written before and after the timed parts of phases") {
  struct Row {
    v1::Plan plan;
    std::string lines;  // of three workers, so six lanes
  };
  v1::Plan kept = UntimedPlan({"write"}, Ops(10));
  kept.set_keep_data(true);
  v1::Plan thrice = UntimedPlan({"write", "read"}, Seconds(1));
  thrice.set_repetitions(4);
  v1::Plan mixed = UntimedPlan({"write", "read"}, Ops(10));
  mixed.mutable_phases(1)->mutable_stop()->set_max_ops(25);
  const std::vector<Row> rows = {
      {UntimedPlan({"read"}, Seconds(1)), "preparing files for read writes 6 GiB: 6 s at 1 GiB/s"},
      {UntimedPlan({"read", "reread"}, Ops(128)), "preparing files for read writes 768 MiB: 750 ms at 1 GiB/s"},
      {UntimedPlan({"write", "read"}), ""},
      {UntimedPlan({"write"}, Seconds(1)), ""},
      {UntimedPlan({"write", "read"}, Ops(10)), ""},
      {mixed, "finishing files for read writes up to 90 MiB: 87.9 ms at 1 GiB/s"},
      {UntimedPlan({"write", "read"}, Seconds(1)), "finishing files for read writes up to 6 GiB: 6 s at 1 GiB/s"},
      {thrice, "finishing files for read writes up to 24 GiB: 24 s at 1 GiB/s"},
      {kept, "finishing files for -w writes up to 5.94 GiB: 5.94 s at 1 GiB/s"},
      {UntimedPlan({"stat"}, Seconds(1)), "preparing files for stat makes 6,000 names"},
      {UntimedPlan({"open-many"}, Seconds(1)), "preparing files for open-many makes 1,000 names"},
      {UntimedPlan({"create", "stat"}), ""},
      {UntimedPlan({"create"}, Ops(10)), ""},
      {UntimedPlan({"create", "stat"}, Ops(10)), "finishing files for stat makes up to 5,940 names"},
  };
  for (const Row& row : rows) {
    INFO(row.plan.ShortDebugString());
    CHECK(absl::StrJoin(UntimedLines(UntimedWorkOf(row.plan, 3, /*has_data=*/false)), "|") == row.lines);
  }
  CHECK(UntimedLines(UntimedWorkOf(rows[0].plan, 3, /*has_data=*/true)).empty());
}

}  // namespace
}  // namespace iobench
