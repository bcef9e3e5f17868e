#include "common/model/tree_state.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/model/metadata_operation.h"

namespace iobench {
namespace {

v1::Tree TreeOf(uint64_t file_bytes = 0, uint32_t xattr_bytes = 64) {
  v1::Tree tree;
  tree.set_items_per_lane(10);
  tree.set_file_bytes(file_bytes);
  tree.set_xattr_bytes(xattr_bytes);
  return tree;
}

TreeEffect EffectOf(const char* name) {
  return iobench::EffectOf(**FindOperation(name));
}

// Follows operations, and says which of them prepared or removed something before they ran.
class Story {
 public:
  explicit Story(const v1::Tree& tree = TreeOf()) : tree_(tree) {}
  Story& Does(const char* name) {
    const TreeEffect effect = EffectOf(name);
    if (!PartsMissing(state, effect, tree_).empty()) prepared.push_back(name);
    if (!PartsInTheWay(state, effect, tree_).empty()) cleared.push_back(name);
    state = StateAfter(state, effect, tree_);
    return *this;
  }
  Story& WithFilesOf(uint64_t bytes) { return tree_.set_file_bytes(bytes), *this; }

  v1::TreeState state;
  std::vector<std::string> prepared, cleared;

 private:
  v1::Tree tree_;
};

TEST_CASE("the whole suite in its order needs nothing prepared") {
  Story story;
  for (const char* name : {"mkdir", "create", "stat", "readdir", "open-close", "chmod", "set-xattr",
                           "get-xattr", "rename", "stat", "link", "symlink", "file-mix", "unlink", "rmdir"}) {
    story.Does(name);
  }
  REQUIRE(story.prepared.empty());
  REQUIRE(story.cleared.empty());
  REQUIRE(PartsThere(story.state) == TreeParts{TreePart::kLinks, TreePart::kSymlinks});
}

TEST_CASE("an operation that finds nothing has what it needs prepared, and leaves it") {
  for (const char* name :
       {"stat", "readdir", "open-close", "chmod", "set-xattr", "rename", "link", "file-mix", "recreate", "replace", "deliver"}) {
    INFO(name);
    Story story;
    story.Does(name);
    REQUIRE(story.prepared == std::vector<std::string>{name});
    REQUIRE(story.state.files());
  }
  REQUIRE(Story().Does("get-xattr").state.xattr_bytes() == 64);
  REQUIRE_FALSE(Story().Does("unlink").state.files());
  REQUIRE(Story().Does("rmdir").prepared == std::vector<std::string>{"rmdir"});
  for (const char* name : {"mkdir", "create", "symlink"}) REQUIRE(Story().Does(name).prepared.empty());
}

TEST_CASE("what an operation makes must not be there: it is removed first") {
  for (const char* name : {"mkdir", "create", "link", "symlink"}) {
    INFO(name);
    Story story;
    story.Does("create").Does(name);
    story.cleared.clear();
    story.Does(name);
    REQUIRE(story.cleared == std::vector<std::string>{name});
  }
  REQUIRE(Story().Does("create").Does("unlink").Does("create").cleared.empty());
}

TEST_CASE("rename goes to the second names and back") {
  Story story;
  REQUIRE(story.Does("create").Does("rename").state.renamed());
  REQUIRE(story.Does("stat").state.renamed());
  REQUIRE_FALSE(story.Does("rename").state.renamed());
  REQUIRE_FALSE(story.Does("rename").Does("create").state.renamed());  // new files, first names
  REQUIRE_FALSE(story.Does("rename").Does("unlink").state.renamed());
  REQUIRE(story.prepared.empty());
}

TEST_CASE("attributes go with their files") {
  REQUIRE(Story().Does("create").Does("set-xattr").Does("rename").state.xattr_bytes() == 64);
  REQUIRE(Story().Does("create").Does("set-xattr").Does("file-mix").state.xattr_bytes() == 0);
  Story story;
  story.Does("create").Does("set-xattr").Does("create").Does("get-xattr");
  REQUIRE(story.prepared == std::vector<std::string>{"get-xattr"});
}

TEST_CASE("files that are too short for a read are made anew, and those that are long enough stay") {
  Story story(TreeOf(100));
  story.Does("create").Does("open-close");
  REQUIRE(story.prepared.empty());
  story.WithFilesOf(50).Does("open-close");
  REQUIRE(story.prepared.empty());
  story.Does("rename").WithFilesOf(200).Does("stat");  // looks at no data
  REQUIRE(story.prepared.empty());
  story.Does("open-close");
  REQUIRE(story.prepared == std::vector<std::string>{"open-close"});
  REQUIRE(story.cleared == std::vector<std::string>{"open-close"});
  REQUIRE(story.state.file_bytes() == 200);
  REQUIRE_FALSE(story.state.renamed());
}

TEST_CASE("what goes round for a time leaves what it needs") {
  for (const OperationSpec& spec : Operations()) {
    if (!spec.is_metadata()) continue;
    INFO(spec.name);
    const TreeEffect effect = iobench::EffectOf(spec);
    const v1::TreeState after = StateAfter({}, effect, TreeOf(10));
    const bool again = PartsMissing(after, effect, TreeOf(10)).empty() &&
                       PartsInTheWay(after, effect, TreeOf(10)).empty() && !effect.renames && !effect.grows;
    REQUIRE(effect.repeats == again);
  }
}

}  // namespace
}  // namespace iobench
