// What file systems say about where the data of files are. There are no Lustre and no BeeGFS here: attributes are as
// lustre_user.h defines them, answers as beegfs_ioctl.h does, and GlusterFS's path information as its clients print it.
#include "worker/storage/file_layout.h"

#include <fcntl.h>
#include <sys/xattr.h>

#include <cstring>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Names = std::vector<std::string>;

constexpr uint32_t kV1 = 0x0BD10BD0, kV3 = 0x0BD30BD0, kComposite = 0x0BD60BD0;
constexpr uint64_t kMib = 1 << 20, kToTheEnd = UINT64_MAX;

void Put(std::string& bytes, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i);
}

// A plain layout over these OSTs. V3 if there is a pool.
std::string Plain(const std::vector<uint32_t>& osts, const std::string& pool = "") {
  const size_t head = pool.empty() ? 32 : 48;
  std::string lov(head + 24 * osts.size(), '\0');
  Put(lov, 0, pool.empty() ? kV1 : kV3, 4);
  Put(lov, 4, 1, 4);  // RAID 0
  Put(lov, 24, kMib, 4);
  Put(lov, 28, osts.size(), 2);
  lov.replace(32, pool.size(), pool);
  for (size_t i = 0; i < osts.size(); ++i) {
    Put(lov, head + 24 * i, 0x1234'5678'9abc, 8);  // object id
    Put(lov, head + 24 * i + 20, osts[i], 4);
  }
  return lov;
}

// A directory's default: it has no OSTs.
std::string Striping(uint32_t magic, uint32_t stripe_bytes, uint16_t stripe_count, const std::string& pool = "") {
  std::string lov(48, '\0');
  Put(lov, 0, magic, 4);
  Put(lov, 24, stripe_bytes, 4);
  Put(lov, 28, stripe_count, 2);
  lov.replace(32, pool.size(), pool);
  return lov;
}

struct Component {
  uint32_t flags;
  uint64_t begin, end;
  std::string plain;
};

std::string Composite(const std::vector<Component>& components) {
  std::string lov(32 + 48 * components.size(), '\0');
  Put(lov, 0, kComposite, 4);
  Put(lov, 14, components.size(), 2);
  for (size_t i = 0; i < components.size(); ++i) {
    const size_t at = 32 + 48 * i;
    Put(lov, at, i + 1, 4);
    Put(lov, at + 4, components[i].flags, 4);
    Put(lov, at + 8, components[i].begin, 8);
    Put(lov, at + 16, components[i].end, 8);
    Put(lov, at + 24, lov.size(), 4);
    Put(lov, at + 28, components[i].plain.size(), 4);
    lov += components[i].plain;
  }
  Put(lov, 4, lov.size(), 4);
  return lov;
}

TEST_CASE("a file on Lustre is on the OSTs of its stripes, each named once") {
  CHECK(LustreTargets(Plain({3}), 0, kMib) == Names{"OST0003"});
  CHECK(LustreTargets(Plain({10, 0, 255}), 0, kMib) == Names{"OST000a", "OST0000", "OST00ff"});
  CHECK(LustreTargets(Plain({1, 2, 1}), 0, kMib) == Names{"OST0001", "OST0002"});
  CHECK(LustreTargets(Plain({7, 8}, "flash"), 0, kMib) == Names{"OST0007", "OST0008"});
}

TEST_CASE("of a progressive layout, the components that hold the bytes count") {
  constexpr uint32_t kInit = 0x10;
  const std::string lov = Composite({{kInit, 0, kMib, Plain({1})},
                                     {kInit, kMib, 4 * kMib, Plain({2, 3})},
                                     {0, 4 * kMib, kToTheEnd, Striping(kV1, kMib, 8).substr(0, 32)}});
  CHECK(LustreTargets(lov, 0, kMib) == Names{"OST0001"});
  CHECK(LustreTargets(lov, 0, 4 * kMib) == Names{"OST0001", "OST0002", "OST0003"});
  CHECK(LustreTargets(lov, kMib, 2 * kMib) == Names{"OST0002", "OST0003"});
  CHECK(LustreTargets(lov, 0, 4 * kMib + 1).empty());  // a component without OSTs will hold the last byte
}

TEST_CASE("mirrors count, unless they are stale") {
  const std::string lov = Composite({{0x10, 0, kToTheEnd, Plain({1})}, {0x10, 0, kToTheEnd, Plain({2})},
                                     {0x11, 0, kToTheEnd, Plain({3})}});
  CHECK(LustreTargets(lov, 0, kMib) == Names{"OST0001", "OST0002"});
}

TEST_CASE("data on a metadata target are on no OST, and those of a released file nowhere") {
  std::string on_mdt = Striping(kV1, kMib, 0).substr(0, 32);
  Put(on_mdt, 4, 0x100, 4);
  CHECK(LustreTargets(Composite({{0x10, 0, kMib, on_mdt}, {0x10, kMib, kToTheEnd, Plain({5})}}), 0, 2 * kMib) ==
        Names{"MDT", "OST0005"});
  std::string released = Plain({5});
  Put(released, 4, 0x80000001, 4);
  CHECK(LustreTargets(released, 0, kMib).empty());
}

TEST_CASE("a layout of Lustre that is cut off, or in another format, has no targets") {
  CHECK(LustreTargets("", 0, 1).empty());
  CHECK(LustreTargets("short", 0, 1).empty());
  CHECK(LustreTargets(Striping(0x12345678, 1, 1), 0, 1).empty());
  CHECK(LustreTargets(Striping(kV1, kMib, 0xFFFF), 0, 1).empty());  // "all OSTs", without saying which
  const std::string composite = Composite({{0x10, 0, kMib, Plain({1, 2})}});
  for (const std::string& whole : {Plain({1, 2}), Plain({1, 2}, "flash"), composite}) {
    REQUIRE_FALSE(LustreTargets(whole, 0, 1).empty());
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) CHECK(LustreTargets(whole.substr(0, bytes), 0, 1).empty());
  }
}

TEST_CASE("Lustre's striping is read from its attribute") {
  CHECK(LustreStriping(Striping(kV1, 1 << 20, 4)) == "4 OSTs, 1048576 bytes on each");
  CHECK(LustreStriping(Striping(kV1, 4 << 20, 1)) == "1 OST, 4194304 bytes on each");
  CHECK(LustreStriping(Striping(kV3, 1 << 20, 0xFFFF, "flash")) == "all OSTs, 1048576 bytes on each, pool flash");
  std::string composite = Striping(kComposite, 0, 0);
  composite[14] = 3;  // lcm_entry_count
  CHECK(LustreStriping(composite) == "composite, 3 components");
  CHECK(LustreStriping("short").empty());
  CHECK(LustreStriping(Striping(0x12345678, 1, 1)).empty());
}

// The kernel client of BeeGFS, for a file on these targets: (target, node), or of mirrored files (group, (target, node) twice).
struct FakeBeegfs {
  struct Target {
    uint32_t target, primary, secondary;
    std::string primary_name, secondary_name;
  };
  std::vector<Target> targets;
  int failing_target = -1;

  int operator()(unsigned long request, void* argument) const {
    auto* const bytes = static_cast<char*>(argument);
    const auto put = [bytes](size_t at, uint32_t value) { std::memcpy(bytes + at, &value, sizeof value); };
    if (request == 0x800c6619) {  // _IOR('f', 25, 12 bytes)
      put(0, targets.empty() || targets[0].secondary == 0 ? 1 : 3);
      put(4, 512 << 10);
      const auto count = static_cast<uint16_t>(targets.size());
      std::memcpy(bytes + 8, &count, sizeof count);
      return 0;
    }
    if (request != 0x8218661a) return -1;  // _IOR('f', 26, 536 bytes)
    uint32_t index = 0;
    std::memcpy(&index, bytes, sizeof index);
    if (index >= targets.size() || static_cast<int>(index) == failing_target) return -1;
    const Target& target = targets[index];
    put(4, target.target);
    put(8, target.primary);
    put(12, target.secondary);
    target.primary_name.copy(bytes + 24, 255);
    target.secondary_name.copy(bytes + 24 + 256, 255);
    return 0;
  }
};

TEST_CASE("a file on BeeGFS is on the targets of its stripes, and of their mirrors") {
  CHECK(BeegfsTargets(FakeBeegfs{{{1, 0, 0, "node1.lab", ""}, {2, 0, 0, "node2.lab", ""}}}) ==
        Names{"1 @ node1.lab", "2 @ node2.lab"});
  CHECK(BeegfsTargets(FakeBeegfs{{{7, 101, 201, "a", "b"}, {8, 202, 102, "b", "a"}}}) ==
        Names{"101 @ a", "201 @ b", "202 @ b", "102 @ a"});
  CHECK(BeegfsTargets(FakeBeegfs{{{1, 0, 0, std::string(300, 'n'), ""}}}) == Names{"1 @ " + std::string(255, 'n')});
  CHECK(BeegfsTargets(FakeBeegfs{}).empty());
  FakeBeegfs failing{{{1, 0, 0, "a", ""}, {2, 0, 0, "b", ""}}};
  failing.failing_target = 1;
  CHECK(BeegfsTargets(failing).empty());
  CHECK(BeegfsTargets([](unsigned long, void*) { return -1; }).empty());
}

TEST_CASE("a file on GlusterFS is on the bricks in its path information, below whichever translators") {
  CHECK(GlusterTargets("(<DISTRIBUTE:v-dht> <POSIX(/bricks/b1):host1:/bricks/b1/dir//file>)") == Names{"host1:/bricks/b1"});
  CHECK(GlusterTargets("(<DISTRIBUTE:v-dht> (<REPLICATE:v-replicate-0> <POSIX(/b/1):host1:/b/1/x> "
                       "<POSIX(/b/2):host2:/b/2/x>))") == Names{"host1:/b/1", "host2:/b/2"});
  CHECK(GlusterTargets("(<REPLICATE:v-replicate-0> <POSIX(/b):fd00::1:/b/x> <POSIX(/b):10.0.0.2:/b/x>)") ==
        Names{"fd00::1:/b", "10.0.0.2:/b"});
  CHECK(GlusterTargets("((<DISTRIBUTE:v-dht> (<EC:v-disperse-0> <POSIX(/b):h1:/b/x> <POSIX(/b):h2:/b/x> "
                       "<POSIX(/b):h3:/b/x>)) (v-dht-layout (v-disperse-0 0 4294967295)))") ==
        Names{"h1:/b", "h2:/b", "h3:/b"});
  CHECK(GlusterTargets("").empty());
  CHECK(GlusterTargets("(<DISTRIBUTE:v-dht> <POSIX(/b").empty());
  CHECK(GlusterTargets("(<DISTRIBUTE:v-dht> <POSIX(/b):host").empty());
  CHECK(GlusterBricks("(<REPLICATE:r> <POSIX(/b/1):host1:/b/1/x> <POSIX(/b/2):host2:/b/2/x>)") == "2");
  CHECK(GlusterBricks("").empty());
}

TEST_CASE("a file system without storage targets says nothing") {
  const TempDir directory;
  const UniqueFd fd(::open((directory / "file").c_str(), O_CREAT | O_RDWR, 0600));
  REQUIRE(fd.valid());
  CHECK(StorageTargetsOf(fd.get(), 0, 1).empty());
  CHECK(StorageTargetsOf(-1, 0, 1).empty());
  CHECK_FALSE(MayTellStorageTargets(fd.get()));
  CHECK_FALSE(MayTellStorageTargets(-1));
}

TEST_CASE("an attribute is read from a descriptor, also one of a path only") {
  const TempDir directory;
  const UniqueFd fd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY));
  const UniqueFd path_only(::open(directory.path().c_str(), O_PATH | O_DIRECTORY));
  if (::fsetxattr(fd.get(), "user.iobench", "some text", 9, 0) != 0) {
    WARN("this file system has no attributes of users");
    return;
  }
  CHECK(AttributeOf(fd.get(), "user.iobench") == "some text");
  CHECK(AttributeOf(path_only.get(), "user.iobench") == "some text");
  CHECK_FALSE(AttributeOf(fd.get(), "user.other").has_value());
}

}  // namespace
}  // namespace iobench
