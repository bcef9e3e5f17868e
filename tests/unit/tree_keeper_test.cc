#include "worker/metadata/tree_keeper.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/unit/tree_test_support.h"

namespace iobench {
namespace {

TEST_CASE("an operation that finds nothing has its items prepared") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(20, 1, 4);
  tree.set_file_bytes(100);
  TreeLane lane(directory, tree, 5);
  const auto prepared = lane.Prepares("get-xattr");
  REQUIRE(prepared.ok());
  REQUIRE(prepared->made == 20);
  REQUIRE(prepared->bytes == 2000);
  REQUIRE(directory.CountOf("item-") == 20);
  REQUIRE(directory.ContentOf("tree-000005.0/d3/item-00000019").size() == 100);
  REQUIRE(lane.Runs().reason == LoopEnd::Reason::kDone);
}

TEST_CASE("what an attempt to start has prepared is prepared again by the next one") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(6);
  tree.set_file_bytes(100);
  TreeLane lane(directory, tree);
  for (const char* operation : {"get-xattr", "rmdir"}) {
    INFO(operation);
    REQUIRE(lane.Prepares(operation).ok());
    directory.Put("tree-000000.0/item-00000005", std::string(7, 'x'));  // called off in the middle of it
    REQUIRE(lane.Prepares(operation)->made == 6);
    REQUIRE(lane.Runs().reason == LoopEnd::Reason::kDone);
  }
  REQUIRE(lane.Prepares("open-close").ok());
  REQUIRE(directory.ContentOf("tree-000000.0/item-00000005").size() == 100);
}

TEST_CASE("where all is as it should be no item is touched") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(5));
  lane.Does("create");
  std::filesystem::remove(directory.At("tree-000000.0/item-00000003"));
  const auto prepared = lane.Prepares("stat");
  REQUIRE(prepared.ok());
  REQUIRE(prepared->made == 0);
  REQUIRE_FALSE(directory.Has("tree-000000.0/item-00000003"));
}

TEST_CASE("what is in the way is removed, by whatever names it has") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(6));
  lane.Does("create");
  lane.Does("rename");
  const auto prepared = lane.Prepares("create");
  REQUIRE(prepared.ok());
  REQUIRE(prepared->removed == 6);
  REQUIRE(directory.CountOf("moved-") == 0);
  REQUIRE(lane.Runs().reason == LoopEnd::Reason::kDone);
  REQUIRE(directory.CountOf("item-") == 6);
}

TEST_CASE("a part that was left half changed is cleared and made anew, and other lanes' items stay") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(8);
  tree.set_shared_directory(true);
  TreeLane other(directory, tree, 1);
  other.Does("create");
  TreeLane lane(directory, tree, 2);
  for (const char* name : {"item-000002-00000001", "moved-000002-00000002", "link-000002-00000000"}) {
    directory.Put(std::string("tree-shared.0/") + name);
  }
  std::filesystem::create_directory(directory.At("tree-shared.0/dir-000002-00000007"));
  lane.state().set_unknown(true);
  const auto prepared = lane.Prepares("stat");
  REQUIRE(prepared.ok());
  REQUIRE(prepared->removed == 8);
  REQUIRE(prepared->made == 8);
  REQUIRE(directory.CountOf("item-000002-") == 8);
  REQUIRE(directory.CountOf("item-000001-") == 8);
  REQUIRE(directory.Names().size() == 16);
}

TEST_CASE("preparing stops when told to, and names the path that fails") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(5));
  lane.quit.stop = true;
  REQUIRE(absl::IsCancelled(lane.Prepares("stat").status()));
  lane.quit.stop = false;
  std::filesystem::create_directory(directory.At("tree-000000.0/item-00000004"));
  const absl::Status failed = lane.Prepares("stat").status();
  REQUIRE(std::string(failed.message()).find(directory.path() + "/tree-000000.0/item-00000004") !=
          std::string::npos);
}

TEST_CASE("a tree's place that is taken by something else is an error, and a link is not followed") {
  const DataDirectory directory, elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), directory.At("tree-000000.0"));
  TreeLane lane(directory, TreeOf(5));
  REQUIRE(absl::IsFailedPrecondition(lane.Prepares("create").status()));
  REQUIRE(elsewhere.Names().empty());
}

TEST_CASE("a tree is removed with all that is ours") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(40, 2, 3));
  for (const char* operation : {"mkdir", "create", "link", "symlink", "rename"}) lane.Does(operation);
  std::vector<std::string> foreign;
  const auto removed = RemoveTree(directory.fd(), directory.path(), "tree-000000.0", 10, foreign);
  REQUIRE(removed.ok());
  REQUIRE(*removed == 4 * 40);
  REQUIRE(foreign.empty());
  REQUIRE(directory.Names().empty());
}

TEST_CASE("what is not ours in a tree is named and stays, and nothing is followed out of it") {
  const DataDirectory directory, elsewhere;
  elsewhere.Put("item-00000000");
  TreeLane lane(directory, TreeOf(6, 1, 2));
  lane.Does("create");
  lane.Does("mkdir");
  directory.Put("tree-000000.0/d0/notes.txt");
  std::filesystem::create_directory(directory.At("tree-000000.0/item-00000000"));  // no file
  std::filesystem::create_directory_symlink(elsewhere.path(), directory.At("tree-000000.0/d7"));
  directory.Put("tree-000000.0/d1/dir-00000005/mine");
  std::filesystem::create_symlink(elsewhere.path(), directory.At("tree-000000.0/d1/item-00000099"));
  std::vector<std::string> foreign;
  const auto removed = RemoveTree(directory.fd(), directory.path(), "tree-000000.0", 10, foreign);
  REQUIRE(removed.ok());
  REQUIRE(*removed == 11);
  std::sort(foreign.begin(), foreign.end());
  REQUIRE(foreign == std::vector<std::string>{"tree-000000.0/d0/notes.txt", "tree-000000.0/d1/dir-00000005/…",
                                              "tree-000000.0/d1/item-00000099", "tree-000000.0/d7",
                                              "tree-000000.0/item-00000000"});
  REQUIRE(directory.Has("tree-000000.0/d0/notes.txt"));
  REQUIRE(directory.Has("tree-000000.0/d1/dir-00000005/mine"));
  REQUIRE(elsewhere.Has("item-00000000"));
  std::vector<std::string> few;
  REQUIRE(RemoveTree(directory.fd(), directory.path(), "tree-000000.0", 2, few).ok());
  REQUIRE(few.size() == 2);
}

TEST_CASE("a tree of thousands is removed in one go") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(5000));
  lane.Does("create");
  std::vector<std::string> foreign;
  REQUIRE(*RemoveTree(directory.fd(), directory.path(), "tree-000000.0", 10, foreign) == 5000);
  REQUIRE(directory.Names().empty());
}

TEST_CASE("a link in place of a directory of a tree is an error and is not followed") {
  for (const uint32_t depth : {1u, 2u}) {
    INFO(depth);
    const DataDirectory directory, elsewhere;
    elsewhere.Put("item-00000000", "precious");
    std::filesystem::create_directory(directory.At("tree-000000.0"));
    std::filesystem::create_directory_symlink(elsewhere.path(), directory.At("tree-000000.0/d0"));
    TreeLane lane(directory, TreeOf(4, depth, 2));
    const absl::Status refused = lane.Prepares("unlink").status();
    REQUIRE(absl::IsFailedPrecondition(refused));
    REQUIRE(std::string(refused.message()).find("tree-000000.0/d0") != std::string::npos);
    REQUIRE(elsewhere.Names().size() == 1);
    REQUIRE(elsewhere.ContentOf("item-00000000") == "precious");
  }
}

}  // namespace
}  // namespace iobench
