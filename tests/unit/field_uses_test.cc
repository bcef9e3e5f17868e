// A field that its operation does not use is refused in a plan, as the option that sets it is.
#include "coordinator/plan/field_uses.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/options/option.h"
#include "coordinator/plan/plan_builder.h"
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

const std::vector<Use> kRegionUses = {
    {"fsync", "write random-mix sequential-mix"},
    {"close", "write read stride-read random-mix sequential-mix"},
    {"open", "write read stride-read random-mix sequential-mix"},
};

TEST_CASE("a phase takes what its timed region can have, and refuses what has no effect in it") {
  for (const Use& use : kRegionUses) {
    for (const std::string& operation : kOperations) {
      const bool is_used = absl::StrCat(" ", use.used_by, " ").find(absl::StrCat(" ", operation, " ")) != std::string::npos;
      v1::Plan plan = PlanWith(operation, "");
      v1::TimedRegion& region = *plan.mutable_phases(0)->mutable_region();
      if (use.field == "fsync") region.set_fsync(true);
      if (use.field == "close") region.set_close(true);
      if (use.field == "open") region.set_open(true);
      const absl::Status status = CheckFieldsHaveUse(plan);
      INFO(operation << " with region." << use.field << ": " << status);
      CHECK(status.ok() == is_used);
    }
  }
}

TEST_CASE("one operation of a phase that uses the region is enough, and false asks for nothing") {
  v1::Plan plan = PlanWith("read", "");
  plan.mutable_phases(0)->mutable_region()->set_fsync(true);
  CHECK(CheckFieldsHaveUse(plan).message() == "phase read: read does not use region.fsync (-e): leave it out");
  plan.mutable_phases(0)->add_assignments()->mutable_operation()->set_name("write");
  CHECK(CheckFieldsHaveUse(plan).ok());
  plan = PlanWith("read", "");
  plan.mutable_phases(0)->mutable_region()->set_fsync(false);
  CHECK(CheckFieldsHaveUse(plan).ok());
}

TEST_CASE("-e goes to the phases that write; if there are none, a note says so, and a run on names alone is refused") {
  const auto plan_of = [](const std::vector<const char*>& operations) {
    GivenOptions given;
    for (const char* operation : operations) REQUIRE(given.Add("op", operation).ok());
    REQUIRE(given.Add("fsync-in-timing").ok());
    const auto plan = BuildPlan(given, {});
    REQUIRE(plan.ok());
    return *plan;
  };
  const v1::Plan both = plan_of({"write", "read"});
  CHECK(both.phases(0).region().fsync());
  CHECK_FALSE(both.phases(both.phases_size() - 1).region().fsync());
  CHECK(both.notes().empty());
  const v1::Plan reads = plan_of({"read"});
  REQUIRE(reads.notes_size() == 1);
  CHECK(reads.notes(0) == "-e (--fsync-in-timing) has no effect: no operation in this run writes");
  GivenOptions names;
  REQUIRE(names.Add("op", "create").ok());
  REQUIRE(names.Add("fsync-in-timing").ok());
  CHECK(BuildPlan(names, {}).status().message() ==
        "-e (--fsync-in-timing): metadata operations ignore it, and this run has no others");
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
