#include "common/roster/filesystem.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

v1::TargetFacts Seen(const std::string& name, const std::string& boot_id = "") {
  v1::TargetFacts seen;
  seen.set_filesystem_id(name);
  seen.set_boot_id(boot_id);
  return seen;
}

TEST_CASE("hosts share what is named by its server, and each has its own devices") {
  CHECK(FilesystemOf(Seen("server:/export")) == FilesystemOf(Seen("server:/export")));
  CHECK(FilesystemOf(Seen("8:1", "a")) == FilesystemOf(Seen("8:1", "a")));
  CHECK(FilesystemOf(Seen("8:1", "a")) != FilesystemOf(Seen("8:1", "b")));
  CHECK(FilesystemOf(Seen("8:1", "a")) != FilesystemOf(Seen("8:2", "a")));
  CHECK_FALSE(IsOfOneHost(Seen("server:/export")));
  CHECK(IsOfOneHost(Seen("localhost:/export", "a")));
}

TEST_CASE("clones share their servers' file systems, and nothing else") {
  v1::TargetFacts disk = Seen("8:1", "a"), on_itself = Seen("localhost:/export", "a"), on_server = Seen("server:/export");
  for (v1::TargetFacts* const seen : {&disk, &on_itself, &on_server}) SetClone(1, *seen);
  CHECK(FilesystemOf(disk) != FilesystemOf(Seen("8:1", "a")));
  CHECK(FilesystemOf(on_itself) != FilesystemOf(Seen("localhost:/export", "a")));
  CHECK(FilesystemOf(on_server) == FilesystemOf(Seen("server:/export")));
}

TEST_CASE("a file system that a worker sees under another name is set in full") {
  v1::TargetFacts first = Seen("8:1", "a"), other = Seen("8:9", "b");
  SetClone(2, first);
  first.set_storage(1);
  SetFilesystem(FilesystemOf(first), other);
  CHECK(FilesystemOf(other) == FilesystemOf(first));
}

}  // namespace
}  // namespace iobench
