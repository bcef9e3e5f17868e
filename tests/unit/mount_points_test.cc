#include "coordinator/files/mount_points.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

TEST_CASE("the mount of a path is the longest mount point above it, by names alone") {
  const std::vector<std::string> points = MountPointsIn(
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "40 22 0:40 / /mnt rw - nfs4 server:/ rw\n"
      "41 40 0:41 / /mnt/a\\040b rw - nfs4 server:/a rw\n");
  REQUIRE(points == std::vector<std::string>{"/", "/mnt", "/mnt/a b"});
  CHECK(MountPointOf(points, "/home/x") == "/");
  CHECK(MountPointOf(points, "/mnt") == "/mnt");
  CHECK(MountPointOf(points, "/mnt/x") == "/mnt");
  CHECK(MountPointOf(points, "/mntx") == "/");
  CHECK(MountPointOf(points, "/mnt/a b/c") == "/mnt/a b");
  CHECK(MountPointOf(points, "/mnt/a b/../c") == "/mnt");
  CHECK(MountPointOf({}, "/x") == "/");
}

}  // namespace
}  // namespace iobench
