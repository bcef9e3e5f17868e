#include "coordinator/plan/check/metadata_plan.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/model/plan_traits.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"

namespace iobench {
namespace {

// One phase with this operation, completed.
v1::Plan PlanOf(const std::string& operation, const std::string& tree = "items_per_lane: 100",
                const std::string& more = "") {
  const auto plan = ParsePlan("phases: [{assignments: [{operation: {name: " + operation + ", tree: {" + tree +
                                  "}}}]" + (more.empty() ? "" : ", " + more) + "}]",
                              "test");
  REQUIRE(plan.ok());
  v1::Plan complete = *plan;
  CompletePlan(complete);
  return complete;
}

std::string ErrorOf(const v1::Plan& plan) {
  return std::string(CheckPlan(plan).message());
}

TEST_CASE("a plan of metadata operations needs neither size nor record") {
  const v1::Plan plan = PlanOf("stat");
  REQUIRE(plan.files().bytes_per_lane() == 0);
  REQUIRE(ErrorOf(plan).empty());
  REQUIRE(IsMetadata(plan.phases(0)));
  REQUIRE_FALSE(WorksOnData(plan));
  REQUIRE(plan.phases(0).assignments(0).operation().engine() == "metadata");
  REQUIRE(plan.phases(0).assignments(0).operation().record_bytes() == 0);
}

TEST_CASE("defaults of trees are written out") {
  v1::Plan plan;
  plan.add_phases()->add_assignments()->mutable_operation()->set_name("get-xattr");
  plan.add_phases()->add_assignments()->mutable_operation()->set_name("file-mix");
  plan.mutable_phases(0)->mutable_region()->set_close(true);
  CompletePlan(plan);
  const v1::Tree& first = plan.phases(0).assignments(0).operation().tree();
  REQUIRE(first.items_per_lane() == 10'000);
  REQUIRE(first.xattr_bytes() == 64);
  REQUIRE(first.branching() == 1);
  REQUIRE(plan.phases(1).assignments(0).operation().tree().file_bytes() == 4096);
  REQUIRE_FALSE(plan.phases(0).region().close());  // each op closes what it opens
  REQUIRE(CheckPlan(plan).ok());
}

TEST_CASE("trees that make no sense are refused with what to do") {
  const struct {
    const char* operation;
    const char* tree;
    const char* says;
  } cases[] = {
      {"create", "items_per_lane: 0", "items_per_lane is 0: use 1 or more (--items)"},
      {"create", "items_per_lane: 100000001", "more than 100000000"},
      {"create", "items_per_lane: 10, depth: 2", "--tree-branching"},
      {"create", "items_per_lane: 10, depth: 21, branching: 1", "deeper than 20"},
      {"create", "items_per_lane: 10, depth: 7, branching: 10", "more than 1000000 of them"},
      {"create", "items_per_lane: 10, file_bytes: 2g", "larger than 1 GiB"},
      {"set-xattr", "items_per_lane: 10, xattr_bytes: 100000", "65536"},
      {"file-mix", "items_per_lane: 10, random_order: true", "--random-order"},
      {"find", "items_per_lane: 10, random_order: true", "--random-order"},
      {"stat", "items_per_lane: 10, find: {bytes: 7}", "--find-bytes only apply to find"},
      {"create", "items_per_lane: 10, random_sizes: true", "give --file-bytes"},
      {"create", "items_per_lane: 10, sizes: zipf", "lognormal:MEDIAN/SIGMA"},
      {"create", "items_per_lane: 10, sizes: desktop, random_sizes: true, file_bytes: 10", "leave one of the two out"},
      {"create", "items_per_lane: 10, sizes: desktop, file_bytes: 0", "the largest file"},
      {"file-mix", "items_per_lane: 10, random_sizes: true", "give --file-bytes"},
      {"create", "items_per_lane: 10, file_bytes: 5, min_file_bytes: 2", "set random_sizes too"},
      {"create", "items_per_lane: 10, random_sizes: true, file_bytes: 5, min_file_bytes: 6",
       "the minimum is larger than the maximum"},
  };
  for (const auto& one : cases) {
    INFO(one.tree);
    const std::string error = ErrorOf(PlanOf(one.operation, one.tree));
    REQUIRE(error.find(one.says) != std::string::npos);
    REQUIRE(error.find(std::string("phase ") + one.operation) == 0);
  }
  REQUIRE(ErrorOf(PlanOf("create", "items_per_lane: 10, depth: 6, branching: 10")).empty());
}

TEST_CASE("only what leaves its items as they were can go round for a time") {
  for (const char* operation :
       {"stat", "open-close", "readdir", "find", "chmod", "set-xattr", "get-xattr", "file-mix", "recreate", "replace", "deliver", "open-many"}) {
    INFO(operation);
    REQUIRE(ErrorOf(PlanOf(operation, "items_per_lane: 9", "stop: {time_s: 5}")).empty());
  }
  for (const char* operation : {"create", "mkdir", "rename", "link", "symlink", "unlink", "rmdir"}) {
    INFO(operation);
    const std::string error = ErrorOf(PlanOf(operation, "items_per_lane: 9", "stop: {time_s: 5}"));
    REQUIRE(error.find(std::string(operation) + " can process each item only once, so --time") !=
            std::string::npos);
    REQUIRE(ErrorOf(PlanOf(operation, "items_per_lane: 9", "stop: {deadline_s: 5}")).empty());
  }
  REQUIRE(ErrorOf(PlanOf("create", "items_per_lane: 9, random_order: true", "stop: {deadline_s: 5}"))
              .find("--random-order") != std::string::npos);
}

TEST_CASE("options of data have no meaning for names, and are refused by their own names") {
  v1::Plan plan = PlanOf("stat");
  plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_direct(true);
  REQUIRE(ErrorOf(plan).find("-I (direct)") != std::string::npos);
  v1::Plan verified = PlanOf("open-close");
  verified.mutable_data()->set_verify(true);
  REQUIRE(ErrorOf(verified).find("--verify") == 0);
}

TEST_CASE("files of random sizes are another tree, and take the room that is likely") {
  const auto plan = ParsePlan(
      "phases:\n"
      "- assignments: [{operation: {name: create, tree: {items_per_lane: 10, file_bytes: 300}}}]\n"
      "- assignments: [{operation: {name: stat, tree: {items_per_lane: 10}}}]\n"
      "- assignments: [{operation: {name: create, tree: &random {items_per_lane: 10, file_bytes: 300, "
      "random_sizes: true, min_file_bytes: 100}}}]\n"
      "- assignments: [{operation: {name: find, tree: {<<: *random, find: {name: x}}}}]\n",
      "test");
  REQUIRE(plan.ok());
  v1::Plan complete = *plan;
  CompletePlan(complete);
  REQUIRE(ErrorOf(complete).empty());
  const TreeNumbers numbers(complete);
  const auto number = [&](int phase) {
    return numbers.Of(complete.phases(phase).assignments(0).operation());
  };
  REQUIRE(numbers.count() == 2);
  REQUIRE(number(0) == 0);
  REQUIRE(number(1) == 0);
  REQUIRE(number(2) == 1);
  REQUIRE(number(3) == 1);  // the name that find looks for does not need another tree
  REQUIRE(TreeBytesPerLane(complete) == 10 * 300 + 10 * 200 + 300);
}

TEST_CASE("files of a distribution are another tree, with room for its mean and six standard deviations") {
  const auto plan = ParsePlan(
      "phases:\n"
      "- assignments: [{operation: {name: create, tree: &sizes {items_per_lane: 100, sizes: 'pareto:100/3'}}}]\n"
      "- assignments: [{operation: {name: open-close, tree: *sizes}}]\n"
      "- assignments: [{operation: {name: create, tree: {<<: *sizes, file_bytes: 1000000}}}]\n"
      "- assignments: [{operation: {name: create, tree: {<<: *sizes, sizes: 'pareto:100/3.5'}}}]\n",
      "test");
  REQUIRE(plan.ok());
  v1::Plan complete = *plan;
  CompletePlan(complete);
  REQUIRE(ErrorOf(complete).empty());
  CHECK(complete.phases(0).assignments(0).operation().tree().file_bytes() == uint64_t{1} << 30);
  CHECK(TreeNumbers(complete).count() == 3);
  // A mean of 150 and one byte for rounding; a deviation of sqrt(7500) = 86.6, 6 x sqrt(100) times.
  complete.mutable_phases()->DeleteSubrange(1, 3);
  CHECK(TreeBytesPerLane(complete) == 100 * 151 + 5'196);
}

TEST_CASE("names are those of each lane, of all lanes of a target, or the one that a lock needs") {
  struct Row {
    const char* operation;
    uint64_t names_of_one_lane, names_of_eight;
  };
  for (const Row& row : std::vector<Row>{{"create", 100, 800}, {"open-many", 100, 100}, {"lock", 1, 1}}) {
    const v1::Plan plan = PlanOf(row.operation);
    INFO(row.operation);
    CHECK(NamesOfTree(plan.phases(0).assignments(0).operation(), 8) == row.names_of_eight);
    CHECK(TreeNamesPerLane(plan) == row.names_of_one_lane);
  }
}

TEST_CASE("space is what the largest files of each tree take, twice that where a mix appends to them") {
  v1::Plan plan;
  const auto add = [&plan](const char* name, uint64_t items, uint64_t file_bytes) {
    v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
    operation.set_name(name);
    operation.mutable_tree()->set_items_per_lane(items);
    operation.mutable_tree()->set_file_bytes(file_bytes);
  };
  add("create", 10, 1000);
  add("open-close", 10, 500);
  add("create", 7, 100);
  CompletePlan(plan);
  REQUIRE(TreeBytesPerLane(plan) == 10 * 1000 + 7 * 100);
  add("file-mix", 10, 600);
  CompletePlan(plan);
  REQUIRE(TreeBytesPerLane(plan) == 10 * 1200 + 7 * 100);
  plan.mutable_phases(2)->mutable_assignments(0)->mutable_operation()->set_engine("null");
  REQUIRE(TreeBytesPerLane(plan) == 10 * 1200);
}

}  // namespace
}  // namespace iobench
