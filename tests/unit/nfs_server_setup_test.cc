#include "worker/sampler/nfs_server_setup.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

struct FakeServer {
  TempDir root;
  void Has(const std::string& path, const std::string& contents) {
    const std::filesystem::path file = root.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << contents;
  }
  FakeServer() {
    Has("/proc/fs/nfsd/threads", "16\n");
    Has("/proc/fs/nfsd/versions", "-2 +3 +4 -4.0 +4.1 +4.2\n");
    Has("/proc/fs/nfsd/nfsv4leasetime", "90\n");
    Has("/proc/fs/nfsd/nfsv4gracetime", "45\n");
    Has("/proc/fs/nfsd/v4_end_grace", "N\n");
    Has("/proc/fs/nfsd/max_block_size", "1048576\n");
    Has("/proc/fs/nfsd/exports",
        "# Version 1.1\n# Path Client(Flags) # IPs\n"
        "/srv/my\\040data\t10.0.0.0/24(rw,root_squash,sync,wdelay)\n");
    Has("/var/lib/nfs/etab", "/srv/my\\040data\t10.0.0.0/24(rw,async,hide)\n/srv/other\t*(ro,sync)\n");
    Has("/proc/self/mountinfo",
        "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "36 21 8:16 / /srv/my\\040data rw,noatime - xfs /dev/sdb rw\n");
    std::filesystem::create_directories(root.path() + "/srv/my data");
  }
};

TEST_CASE(
    "a server's setup is what its kernel says, and the exports of exportfs that the kernel does not know yet") {
  FakeServer server;
  const auto setup = ReadNfsServerSetup(server.root.path());
  REQUIRE(setup.has_value());
  REQUIRE(setup->versions_size() == 3);
  CHECK(setup->versions(0) == "3");
  CHECK(setup->versions(2) == "4.2");
  CHECK(setup->threads() == 16);
  CHECK(setup->lease_s() == 90);
  CHECK(setup->grace_s() == 45);
  CHECK(setup->in_grace());
  CHECK(setup->max_block_bytes() == 1048576);
  REQUIRE(setup->exports_size() == 2);
  CHECK(setup->exports(0).path() == "/srv/my data");
  CHECK(setup->exports(0).clients() == "10.0.0.0/24");
  CHECK(setup->exports(0).options() == "rw,root_squash,sync,wdelay");
  CHECK(setup->exports(0).filesystem() == "xfs");
  CHECK(setup->exports(0).device() == "sdb");
  CHECK(setup->exports(0).block_bytes() > 0);
  CHECK(setup->exports(1).path() == "/srv/other");
  CHECK(setup->exports(1).options() == "ro,sync");
  CHECK(setup->exports(1).filesystem() == "ext4");
}

TEST_CASE("a host whose NFS server has no threads, or none, is no NFS server") {
  FakeServer server;
  server.Has("/proc/fs/nfsd/threads", "0\n");
  CHECK_FALSE(ReadNfsServerSetup(server.root.path()).has_value());
  const TempDir nothing;
  CHECK_FALSE(ReadNfsServerSetup(nothing.path()).has_value());
}

TEST_CASE("what an older kernel does not say is absent") {
  FakeServer server;
  for (const char* const file : {"max_block_size", "v4_end_grace", "nfsv4gracetime"}) {
    std::filesystem::remove(server.root.path() + "/proc/fs/nfsd/" + file);
  }
  server.Has("/proc/fs/nfsd/versions", "+3 +4\n");
  const auto setup = ReadNfsServerSetup(server.root.path());
  REQUIRE(setup.has_value());
  CHECK_FALSE(setup->has_max_block_bytes());
  CHECK_FALSE(setup->has_in_grace());
  CHECK_FALSE(setup->has_grace_s());
  REQUIRE(setup->versions_size() == 2);
  CHECK(setup->versions(1) == "4");
}

}  // namespace
}  // namespace iobench
