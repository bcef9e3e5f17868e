// A field that its operation does not use is refused in a plan, as the option that sets it is.
#include "coordinator/plan/field_uses.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"

namespace iobench {
namespace {

v1::Plan PlanWith(const std::string& operation, const std::string& field) {
  const auto plan = ParsePlan(absl::StrCat("files: {bytes_per_lane: 4m}\nphases:\n- assignments:\n  - operation: {name: ",
                                           operation, field.empty() ? "" : ", ", field, "}\n"),
                              "plan");
  INFO(operation << " " << field << ": " << plan.status());
  REQUIRE(plan.ok());
  return *plan;
}

// The fields, each with a value that asks for something, and the operations that use them.
struct Use {
  std::string field;
  std::string used_by;  // of kOperations, separated by blanks; all others refuse it
};
const std::vector<std::string> kOperations = {"write",      "read",           "stride-read", "random-mix",
                                              "sequential-mix", "create", "stat",        "find"};
const std::vector<Use> kUses = {
    {"record_bytes: 64k", "write read stride-read random-mix sequential-mix"},
    {"stride_records: 5", "stride-read"},
    {"read_percent: 37", "random-mix sequential-mix"},
    {"mix_by_lane: true", "random-mix sequential-mix"},
    {"reader_lanes: 1", "random-mix sequential-mix"},
    {"truncate: true", "sequential-mix"},
    {"keep_existing: true", "write"},
    {"preallocate: true", "write"},
    {"direct: true", "write read stride-read random-mix sequential-mix create stat find"},
    {"sync: true", "write read stride-read random-mix sequential-mix create"},
    {"rsync: true", "write read stride-read random-mix sequential-mix"},
    {"buffer_bytes: 1m", "write read stride-read random-mix sequential-mix"},
    {"trace: {offset_latency: true}", "write read stride-read random-mix sequential-mix"},
    {"tree: {items_per_lane: 7}", "create stat find"},
    {"tree: {random_order: true}", "create stat find"},
    {"tree: {file_bytes: 4k}", "create stat find"},
    {"tree: {find: {name: a}}", "find"},
};

TEST_CASE("a plan's operations take the fields that they use, and refuse others") {
  for (const Use& use : kUses) {
    for (const std::string& operation : kOperations) {
      const bool is_used = absl::StrCat(" ", use.used_by, " ").find(absl::StrCat(" ", operation, " ")) != std::string::npos;
      const absl::Status status = CheckFieldsHaveUse(PlanWith(operation, use.field));
      INFO(operation << " with " << use.field << ": " << status);
      CHECK(status.ok() == is_used);
    }
  }
}

TEST_CASE("the message names the phase, the operation, the field and its option") {
  CHECK(CheckFieldsHaveUse(PlanWith("create", "record_bytes: 64k")).message() ==
        "phase create: create does not use record_bytes (-r): leave it out");
  CHECK(CheckFieldsHaveUse(PlanWith("stat", "tree: {find: {bytes: 5}}")).message() ==
        "phase stat: stat does not use tree.find.bytes (--find-bytes): leave it out");
}

TEST_CASE("what completing a plan writes is accepted when the plan is read again") {
  for (const std::string& operation : kOperations) {
    const bool has_records = CheckFieldsHaveUse(PlanWith(operation, "record_bytes: 64k")).ok();
    v1::Plan plan = PlanWith(operation, has_records ? "record_bytes: 64k" : "");
    CompletePlan(plan);
    const auto again = ParsePlan(PlanToYaml(plan), "plan");
    REQUIRE(again.ok());
    INFO(operation << ": " << CheckFieldsHaveUse(*again));
    CHECK(CheckFieldsHaveUse(*again).ok());
  }
}

}  // namespace
}  // namespace iobench
