#include "worker/metadata/metadata_engine.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/metadata_operation.h"
#include "tests/support/rights_guard.h"
#include "tests/unit/tree_test_support.h"
#include "worker/engine/file_lock.h"
#include "worker/metadata/item_calls.h"
#include "worker/metadata/tree_walk.h"

namespace iobench {
namespace {

using Reason = LoopEnd::Reason;

mode_t ModeOf(const std::filesystem::path& path) {
  struct stat facts {};
  REQUIRE(lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

std::string XattrOf(const std::filesystem::path& path) {
  char value[100];
  const ssize_t bytes = getxattr(path.c_str(), kXattrName, value, sizeof(value));
  return bytes < 0 ? "none" : std::string(value, static_cast<size_t>(bytes));
}

TEST_CASE("each operation does its call on every item, and the whole suite leaves what it should") {
  for (const bool shared : {false, true}) {
    for (const bool random_order : {false, true}) {
      const DataDirectory directory;
      v1::Tree tree = TreeOf(50, 2, 2);  // 13 items in each of 4 directories, 11 in the last
      tree.set_shared_directory(shared);
      tree.set_random_order(random_order);
      TreeLane lane(directory, tree, 3);
      const std::string root = shared ? "tree-shared.0" : "tree-000003.0";
      const std::string item = shared ? "item-000003-" : "item-";
      lane.Does("mkdir");
      REQUIRE(directory.CountOf("dir-") == 50);
      lane.Does("create");
      REQUIRE(directory.CountOf("item-") == 50);
      REQUIRE(directory.Has(root + "/d0/d0/" + item + "00000012"));
      REQUIRE(directory.Has(root + "/d1/d1/" + item + "00000039"));
      lane.Does("stat");
      lane.Does("readdir");
      REQUIRE(lane.recorder().ops() == 4);
      lane.Does("open-close");
      lane.Does("chmod");
      const std::filesystem::path first = directory.At(root + "/d0/d0/" + item + "00000000");
      const mode_t mode = ModeOf(first);
      REQUIRE(mode != 0640);
      lane.Does("set-xattr");
      REQUIRE(XattrOf(first).size() == 16);
      lane.Does("get-xattr");
      lane.Does("rename");
      REQUIRE(directory.CountOf("item-") == 0);
      REQUIRE(directory.CountOf("moved-") == 50);
      lane.Does("stat");
      lane.Does("link");
      lane.Does("symlink");
      const std::string number = (shared ? "000003-" : "") + std::string("00000007");
      const std::filesystem::path symlink = directory.At(root + "/d0/d0/symlink-" + number);
      REQUIRE(std::filesystem::read_symlink(symlink) == "moved-" + number);
      REQUIRE(std::filesystem::exists(symlink));  // it leads somewhere
      REQUIRE(std::filesystem::hard_link_count(directory.At(root + "/d0/d0/link-" + number)) == 2);
      lane.Does("rename");
      REQUIRE(directory.CountOf("item-") == 50);
      lane.Does("unlink");
      REQUIRE(directory.CountOf("item-") == 0);
      lane.Does("rmdir");
      REQUIRE(directory.CountOf("dir-") == 0);
      REQUIRE(directory.CountOf("link-") == 50);
      REQUIRE(directory.CountOf("symlink-") == 50);
    }
  }
}

// Not every file system has what these ask for, which is told in one line then.
bool MayLack(const MetadataSpec& spec) {
  return spec.effect.uses_contents || spec.kind == OpKind::kClone;
}

TEST_CASE("every row of the table has a function that does a pass on what is prepared for it") {
  for (const MetadataSpec& spec : MetadataOperations()) {
    INFO(spec.name);
    const DataDirectory directory;
    v1::Tree tree = spec.effect.moves ? TreeOf(10, 1, 2) : TreeOf(10);
    if (spec.effect.uses_contents) tree.set_file_bytes(3901);
    TreeLane lane(directory, tree);
    REQUIRE(lane.Prepares(std::string(spec.name).c_str()).ok());
    const LoopEnd end = lane.Runs();
    if (MayLack(spec) && end.reason == Reason::kFailed && end.errno_value == EOPNOTSUPP) {
      const std::string message(lane.engine().Explain(end)->status.message());
      CHECK(message.find("leave out " + std::string(spec.name)) != std::string::npos);
      continue;
    }
    REQUIRE(end.reason == Reason::kDone);
    REQUIRE(lane.recorder().ops_of(spec.kind) > 0);
    for (const OpKind kind : spec.cycle) {
      const auto per_item = static_cast<uint64_t>(std::count(spec.cycle.begin(), spec.cycle.end(), kind));
      REQUIRE(lane.recorder().ops_of(kind) == 10 * per_item);
    }
  }
}

TEST_CASE("a copy has the contents of its original, and takes its name") {
  for (const char* const operation : {"copy", "copy-range"}) {
    INFO(operation);
    const DataDirectory directory;
    v1::Tree tree = TreeOf(3);
    tree.set_file_bytes(kLargestPieceBytes + 100);
    TreeLane lane(directory, tree);
    lane.Does("create");
    const std::string name = "tree-000000.0/item-00000001";
    const std::string before = directory.ContentOf(name);
    struct stat original {}, copy {};
    REQUIRE(stat(directory.At(name).c_str(), &original) == 0);
    lane.Does(operation);
    REQUIRE(stat(directory.At(name).c_str(), &copy) == 0);
    CHECK(copy.st_ino != original.st_ino);
    CHECK(directory.ContentOf(name) == before);
    CHECK(directory.CountOf("item-") == 3);
    CHECK(directory.CountOf("moved-") == 0);
    CHECK(lane.recorder().bytes() == 3 * (kLargestPieceBytes + 100));
  }
}

TEST_CASE("files that were cut and extended, or of which holes were made, keep their size and lose what they held") {
  for (const char* const operation : {"resize", "reallocate", "zero-range"}) {
    INFO(operation);
    const DataDirectory directory;
    v1::Tree tree = TreeOf(3);
    tree.set_file_bytes(10'000);
    TreeLane lane(directory, tree);
    lane.Does("create");
    REQUIRE(lane.Prepares(operation).ok());
    const LoopEnd end = lane.Runs();
    if (end.reason == Reason::kFailed && end.errno_value == EOPNOTSUPP) continue;  // such as on tmpfs
    REQUIRE(end.reason == Reason::kDone);
    CHECK(lane.recorder().bytes() == 0);
    CHECK(directory.ContentOf("tree-000000.0/item-00000001") == std::string(10'000, '\0'));
  }
}

TEST_CASE("an append adds the size of a file once more, and links that are read lead to their files") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(3);
  tree.set_file_bytes(100);
  TreeLane lane(directory, tree);
  lane.Does("create");
  lane.Does("append");
  CHECK(directory.ContentOf("tree-000000.0/item-00000002").size() == 200);
  REQUIRE(lane.Prepares("readlink").ok());  // which makes the links
  REQUIRE(lane.Runs().reason == Reason::kDone);
  CHECK(lane.recorder().ops_of(OpKind::kReadlink) == 3);
  CHECK(std::filesystem::read_symlink(directory.At("tree-000000.0/symlink-00000002")) == "item-00000002");
  lane.Does("utimes");
  lane.Does("chown");
  lane.Does("list-long");
  CHECK(lane.recorder().ops() == 1);
  CHECK(lane.recorder().ops_of(OpKind::kListLong) == 1);
}

TEST_CASE("every op is recorded with its kind, and small files' bytes are counted") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(20);
  tree.set_file_bytes(3901);
  TreeLane lane(directory, tree);
  lane.Does("create");
  REQUIRE(lane.recorder().ops_of(OpKind::kCreate) == 20);
  REQUIRE(lane.recorder().bytes() == 20 * 3901);
  const std::string first = directory.ContentOf("tree-000000.0/item-00000000");
  REQUIRE(first.size() == 3901);
  REQUIRE(first != directory.ContentOf("tree-000000.0/item-00000001"));
  lane.Does("open-close");
  REQUIRE(lane.recorder().bytes() == 20 * 3901);
  lane.Does("stat");
  REQUIRE(lane.recorder().ops_of(OpKind::kStat) == 20);
  REQUIRE(lane.recorder().bytes() == 0);
}

TEST_CASE("files larger than a piece are written and read whole") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(2);
  tree.set_file_bytes(kLargestPieceBytes + 100);
  TreeLane lane(directory, tree);
  lane.Does("create");
  REQUIRE(directory.ContentOf("tree-000000.0/item-00000001").size() == kLargestPieceBytes + 100);
  lane.Does("open-close");
  REQUIRE(lane.recorder().bytes() == 2 * (kLargestPieceBytes + 100));
}

TEST_CASE("a mix keeps its set, and files that were there longest are new") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(10);
  tree.set_file_bytes(100);
  TreeLane lane(directory, tree);
  lane.Does("create");
  lane.Does("file-mix");
  REQUIRE(directory.CountOf("item-") == 10);
  for (const OpKind kind : {OpKind::kOpenClose, OpKind::kAppend, OpKind::kUnlink, OpKind::kCreate}) {
    REQUIRE(lane.recorder().ops_of(kind) == 10);
  }
  // Items 0 to 4 were created anew before the rounds of the second half appended to them; the others, afterwards.
  REQUIRE(directory.ContentOf("tree-000000.0/item-00000000").size() == 200);
  REQUIRE(directory.ContentOf("tree-000000.0/item-00000009").size() == 100);
}

TEST_CASE("files that are made anew are the same set with new contents, and none is left under its other name") {
  for (const char* const operation : {"recreate", "replace", "deliver"}) {
    INFO(operation);
    const DataDirectory directory;
    v1::Tree tree = TreeOf(10);
    tree.set_file_bytes(100);
    TreeLane lane(directory, tree);
    lane.Does("create");
    const mode_t mode = 0600;
    std::filesystem::permissions(directory.At("tree-000000.0/item-00000003"), std::filesystem::perms(mode));
    lane.Does(operation);
    REQUIRE(ModeOf(directory.At("tree-000000.0/item-00000003")) != mode);
    REQUIRE(directory.CountOf("item-") == 10);
    REQUIRE(directory.CountOf("moved-") == 0);
    REQUIRE(directory.ContentOf("tree-000000.0/item-00000003").size() == 100);
    const bool removes = std::string(operation) != "replace", renames = std::string(operation) != "recreate";
    REQUIRE(lane.recorder().ops_of(OpKind::kCreate) == 10);
    REQUIRE(lane.recorder().ops_of(OpKind::kUnlink) == (removes ? 10 : 0));
    REQUIRE(lane.recorder().ops_of(OpKind::kRename) == (renames ? 10 : 0));
  }
}

TEST_CASE("a move puts each file into the next directory, and back") {
  for (const bool confined : {false, true}) {
    const DataDirectory directory;
    std::optional<RightsGuard> guard;
    if (confined) guard.emplace(OverNetwork({directory.path()}));
    TreeLane lane(directory, TreeOf(6, 1, 3));  // two items in each directory
    lane.Does("create");
    const std::vector<std::string> before = directory.Names();
    lane.Does("move");
    CHECK(directory.Names() == before);
    CHECK(lane.recorder().ops_of(OpKind::kRename) == 12);
    REQUIRE(lane.Prepares("move").ok());
    REQUIRE(lane.Runs({.ops_goal = 11}).reason == Reason::kGoal);
    CHECK_FALSE(directory.Has("tree-000000.0/d2/item-00000005"));
    CHECK(directory.Has("tree-000000.0/d0/moved-00000005"));  // the directory after the last one is the first
    CHECK(directory.Has("tree-000000.0/d2/item-00000004"));
    // As after a lane that failed there.
    lane.state().set_unknown(true);
    REQUIRE(lane.Prepares("create").ok());
    CHECK(directory.CountOf("moved-") == 0);
    CHECK(directory.CountOf("item-") == 0);
  }
}

TEST_CASE("a tree is removed with its directories, and each removal is an op") {
  for (const bool confined : {false, true}) {
    const DataDirectory directory;
    std::optional<RightsGuard> guard;
    if (confined) guard.emplace(OverNetwork({directory.path()}));
    TreeLane lane(directory, TreeOf(25, 2, 3));  // three items in each of nine directories, but for the last one
    lane.Does("create");
    lane.Does("rename");
    lane.Does("remove-tree");
    CHECK(std::filesystem::is_empty(directory.At("tree-000000.0")));
    CHECK(lane.recorder().ops_of(OpKind::kUnlink) == 25);
    CHECK(lane.recorder().ops_of(OpKind::kRmdir) == 9 + 3);
    lane.Does("create");  // in directories that are made again
    CHECK(directory.CountOf("item-") == 25);
  }
}

TEST_CASE("a tree has other names removed first, and one of others' is in the way of its directory") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(4, 1, 2));
  for (const char* const operation : {"create", "link", "symlink", "mkdir"}) lane.Does(operation);
  REQUIRE(lane.Prepares("remove-tree").ok());
  CHECK(directory.Names().size() == 4);
  directory.Put("tree-000000.0/d0/notes");
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  CHECK(end.errno_value == ENOTEMPTY);
  const std::string message(lane.engine().Explain(end)->status.message());
  CHECK(message.find("rmdir " + directory.path() + "/tree-000000.0/d0") == 0);
  CHECK(directory.Has("tree-000000.0/d0/notes"));
}

TEST_CASE("an item that is gone before its tree is removed is an error") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(6, 1, 2));
  lane.Does("create");
  std::filesystem::remove(directory.At("tree-000000.0/d0/item-00000001"));
  REQUIRE(lane.Prepares("remove-tree").ok());
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  const std::string message(lane.engine().Explain(end)->status.message());
  CHECK(message.find("tree-000000.0/d0: the listing names 2 of this lane's 3 items") != std::string::npos);
}

TEST_CASE("lanes take turns with the lock of a phase, and each turn counts") {
  const DataDirectory directory;
  constexpr uint32_t kLanes = 3, kTurns = 200;
  std::vector<std::unique_ptr<TreeLane>> lanes;
  for (uint32_t i = 0; i < kLanes; ++i) {
    lanes.push_back(std::make_unique<TreeLane>(directory, TreeOf(kTurns)));
    lanes.back()->works_as = i;
    REQUIRE(lanes.back()->Prepares("lock").ok());
  }
  std::vector<LoopEnd> ends(kLanes);
  {
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < kLanes; ++i) threads.emplace_back([&, i] { ends[i] = lanes[i]->Runs(); });
  }
  for (uint32_t i = 0; i < kLanes; ++i) {
    CHECK(ends[i].reason == Reason::kDone);
    CHECK(lanes[i]->recorder().ops_of(OpKind::kLock) == kTurns);
    CHECK(lanes[i]->recorder().bytes() == 0);
  }
  uint64_t counts[1 + kLanes] = {};
  const std::string text = directory.ContentOf("tree-000000.0/lock-00000000");
  REQUIRE(text.size() >= sizeof(counts));
  std::memcpy(counts, text.data(), sizeof(counts));
  CHECK(counts[0] == kLanes * kTurns);
  for (uint32_t i = 0; i < kLanes; ++i) CHECK(counts[1 + i] == kTurns);
}

TEST_CASE("a lane that waits for a lock ends with its phase, and a lock that excludes nobody is an error") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(5));
  REQUIRE(lane.Prepares("lock").ok());
  UniqueFd holder;
  lane.before_ops = [&] {
    holder = UniqueFd(::open(directory.At("tree-000000.0/lock-00000000").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(WaitForLock(holder.get(), LockKind::kWrite, {}) == 0);
  };
  CHECK(lane.Runs({.deadline = CurrentTickScale().ToTicks(MonotonicNowNs() + 30'000'000)}).reason == Reason::kDeadline);
  CHECK(lane.recorder().ops() == 0);
  lane.before_ops = [&] {  // others write without the lock
    holder = UniqueFd();
    const uint64_t counts[] = {7, 0};
    directory.Put("tree-000000.0/lock-00000000", std::string(reinterpret_cast<const char*>(counts), sizeof(counts)));
  };
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  const std::string message(lane.engine().Explain(end)->status.message());
  CHECK(message.find("lock " + directory.path() + "/tree-000000.0/lock-00000000: its counts do not add up") == 0);
}

TEST_CASE("an item that is missing fails with the operation and its path") {
  const struct {
    const char* operation;
    const char* says;
  } cases[] = {{"stat", "stat "},
               {"open-close", "open-close "},
               {"unlink", "unlink "},
               {"rename", "rename "},
               {"chmod", "chmod "}};
  for (const auto& one : cases) {
    INFO(one.operation);
    const DataDirectory directory;
    TreeLane lane(directory, TreeOf(9, 1, 3));
    lane.Does("create");
    std::filesystem::remove(directory.At("tree-000000.0/d1/item-00000004"));
    REQUIRE(lane.Prepares(one.operation).ok());
    const LoopEnd end = lane.Runs();
    REQUIRE(end.reason == Reason::kFailed);
    REQUIRE(lane.recorder().ops() == 4);
    const auto failed = lane.engine().Explain(end);
    REQUIRE(failed);
    const std::string path = directory.path() + "/tree-000000.0/d1/item-00000004";
    REQUIRE(failed->file == path);
    const std::string message(failed->status.message());
    REQUIRE(message.find(one.says + path) != std::string::npos);
    REQUIRE(message.find("ENOENT") != std::string::npos);
  }
}

TEST_CASE("what is in the way fails with its path") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(5));
  REQUIRE(lane.Prepares("create").ok());
  directory.Put("tree-000000.0/item-00000002");
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  REQUIRE(end.errno_value == EEXIST);
  REQUIRE(std::string(lane.engine().Explain(end)->status.message()).find("create ") == 0);
}

TEST_CASE("a file that is shorter than it was made is told as such") {
  const DataDirectory directory;
  v1::Tree tree = TreeOf(3);
  tree.set_file_bytes(100);
  TreeLane lane(directory, tree);
  lane.Does("create");
  directory.Put("tree-000000.0/item-00000001", "short");
  REQUIRE(lane.Prepares("open-close").ok());
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  REQUIRE(std::string(lane.engine().Explain(end)->status.message()).find("5 of 100 bytes") !=
          std::string::npos);
}

TEST_CASE("a listing that misses items is an error") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(30, 1, 3));
  lane.Does("create");
  std::filesystem::remove(directory.At("tree-000000.0/d2/item-00000029"));
  REQUIRE(lane.Prepares("readdir").ok());
  const LoopEnd end = lane.Runs();
  REQUIRE(end.reason == Reason::kFailed);
  REQUIRE(lane.recorder().ops() == 2);
  const std::string message(lane.engine().Explain(end)->status.message());
  REQUIRE(message.find("tree-000000.0/d2: the listing names 9 of this lane's 10 items") != std::string::npos);
}

TEST_CASE(
    "a walk goes on after a directory that cannot be opened and an item that is gone, and names the errors") {
  const DataDirectory directory;
  const v1::Tree tree = TreeOf(6, 1, 2);
  TreeLane lane(directory, tree);
  lane.Does("create");
  std::filesystem::rename(directory.At("tree-000000.0/d0"), directory.At("elsewhere"));
  TreeWalk walk(LaneTree(tree, 0, 0), NameKind::kItem, v1::Find(), 6);
  const int root = ::open(directory.At("tree-000000.0").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(root >= 0);
  REQUIRE(walk.Next(root, 0) == -ENOENT);
  REQUIRE(walk.Next(root, 0) == -ENOENT);  // not of a descriptor that is not there
  std::filesystem::rename(directory.At("elsewhere"), directory.At("tree-000000.0/d0"));
  REQUIRE(walk.Next(root, 0) == 0);
  for (int item = 3; item < 6; ++item) REQUIRE(walk.Next(root, 1) == 0);
  std::filesystem::remove(directory.At("tree-000000.0/d1/item-00000005"));
  for (int pass = 0; pass < 2; ++pass) {  // of one directory, as if it were the only one
    REQUIRE(walk.Next(root, 1) == 0);
    REQUIRE(walk.Next(root, 1) == 0);
    REQUIRE(walk.seen_in_directory() == 2);
    REQUIRE(walk.Next(root, 1) == -ENODATA);
  }
  ::close(root);
}

TEST_CASE("a file system without attributes is told in one line") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(1));
  lane.Does("create");
  REQUIRE(lane.Prepares("set-xattr").ok());
  REQUIRE(lane.Runs().reason == Reason::kDone);
  LoopEnd end{.reason = Reason::kFailed, .errno_value = EOPNOTSUPP, .failed_op = {.kind = OpKind::kSetXattr}};
  const std::string message(lane.engine().Explain(end)->status.message());
  REQUIRE(message.find("does not support user extended attributes") != std::string::npos);
  REQUIRE(message.find('\n') == std::string::npos);
}

// What a directory holds: a name, mode and attribute for each entry.
std::vector<std::string> FactsOf(const std::filesystem::path& directory) {
  std::vector<std::string> facts;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    facts.push_back(absl::StrCat(entry.path().filename().string(), " ", ModeOf(entry.path()), " ",
                                 entry.is_symlink() ? "" : XattrOf(entry.path())));
  }
  std::sort(facts.begin(), facts.end());
  return facts;
}

TEST_CASE("no operation of a worker with roots follows a directory that was exchanged for a link") {
  for (const MetadataSpec& spec : MetadataOperations()) {
    CAPTURE(spec.name);
    if (spec.names == OpNames::kLockFile) continue;  // in the root, which stays open
    const DataDirectory directory;
    const RightsGuard guard(OverNetwork({directory.path()}));
    v1::Tree tree = TreeOf(12, 2, 2);
    if (spec.effect.uses_contents) tree.set_file_bytes(3901);
    TreeLane lane(directory, tree);
    REQUIRE(lane.Prepares(std::string(spec.name).c_str()).ok());
    // Others' files with the same names, where the link leads.
    const std::filesystem::path d1 = directory.At("tree-000000.0/d1"), away = directory.At("away"),
                                others = directory.At("others");
    std::vector<std::string> before;
    lane.before_ops = [&] {
      std::filesystem::rename(d1, away);
      constexpr auto kWhole = std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks;
      std::filesystem::copy(away, others, kWhole);
      std::filesystem::create_directory_symlink("../others", d1);
      before = FactsOf(others / "d0");
    };
    const LoopEnd end = lane.Runs();
    CHECK(end.reason == Reason::kFailed);
    CHECK((end.errno_value == ELOOP || (MayLack(spec) && end.errno_value == EOPNOTSUPP)));
    CHECK(FactsOf(others / "d0") == before);
    // The next phase neither prepares nor opens anything there.
    std::filesystem::remove_all(directory.At("away"));
    CHECK_FALSE(lane.Prepares("create").ok());
    CHECK(FactsOf(others / "d0") == before);
  }
}

TEST_CASE("chmod of a worker with roots does not follow an item that was exchanged for a link") {
  const DataDirectory directory;
  const RightsGuard guard(OverNetwork({directory.path()}));
  TreeLane lane(directory, TreeOf(3));
  REQUIRE(lane.Prepares("chmod").ok());
  directory.Put("others", "");
  std::filesystem::permissions(directory.At("others"), std::filesystem::perms::owner_read);
  const std::filesystem::path item = directory.At("tree-000000.0/item-00000001");
  std::filesystem::remove(item);
  std::filesystem::create_symlink("../others", item);
  CHECK(lane.Runs().reason == Reason::kFailed);
  CHECK(ModeOf(directory.At("others")) == 0400);
  const int root = ::open(directory.At("tree-000000.0").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const item::ChmodCall how : {item::ChooseChmod(true), item::ChmodCall::kByDescriptor}) {
    CHECK(item::Chmod(how, root, "item-00000001", 0660) < 0);
    CHECK(ModeOf(directory.At("others")) == 0400);
    CHECK(item::Chmod(how, root, "item-00000000", 0611) == 0);
    CHECK(ModeOf(directory.At("tree-000000.0/item-00000000")) == 0611);
  }
  ::close(root);
}

TEST_CASE("a worker with roots does each operation as any other, in any order of items") {
  for (const bool random_order : {false, true}) {
    const DataDirectory directory;
    const RightsGuard guard(OverNetwork({directory.path()}));
    v1::Tree tree = TreeOf(40, 2, 2);
    tree.set_random_order(random_order);
    TreeLane lane(directory, tree);
    for (const char* operation : {"mkdir", "create", "stat", "readdir", "find", "open-close", "chmod", "set-xattr", "get-xattr",
                                  "rename", "link", "symlink"}) {
      lane.Does(operation);
    }
    CHECK(directory.CountOf("moved-") == 40);
    CHECK(directory.CountOf("link-") == 40);
    CHECK(std::filesystem::exists(directory.At("tree-000000.0/d1/d1/symlink-00000039")));  // it leads to its file
    CHECK(XattrOf(directory.At("tree-000000.0/d0/d0/moved-00000000")).size() == 16);
    lane.Does("rmdir");
    lane.Does("unlink");
    CHECK(directory.CountOf("moved-") == 0);
  }
}

TEST_CASE("a lane stops when told to, between two items") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(100));
  REQUIRE(lane.Prepares("create").ok());
  lane.stop.stop = true;
  REQUIRE(lane.Runs().reason == Reason::kStopped);
  REQUIRE(directory.CountOf("item-") == 0);
}

TEST_CASE("an attribute gets another value in every pass and phase, and never the one that is prepared") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(2));
  lane.Does("create");
  REQUIRE(lane.Prepares("get-xattr").ok());
  const std::filesystem::path first = directory.At("tree-000000.0/item-00000000");
  const std::filesystem::path second = directory.At("tree-000000.0/item-00000001");
  const std::string prepared = XattrOf(first);
  REQUIRE(prepared.size() == 16);
  std::string before = prepared;
  for (int phase = 2; phase < 30; ++phase) {
    INFO("phase " << phase);
    REQUIRE(lane.Prepares("set-xattr").ok());
    // The second pass ends after its first item, so that the other one still has the value of the first pass.
    REQUIRE(lane.Runs({.repeat_passes = true, .ops_goal = 3}).reason == Reason::kGoal);
    const std::string of_first_pass = XattrOf(second), of_second_pass = XattrOf(first);
    REQUIRE(of_first_pass.size() == 16);
    REQUIRE(of_second_pass.size() == 16);
    CHECK(of_second_pass != of_first_pass);
    CHECK(of_second_pass != prepared);
    CHECK(of_first_pass != prepared);
    CHECK(of_first_pass != before);
    before = of_second_pass;
  }
}

TEST_CASE("passes go on until the goal where an operation can go round") {
  const DataDirectory directory;
  TreeLane lane(directory, TreeOf(10));
  lane.Does("create");
  REQUIRE(lane.Prepares("chmod").ok());
  REQUIRE(lane.Runs({.repeat_passes = true, .ops_goal = 35}).reason == Reason::kGoal);
  REQUIRE(lane.recorder().ops() == 35);
}

}  // namespace
}  // namespace iobench
