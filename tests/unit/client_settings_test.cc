#include "worker/client/client_settings.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

// A directory with files of proc and sys.
class FakeRoot {
 public:
  FakeRoot& Has(const std::string& file, const std::string& text) {
    const std::filesystem::path path = directory_.path() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  std::string path() const { return directory_.path(); }

 private:
  TempDir directory_;
};

Mount MountOf(const std::string& filesystem, const std::string& mount_point) {
  Mount mount;
  mount.filesystem = filesystem;
  mount.mount_point = mount_point;
  return mount;
}

TEST_CASE("settings of a host have the system's own values, on one line") {
  FakeRoot root;
  root.Has("/proc/sys/sunrpc/tcp_slot_table_entries", "2\n")
      .Has("/proc/sys/sunrpc/tcp_max_slot_table_entries", "65536\n")
      .Has("/sys/module/nfs/parameters/max_session_slots", "64\n")
      .Has("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n")
      .Has("/proc/sys/vm/dirty_ratio", "20\n")
      .Has("/proc/sys/vm/dirty_bytes", "0\n")
      .Has("/sys/module/sunrpc/refcnt", "1\n");
  const Settings settings = ClientSettings(root.path());
  CHECK(settings == Settings{{"sunrpc.tcp_slot_table_entries", "2"},
                             {"sunrpc.tcp_max_slot_table_entries", "65536"},
                             {"nfs.max_session_slots", "64"},
                             {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
                             {"vm.dirty_ratio", "20"},
                             {"nfs_modules", "sunrpc, nfs"}});
}

TEST_CASE(
    "the id that makes NFSv4 clients of one name differ is that of the network namespace, or the module's") {
  const std::string own = "/sys/fs/nfs/net/nfs_client/identifier";
  const std::string of_module = "/sys/module/nfs/parameters/nfs4_unique_id";
  const auto id_in = [](const FakeRoot& root) { return ClientSettings(root.path())["nfs.nfs4_unique_id"]; };
  FakeRoot root;
  CHECK(id_in(root.Has(own, "(null)\n").Has(of_module, "\n")) == "");
  CHECK(id_in(root.Has(of_module, "rack-7\n")) == "rack-7");
  CHECK(id_in(root.Has(own, "container-3\n")) == "container-3");
}

TEST_CASE("governors of all processors are named, each once") {
  FakeRoot root;
  const std::string policies = "/sys/devices/system/cpu/cpufreq/";
  root.Has(policies + "policy0/scaling_governor", "powersave\n")
      .Has(policies + "policy1/scaling_governor", "performance\n")
      .Has(policies + "policy2/scaling_governor", "performance\n");
  CHECK(ClientSettings(root.path()) == Settings{{"cpu_governor", "performance, powersave"}});
}

TEST_CASE("a host that shows nothing has no settings") {
  CHECK(ClientSettings(FakeRoot().path()).empty());
  CHECK(ClientSettings("/nonexistent").empty());
}

TEST_CASE("an NFS mount has the read-ahead of its own device, its connections and its layout type") {
  FakeRoot root;
  root.Has("/sys/class/bdi/0:49/read_ahead_kb", "15360\n")
      .Has("/proc/self/mountstats",
           "device s:/e mounted on /mnt/a with fstype nfs4 statvers=1.1\n"
           "\tnfsv4:\tbm0=0xf,acl=0x3,sessions,pnfs=not configured,lease_time=90,lease_expired=0\n"
           "\txprt:\ttcp 0 0 1 0 0 100 100 0 100 0 2 0 0\n"
           "\txprt:\ttcp 0 0 1 0 0 100 100 0 100 0 2 0 0\n");
  Mount mount = MountOf("nfs4", "/mnt/a");
  CHECK(MountSettings(mount, -1, makedev(0, 49), root.path()) == Settings{{"read_ahead_kb", "15360"},
                                                                          {"connections", "2"},
                                                                          {"lease_time", "90"},
                                                                          {"pnfs", "not configured"}});
  mount.mount_point = "/mnt/b";  // not in mountstats
  CHECK(MountSettings(mount, -1, makedev(0, 50), root.path()).empty());
}

TEST_CASE("a partition has the read-ahead of its disk") {
  FakeRoot root;
  root.Has("/sys/devices/sda/queue/read_ahead_kb", "128\n").Has("/sys/devices/sda/sda1/partition", "1\n");
  std::filesystem::create_directories(root.path() + "/sys/dev/block");
  std::filesystem::create_symlink("../../devices/sda/sda1", root.path() + "/sys/dev/block/8:1");
  CHECK(MountSettings(MountOf("ext4", "/"), -1, makedev(8, 1), root.path()) ==
        Settings{{"read_ahead_kb", "128"}});
}

TEST_CASE("striping that a file system does not show is not available") {
  const TempDir directory;
  const UniqueFd fd(::open(directory.path().c_str(), O_PATH | O_DIRECTORY));
  const auto setting = [&](const std::string& filesystem, const std::string& name) {
    const Settings settings = MountSettings(MountOf(filesystem, "/mnt"), fd.get(), 0, FakeRoot().path());
    const auto found = settings.find(name);
    return found == settings.end() ? std::string("none") : found->second;
  };
  CHECK(setting("lustre", "stripe") == "not available");
  CHECK(setting("ceph", "ceph.dir.layout") == "not available");
  CHECK(setting("fuse.glusterfs", "bricks") == "not available");
  CHECK(setting("beegfs", "stripe") == "not available");
  CHECK(setting("xfs", "stripe") == "none");
}

}  // namespace
}  // namespace iobench
