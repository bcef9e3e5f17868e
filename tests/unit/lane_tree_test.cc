#include "worker/metadata/lane_tree.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "common/model/phase_check.h"

namespace iobench {
namespace {

v1::Tree TreeOf(uint64_t items, uint32_t depth = 0, uint32_t branching = 1, bool shared = false) {
  v1::Tree tree;
  tree.set_items_per_lane(items);
  tree.set_depth(depth);
  tree.set_branching(branching);
  tree.set_shared_directory(shared);
  return tree;
}

TEST_CASE("a flat tree is one directory, and items are numbered with eight digits") {
  const LaneTree tree(TreeOf(100), 0, 3);
  REQUIRE(tree.root_name() == "tree-000003.0");
  REQUIRE(tree.directory_count() == 1);
  REQUIRE(tree.PathOfDirectory(0) == ".");
  REQUIRE(tree.PathOf(NameKind::kItem, 42) == "item-00000042");
  REQUIRE(tree.PathOf(NameKind::kMoved, 0) == "moved-00000000");
  REQUIRE(tree.PathOf(NameKind::kLeaf, 99) == "dir-00000099");
  const LaneTree largest(TreeOf(kMaxItemsPerLane), 0, 3);
  REQUIRE(largest.PathOf(NameKind::kLink, kMaxItemsPerLane - 1) == "link-99999999");
}

TEST_CASE("items fill the directories of the lowest level in blocks") {
  // 3 x 3 = 9 directories for 20 items: 3 in each, so that 7 directories are enough, the last with 2.
  const LaneTree tree(TreeOf(20, 2, 3), 1, 12);
  REQUIRE(tree.root_name() == "tree-000012.1");
  REQUIRE(tree.directory_count() == 7);
  REQUIRE(tree.PathOf(NameKind::kItem, 0) == "d0/d0/item-00000000");
  REQUIRE(tree.PathOf(NameKind::kItem, 2) == "d0/d0/item-00000002");
  REQUIRE(tree.PathOf(NameKind::kItem, 3) == "d0/d1/item-00000003");
  REQUIRE(tree.PathOf(NameKind::kSymlink, 19) == "d2/d0/symlink-00000019");
  REQUIRE(tree.PathOfDirectory(5) == "d1/d2");
  REQUIRE(tree.ItemsIn(0, 20) == 3);
  REQUIRE(tree.ItemsIn(6, 20) == 2);
  REQUIRE(tree.ItemsIn(1, 4) == 1);  // of the first four items
  REQUIRE(tree.ItemsIn(2, 4) == 0);
}

TEST_CASE("in a shared tree names say whose they are") {
  const LaneTree tree(TreeOf(5, 1, 2, true), 2, 7);
  REQUIRE(tree.root_name() == "tree-shared.2");
  REQUIRE(tree.PathOf(NameKind::kItem, 4) == "d1/item-000007-00000004");
}

TEST_CASE("a path writer gives every path whatever the order") {
  const LaneTree tree(TreeOf(30, 1, 4), 0, 0);
  PathWriter writer(tree, NameKind::kItem, "/proc/self/fd/5/");
  std::set<std::string> seen;
  for (const uint64_t start : {0, 1, 2, 3, 4}) {
    for (uint64_t item = start; item < 30; item += 5) {
      const std::string path = writer.Of(tree.DirectoryOf(item), item);
      REQUIRE(path == "/proc/self/fd/5/" + tree.PathOf(NameKind::kItem, item));
      seen.insert(path);
    }
  }
  REQUIRE(seen.size() == 30);
  PathWriter copy = writer;  // independent of the original
  REQUIRE(std::string(copy.Of(0, 1)) == "/proc/self/fd/5/d0/item-00000001");
  REQUIRE(std::string(writer.Of(3, 29)) == "/proc/self/fd/5/d3/item-00000029");
  REQUIRE(std::string(copy.Of(0, 2)) == "/proc/self/fd/5/d0/item-00000002");
}

TEST_CASE("names of ours are known, and nothing else is") {
  for (const char* ours : {"tree-000003.0", "tree-1234567.12", "tree-shared.0"}) REQUIRE(IsTreeName(ours));
  for (const char* other : {"tree-3.0", "tree-000003", "tree-000003.", "tree-000003.0x", "tree-shared",
                            "trees", "Tree-000003.0", "tree-shared.0/x"}) {
    REQUIRE_FALSE(IsTreeName(other));
  }
  REQUIRE(IsTreeDirectoryName("d0"));
  REQUIRE(IsTreeDirectoryName("d12345"));
  for (const char* other : {"d", "dx", "d1a", "data", "D1"}) REQUIRE_FALSE(IsTreeDirectoryName(other));
  REQUIRE(IsItemName(NameKind::kItem, "item-00000042"));
  REQUIRE(IsItemName(NameKind::kItem, "item-000003-00000042"));
  REQUIRE(IsItemName(NameKind::kLeaf, "dir-00000000"));
  for (const char* other : {"item-0000042", "item-000000042", "item-", "item-00000042.txt", "moved-00000042",
                            "item-3-00000042"}) {
    REQUIRE_FALSE(IsItemName(NameKind::kItem, other));
  }
}

}  // namespace
}  // namespace iobench
