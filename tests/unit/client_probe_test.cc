#include "worker/client/client_probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>

#include "common/roster/filesystem.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "tests/unit/worker_harness.h"
#include "worker/client/host_counters.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

// ------------------------------------------------------------------------------------------------ mounts

constexpr char kMountinfo[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "28 27 0:25 / /mnt ro,nosuid - tmpfs none ro,size=4k\n"
    "42 27 0:45 /sub /mnt/nfs rw,relatime shared:1 master:2 - nfs4 server:/export rw,vers=4.2,nconnect=4\n"
    "43 27 0:46 / /mnt/a\\040b rw - fuse.glusterfs host:/vol\\040ume rw\n"
    "44 42 0:47 / /mnt/nfs rw - lustre mds@tcp:/fs rw,flock\n"
    "a line that is no mount\n"
    "45 27 0:48 / /short -\n";

TEST_CASE("mountinfo is read with its optional fields and escaped characters") {
  const std::vector<Mount> mounts = ParseMountinfo(kMountinfo);
  REQUIRE(mounts.size() == 6);
  REQUIRE(mounts[3].id == 42);
  REQUIRE(mounts[3].mount_point == "/mnt/nfs");
  REQUIRE(mounts[3].filesystem == "nfs4");
  REQUIRE(mounts[3].source == "server:/export");
  REQUIRE(mounts[3].options == "rw,relatime,rw,vers=4.2,nconnect=4");
  REQUIRE(mounts[4].mount_point == "/mnt/a b");
  REQUIRE(mounts[4].source == "host:/vol ume");
}

TEST_CASE("a path is on the mount with the longest mount point before it, the newest of those") {
  const std::vector<Mount> mounts = ParseMountinfo(kMountinfo);
  REQUIRE(MountOfPath(mounts, "/mnt/nfs/dir")->filesystem == "lustre");
  REQUIRE(MountOfPath(mounts, "/mnt/nfs")->filesystem == "lustre");
  REQUIRE(MountOfPath(mounts, "/mnt/nfs2")->filesystem == "tmpfs");
  REQUIRE(MountOfPath(mounts, "/home")->filesystem == "ext4");
  REQUIRE(MountOfPath({}, "/home") == nullptr);
}

TEST_CASE("a path that no line of mountinfo covers, as in a chroot, has the file system that statfs names") {
  // Ids that no mount of this host has.
  constexpr char kOfChroot[] =
      "4000000022 4000000027 0:21 / /proc rw,relatime - proc proc rw\n"
      "4000000023 4000000027 0:5 / /dev rw,relatime - devtmpfs devtmpfs rw\n";
  const TempDir directory;
  struct stat facts {};
  REQUIRE(::stat(directory.path().c_str(), &facts) == 0);
  const UniqueFd fd(::open(directory.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(fd.valid());
  REQUIRE_FALSE(MountIn(kOfChroot, fd.get(), directory.path()).has_value());
  const Mount unlisted = FileSystemOf(kOfChroot, fd.get(), directory.path());
  CHECK_FALSE(unlisted.filesystem.empty());
  CHECK(unlisted.mount_point.empty());
  CHECK(unlisted.source ==
        "device " + std::to_string(major(facts.st_dev)) + ":" + std::to_string(minor(facts.st_dev)));

  const UniqueFd memory(::memfd_create("client_probe_test", MFD_CLOEXEC));
  REQUIRE(memory.valid());
  CHECK(FileSystemOf(kOfChroot, memory.get(), "/nonexistent").filesystem == "tmpfs");
  const UniqueFd proc(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(proc.valid());
  CHECK(FileSystemOf(kOfChroot, proc.get(), "/proc").filesystem == "proc");
  CHECK(FileSystemOf("", proc.get(), "/proc").filesystem ==
        "type 0x9fa0");  // PROC_SUPER_MAGIC, not in our table
}

TEST_CASE("file systems that hosts share are told from local ones") {
  for (const char* const shared :
       {"nfs", "nfs4", "lustre", "ceph", "fuse.glusterfs", "beegfs", "cifs", "smb3", "9p", "gpfs"}) {
    REQUIRE(IsNetworkFilesystem(shared));
  }
  for (const char* const local : {"ext4", "xfs", "tmpfs", "overlay", "fuse", ""})
    REQUIRE_FALSE(IsNetworkFilesystem(local));
  REQUIRE(IsMemoryFilesystem("tmpfs"));
  REQUIRE_FALSE(IsMemoryFilesystem("ext4"));
}

// ---------------------------------------------------------------------------------------------- counters

TEST_CASE("processor time is summed into what people ask for") {
  const auto cpu = ParseCpuTicks("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 1 1 1\nctxt 4711\n");
  REQUIRE(cpu->user == 3);
  REQUIRE(cpu->system == 4 + 32 + 64);
  REQUIRE(cpu->idle == 8 + 16);
  REQUIRE(cpu->steal == 128);
  REQUIRE(ParseContextSwitches("cpu 1 2 3 4\nctxt 4711\n") == 4711);
}

TEST_CASE("counters that a kernel does not have are absent") {
  const auto cpu = ParseCpuTicks("cpu 1 2 4 8\n");
  REQUIRE(cpu->idle == 8);
  REQUIRE_FALSE(cpu->steal.has_value());
  REQUIRE_FALSE(ParseCpuTicks("cpu 1 2\n").has_value());
  REQUIRE_FALSE(ParseCpuTicks("").has_value());
  REQUIRE_FALSE(ParseContextSwitches("ctxt many\n").has_value());
  REQUIRE_FALSE(ParseDirtyBytes("MemTotal: 5 kB\n").has_value());
  REQUIRE_FALSE(ParseDiskReadBytes("rchar: 5\n").has_value());
}

TEST_CASE("network, memory and disk counters are read") {
  const auto nics = ParseNetDev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
      "colls carrier compressed\n"
      "    lo: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n"
      "  eth0:1000 2 3 4 5 6 7 8 2000 10 11 12 13 14 15 16\n"
      "  eth1: 1 2\n");
  REQUIRE(nics.size() == 1);
  REQUIRE(nics.at("eth0").rx_bytes == 1000);
  REQUIRE(nics.at("eth0").tx_bytes == 2000);
  REQUIRE(nics.at("eth0").drops == 16);
  REQUIRE(ParseDirtyBytes("MemTotal:       100 kB\nDirty:               12 kB\n") == 12 * 1024);
  REQUIRE(ParseAllDisksReadBytes("nr_dirty 5\npgpgin 7\npgpgout 9\n") == 7 * 1024);
  REQUIRE(ParseDiskReadBytes("rchar: 1\nwchar: 2\nread_bytes: 77\nwrite_bytes: 3\n") == 77);
  REQUIRE(ParseDiskWriteBytes("read_bytes: 77\nwrite_bytes: 3\ncancelled_write_bytes: 5\n") == 3);
}

HostCounters Counters(uint64_t n) {
  HostCounters counters;
  counters.at_monotonic_ns = static_cast<int64_t>(n) * kNanosPerSecond;
  const auto ticks = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)) * n;
  counters.cpu = CpuTicks{ticks, 2 * ticks, 3 * ticks, 4 * ticks};
  counters.context_switches = 10 * n;
  counters.nics["eth0"] = {100 * n, 200 * n, n};
  counters.nics["eth1"] = {1000 * n, 2000 * n, 0};
  counters.dirty_bytes = 4096 * n;
  counters.all_disks_read_bytes = 2048 * n;
  counters.disk_read_bytes = 512 * n;
  counters.disk_write_bytes = 256 * n;
  return counters;
}

const NicFacts& GigabitOf(const std::string& name) {
  static const NicFacts gigabit{.stands_on_another = false, .link_bytes_per_s = 125'000'000};
  static const NicFacts bond{.stands_on_another = true, .link_bytes_per_s = 250'000'000};
  return name.starts_with("bond") ? bond : gigabit;
}

TEST_CASE("a host's delta is the difference of two readings") {
  const v1::HostDelta delta = HostDeltaBetween(Counters(1), Counters(3), {}, GigabitOf);
  REQUIRE(delta.seconds() == 2);
  REQUIRE(delta.cpu_user_s() == 2);
  REQUIRE(delta.cpu_system_s() == 4);
  REQUIRE(delta.cpu_idle_s() == 6);
  REQUIRE(delta.cpu_steal_s() == 8);
  REQUIRE(delta.context_switches() == 20);
  REQUIRE(delta.nic_rx_bytes() == 2200);
  REQUIRE(delta.nic_tx_bytes() == 4400);
  REQUIRE(delta.nic_drops() == 2);
  REQUIRE(delta.nic_link_bytes_per_s() == 250'000'000);
  REQUIRE(delta.dirty_bytes_after() == 3 * 4096);
  REQUIRE(delta.all_disks_read_bytes() == 4096);
  REQUIRE(delta.disk_read_bytes() == 1024);
  REQUIRE(delta.disk_write_bytes() == 512);
}

TEST_CASE("what either reading lacks is absent from the delta, and an interface made anew is left out") {
  HostCounters before = Counters(1), after = Counters(3);
  before.cpu->steal.reset();
  before.context_switches.reset();
  after.dirty_bytes.reset();
  after.disk_read_bytes = 1;
  after.nics["eth1"].rx_bytes = 0;
  v1::HostDelta delta = HostDeltaBetween(before, after);
  REQUIRE(delta.has_cpu_user_s());
  REQUIRE_FALSE(delta.has_cpu_steal_s());
  REQUIRE_FALSE(delta.has_context_switches());
  REQUIRE_FALSE(delta.has_dirty_bytes_after());
  REQUIRE_FALSE(delta.has_disk_read_bytes());
  REQUIRE(delta.nic_rx_bytes() == 200);
  delta = HostDeltaBetween(HostCounters(), HostCounters());
  REQUIRE_FALSE(delta.has_cpu_user_s());
  REQUIRE_FALSE(delta.has_nic_rx_bytes());
  REQUIRE_FALSE(delta.has_nic_link_bytes_per_s());
}

TEST_CASE("interfaces are told of one by one, with what leads to the targets") {
  HostCounters before = Counters(1), after = Counters(3);
  before.nics["eth2"] = after.nics["eth2"] = {7, 7, 0};  // silent
  before.nics["bond0"] = {1100, 2200, 0};                // of eth0 and eth1
  after.nics["bond0"] = {3300, 6600, 0};
  SECTION("a bond carries them, and so does what it stands on") {
    const v1::HostDelta delta = HostDeltaBetween(before, after, {"bond0", "eth0", "eth1"}, GigabitOf);
    REQUIRE(delta.nics_size() == 3);
    REQUIRE(delta.nics(0).name() == "bond0");
    REQUIRE(delta.nics(0).rx_bytes() == 2200);
    REQUIRE(delta.nics(0).link_bytes_per_s() == 250'000'000);
    REQUIRE(delta.nics(0).carries_targets());
    REQUIRE(delta.nics(1).name() == "eth0");
    REQUIRE(delta.nics(1).tx_bytes() == 400);
    REQUIRE(delta.nics(1).drops() == 2);
    REQUIRE(delta.nics(1).carries_targets());
    REQUIRE(delta.nic_rx_bytes() == 2200);  // not twice
  }
  SECTION("another does") {
    const v1::HostDelta delta = HostDeltaBetween(before, after, {"eth2"}, GigabitOf);
    REQUIRE(delta.nics_size() == 3);
    REQUIRE_FALSE(delta.nics(0).carries_targets());
    REQUIRE_FALSE(delta.nics(1).carries_targets());
    REQUIRE(delta.nics(2).name() == "eth2");
    REQUIRE(delta.nics(2).carries_targets());
    REQUIRE(delta.nics(2).rx_bytes() == 0);
  }
}

TEST_CASE("this host's counters grow by at least what this process does between two readings") {
  constexpr int kNaps = 20;
  const HostCounters before = ReadHostCounters({});
  REQUIRE(before.cpu.has_value());
  for (int i = 0; i < kNaps; ++i) ::usleep(1000);  // each gives up the processor
  const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 10;
  while (std::clock() < until) {
  }
  const v1::HostDelta delta = HostDeltaBetween(before, ReadHostCounters({}));
  CHECK(delta.seconds() >= kNaps * 0.001);
  CHECK(delta.cpu_user_s() + delta.cpu_system_s() > 0);
  CHECK(delta.has_cpu_idle_s());
  CHECK(delta.context_switches() >= kNaps);
}

// ----------------------------------------------------------------------------------------------- targets

TEST_CASE("a directory that can be written to is a good target, and is left as it was") {
  const TempDir directory;
  const v1::TargetFacts facts = ProbeTarget(directory.path(), "boot-a");
  REQUIRE(facts.problem().code() == 0);
  REQUIRE_FALSE(facts.filesystem().empty());
  REQUIRE(facts.free_bytes() > 0);
  REQUIRE(facts.logical_block_bytes() >= 512);
  REQUIRE_FALSE(facts.has_manifest());
  REQUIRE_FALSE(facts.foreign_data());
  REQUIRE(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a local file system is the same one only on the same client") {
  const TempDir one, two;
  const FilesystemId id = FilesystemOf(ProbeTarget(one.path(), "boot-a"));
  REQUIRE(FilesystemOf(ProbeTarget(two.path(), "boot-a")) == id);
  REQUIRE(FilesystemOf(ProbeTarget(one.path(), "boot-b")) != id);
  REQUIRE(FilesystemOf(ProbeTarget("/proc", "boot-a")) != id);
}

TEST_CASE("a memory file system is known as one") {
  struct stat facts {};
  if (::stat("/dev/shm", &facts) != 0) return;  // not every container has it
  const v1::TargetFacts shm = ProbeTarget("/dev/shm", "boot-a");
  REQUIRE(shm.filesystem() == "tmpfs");
  REQUIRE(shm.memory());
  REQUIRE_FALSE(shm.network());
}

TEST_CASE("the directory that an overlay writes to is found among its mount options") {
  CHECK(UpperDirectoryOf("rw,relatime,rw,lowerdir=/l1:/l2,upperdir=/upper/dir,workdir=/w") == "/upper/dir");
  CHECK(UpperDirectoryOf("rw,upperdir=/a\\040b") == "/a b");
  CHECK(UpperDirectoryOf("rw,upperdir=/a\\134,b,workdir=/w") == "/a,b");
  CHECK(UpperDirectoryOf("ro,lowerdir=/upperdir=/x:/y") == "");
  CHECK(UpperDirectoryOf("") == "");
}

TEST_CASE("an overlay is memory where what it writes to is") {
  Mount overlay;
  overlay.filesystem = "overlay";
  const TempDir local;
  overlay.options = "rw,upperdir=" + local.path();
  CHECK(KeepsDataInMemory(overlay) == ProbeTarget(local.path(), "boot-a").memory());
  overlay.options = "rw,upperdir=/nonexistent/upper";
  CHECK_FALSE(KeepsDataInMemory(overlay));
  overlay.options = "ro,lowerdir=/l";
  CHECK_FALSE(KeepsDataInMemory(overlay));
  if (std::filesystem::is_directory("/dev/shm")) {
    overlay.options = "rw,lowerdir=/l,upperdir=/dev/shm,workdir=/w";
    CHECK(KeepsDataInMemory(overlay));
  }
}

TEST_CASE("a target that cannot be used says why in words that help") {
  const TempDir directory;
  directory.Write("file", "");
  const v1::TargetFacts missing = ProbeTarget(directory.path() + "/nowhere", "boot-a");
  REQUIRE(missing.problem().errno_value() == ENOENT);
  REQUIRE_THAT(missing.problem().message(), Catch::Contains(directory.path() + "/nowhere does not exist"));
  REQUIRE_THAT(ProbeTarget(directory.path() + "/file", "boot-a").problem().message(),
               Catch::Contains("is not a directory"));
  REQUIRE(::chmod(directory.path().c_str(), 0555) == 0);
  const bool was_root = ::geteuid() == 0;
  if (was_root) REQUIRE(::seteuid(65534) == 0);  // root may write everywhere
  const v1::TargetFacts locked = ProbeTarget(directory.path(), "boot-a");
  if (was_root) REQUIRE(::seteuid(0) == 0);
  REQUIRE(locked.problem().errno_value() == EACCES);
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  REQUIRE(::symlink("/", directory.data().c_str()) == 0);
  REQUIRE_THAT(ProbeTarget(directory.path(), "boot-a").problem().message(), Catch::Contains("symbolic link"));
}

TEST_CASE("a URL is a target by itself, and what is wrong with it is told with it") {
  REQUIRE(DirectoryToWorkIn("nfs://server/export/dir?uid=1") == "nfs://server/export/dir?uid=1");
  const v1::TargetFacts no_export = ProbeTarget("nfs://server", "boot-a");
  REQUIRE(no_export.problem().code() == static_cast<int>(absl::StatusCode::kInvalidArgument));
  REQUIRE(no_export.problem().file() == "nfs://server");
  // Nothing listens on port 1, or the build has no libnfs: either is a problem, reported at once.
  const v1::TargetFacts unreachable = ProbeTarget("nfs://127.0.0.1/export?nfsport=1&mountport=1", "boot-a");
  REQUIRE(unreachable.problem().code() != 0);
  REQUIRE_THAT(unreachable.problem().message(), Catch::Contains("127.0.0.1"));
  REQUIRE(unreachable.filesystem_id().empty());
}

TEST_CASE("data of ours and of others are seen at a target") {
  const TempDir directory;
  WorkerHarness worker;
  worker.ClaimData(directory, 4711);
  const v1::TargetFacts ours = ProbeTarget(directory.path(), "boot-a");
  REQUIRE(ours.manifest().run_id() == 4711);
  REQUIRE(ours.owner() == v1::TargetFacts::ALIVE);
  REQUIRE(ours.owner_pid() == ::getpid());
  const TempDir foreign;
  REQUIRE(::mkdir(foreign.data().c_str(), 0755) == 0);
  foreign.Write("cluster-iobench.data/thesis.tex", "");
  REQUIRE(ProbeTarget(foreign.path(), "boot-a").foreign_data());
}

TEST_CASE("the pid namespace is that of this process") {
  struct stat pid_namespace {};
  REQUIRE(::stat("/proc/self/ns/pid", &pid_namespace) == 0);
  const v1::WorkerFacts facts = ProbeWorker({});
  CHECK(facts.pid() == ::getpid());
  CHECK(facts.pid_namespace() == pid_namespace.st_ino);
}

TEST_CASE("the measured costs of clock and loop are plausible and measured once") {
  const v1::WorkerFacts facts = ProbeWorker({});
  REQUIRE(facts.clock_read_ns() > 0);
  REQUIRE(facts.loop_ns() > 0);
  REQUIRE(ProbeWorker({}).loop_ns() == facts.loop_ns());
  REQUIRE_FALSE(facts.host().empty());
  REQUIRE_FALSE(facts.boot_id().empty());
}

}  // namespace
}  // namespace iobench
