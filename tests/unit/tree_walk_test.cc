// `find` of the metadata engine examines each item once, counts those that match and stops where it should.
#include <catch2/catch.hpp>

#include "tests/unit/tree_test_support.h"

namespace iobench {
namespace {

using Reason = LoopEnd::Reason;

// What std::filesystem finds below the directory: files of this name and size.
uint64_t CountOf(const DataDirectory& directory, const std::string& part, uint64_t bytes) {
  uint64_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
    if (!entry.is_regular_file() || entry.path().filename().string().find(part) == std::string::npos)
      continue;
    count += entry.file_size() == bytes ? 1 : 0;
  }
  return count;
}

TEST_CASE("each item is looked at once, and those of the name and the size are counted") {
  for (const bool shared : {false, true}) {
    INFO(shared);
    const DataDirectory directory;
    v1::Tree tree = TreeOf(1500, 1, 3);
    tree.set_shared_directory(shared);
    tree.set_file_bytes(11);
    tree.set_random_sizes(true);
    tree.set_min_file_bytes(10);
    TreeLane lane(directory, tree, 3);
    lane.Does("create");
    lane.Does("find");
    REQUIRE(lane.recorder().ops_of(OpKind::kFind) == 1500);
    REQUIRE(lane.engine().found_items() == 1500);  // all of them, without conditions
    lane.tree().mutable_find()->set_bytes(10);
    lane.Does("find");
    const uint64_t of_ten_bytes = CountOf(directory, "item", 10);
    REQUIRE(of_ten_bytes > 600);
    REQUIRE(of_ten_bytes < 900);
    REQUIRE(lane.engine().found_items() == of_ten_bytes);
    lane.tree().mutable_find()->set_name("*-*01*");
    lane.Does("find");
    REQUIRE(lane.engine().found_items() == CountOf(directory, "01", 10));
    lane.tree().mutable_find()->clear_bytes();
    lane.Does("find");
    REQUIRE(lane.engine().found_items() == CountOf(directory, "01", 10) + CountOf(directory, "01", 11));
    lane.tree().mutable_find()->set_name("01*");
    lane.Does("find");
    REQUIRE(lane.engine().found_items() == 0);
    REQUIRE(lane.recorder().ops() == 1500);
  }
}

TEST_CASE("a lane looks at its own part of a shared directory, and passes over links and directories") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(40);
  tree.set_shared_directory(true);
  TreeLane one(directory, tree, 1), other(directory, tree, 2);
  one.Does("create");
  one.Does("link");
  one.Does("symlink");
  one.Does("mkdir");
  other.Does("create");
  one.tree().mutable_find()->set_name("item-000001-*");
  other.tree().mutable_find()->set_name("item-000002-*");
  for (TreeLane* lane : {&one, &other}) {
    lane->Does("find");
    REQUIRE(lane->recorder().ops() == 40);
    REQUIRE(lane->engine().found_items() == 40);
  }
  one.Does("rename");
  one.tree().mutable_find()->set_name("moved-*");
  one.Does("find");
  REQUIRE(one.engine().found_items() == 40);
}

TEST_CASE("a listing that misses items ends find with the directory and both numbers") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(30, 1, 3));
  lane.Does("create");
  std::filesystem::remove(directory.At("tree-000000.0/d1/item-00000015"));
  REQUIRE(lane.Prepares("find").ok());
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  REQUIRE(lane.recorder().ops() == 19);
  const auto failed = lane.engine().Explain(end);
  REQUIRE(failed->file == directory.path() + "/tree-000000.0/d1");
  REQUIRE(std::string(failed->status.message())
              .find("tree-000000.0/d1: the listing names 9 of this lane's 10 items") != std::string::npos);
}

TEST_CASE("find goes round, and counts what it finds each time") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(20, 1, 2));
  lane.Does("create");
  lane.tree().mutable_find()->set_name("*5");
  REQUIRE(lane.Prepares("find").ok());
  REQUIRE(lane.Runs({.repeat_passes = true, .ops_goal = 60}).reason == Reason::kGoal);
  REQUIRE(lane.engine().found_items() == 3 * 2);  // 05 and 15
}

}  // namespace
}  // namespace iobench
