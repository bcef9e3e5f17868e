// Limits of control groups, from a file tree such as the kernel shows: cgroup v1, v2, both, nested groups, namespaces.
#include "common/process/cgroup_limits.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/process/usable_memory.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

class CgroupTree {
 public:
  // `cgroup`: of /proc/self/cgroup; `mounts`: lines of /proc/self/mountinfo.
  CgroupTree(const std::string& cgroup, const std::string& mounts) {
    Put("/proc/self/cgroup", cgroup);
    Put("/proc/self/mountinfo", mounts);
    Put("/proc/meminfo", "MemTotal: 1000000000 kB\nMemAvailable: 900000000 kB\n");
  }
  void Put(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = root() + path;
    std::filesystem::create_directories(whole.parent_path());
    directory_.Write(path.substr(1), text);
  }
  std::string root() const { return directory_.path(); }

 private:
  TempDir directory_;
};

CgroupTree V2(const std::string& group) {
  return CgroupTree(absl::StrCat("0::", group, "\n"),
                    "25 23 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
}

constexpr char kV1Mounts[] =
    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST_CASE("quotas of cgroup v2 and v1 are processors, and without a limit there is none") {
  CHECK(ParseCpuMax("50000 100000\n") == 0.5);
  CHECK(ParseCpuMax("250000 100000") == 2.5);
  CHECK_FALSE(ParseCpuMax("max 100000\n"));
  CHECK_FALSE(ParseCpuMax(""));
  CHECK(ParseCfsQuota("20000\n", "100000\n") == 0.2);
  CHECK_FALSE(ParseCfsQuota("-1\n", "100000\n"));
  CHECK_FALSE(ParseCfsQuota("20000\n", ""));
}

TEST_CASE("throttled time is in microseconds in v2, and in nanoseconds in v1") {
  const auto v2 = ParseCpuStat(
      "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods 100\nnr_throttled 40\nthrottled_usec 2500000\nnr_bursts 0\n");
  REQUIRE(v2.has_value());
  CHECK(v2->periods == 100);
  CHECK(v2->throttled_periods == 40);
  CHECK(v2->throttled_s == 2.5);
  const auto v1 = ParseCpuStat("nr_periods 7\nnr_throttled 3\nthrottled_time 1500000000\n");
  REQUIRE(v1.has_value());
  CHECK(v1->throttled_s == 1.5);
  CHECK_FALSE(ParseCpuStat("usage_usec 5\nuser_usec 3\nsystem_usec 2\n"));  // the root group
}

TEST_CASE("limits of block I/O in v2 and v1") {
  const IoAmounts limits = ParseIoMax("8:16 rbps=2097152 wbps=max riops=max wiops=120\n254:0 rbps=max wbps=1048576\n");
  CHECK(limits == IoAmounts{{{"8:16", false, false}, 2097152}, {{"8:16", true, true}, 120}, {{"254:0", true, false}, 1048576}});
  const IoAmounts used = ParseIoStat("8:16 rbytes=100 wbytes=200 rios=3 wios=4 dbytes=0 dios=0\n");
  CHECK(used.at({"8:16", false, false}) == 100);
  CHECK(used.at({"8:16", true, true}) == 4);
  CHECK(ParseDeviceLimits("8:0 10485760\n") == std::map<std::string, uint64_t>{{"8:0", 10485760}});
  const auto amounts = ParseBlkioAmounts("8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 1\n8:0 Total 12288\nTotal 12288\n");
  CHECK(amounts.size() == 2);
  CHECK(amounts.at({"8:0", true}) == 8192);
}

TEST_CASE("memory without a limit is a word in v2, and a huge number in v1") {
  CHECK(ParseMemoryMax("536870912\n") == 536870912);
  CHECK_FALSE(ParseMemoryMax("max\n"));
  CHECK_FALSE(ParseMemoryMax("9223372036854771712\n"));
}

TEST_CASE("v2: every group above the process counts, and a controller that is off below is read above") {
  const CgroupTree tree = V2("/batch/job/step");
  const std::string base = "/sys/fs/cgroup";
  tree.Put(base + "/batch/job/step/cgroup.procs", "");
  tree.Put(base + "/batch/cpu.max", "400000 100000\n");
  tree.Put(base + "/batch/cpu.stat", "nr_periods 9\nnr_throttled 0\nthrottled_usec 0\n");
  tree.Put(base + "/batch/job/cpu.max", "50000 100000\n");
  tree.Put(base + "/batch/job/cpu.stat", "nr_periods 9\nnr_throttled 8\nthrottled_usec 1000000\n");
  tree.Put(base + "/batch/job/io.max", "8:0 rbps=10485760 wbps=max riops=max wiops=max\n");
  tree.Put(base + "/batch/job/io.stat", "8:0 rbytes=777 wbytes=5 rios=1 wios=1\n");
  const CgroupCounters counters = ReadCgroupCounters(tree.root());
  CHECK(counters.any);
  REQUIRE(counters.cpu.size() == 2);
  CHECK(counters.cpu.at(tree.root() + base + "/batch/job").processors == 0.5);
  CHECK(counters.cpu.at(tree.root() + base + "/batch/job").throttled_s == 1);
  REQUIRE(counters.io.size() == 1);
  CHECK(counters.io.begin()->second.per_s == 10485760);
  CHECK(counters.io.begin()->second.amount == 777);
  CHECK_FALSE(counters.oom_kills);
}

TEST_CASE("the smallest memory limit counts, and what files use of it is available") {
  const CgroupTree tree = V2("/pod/container");
  const std::string base = "/sys/fs/cgroup";
  tree.Put(base + "/pod/container/memory.max", "max\n");
  tree.Put(base + "/pod/container/memory.events", "low 0\nhigh 0\nmax 5\noom 2\noom_kill 1\n");
  tree.Put(base + "/pod/memory.max", "1073741824\n");
  tree.Put(base + "/pod/memory.current", "805306368\n");
  tree.Put(base + "/pod/memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\n");
  tree.Put(base + "/pod/memory.stat", "anon 268435456\ninactive_file 268435456\nactive_file 134217728\n");
  const MemoryLimit limit = ReadMemoryLimit(tree.root());
  CHECK(limit.max_bytes == 1073741824);
  CHECK(limit.group != 0);
  CHECK(limit.available_bytes == 1073741824 - (805306368 - 268435456 - 134217728));
  CHECK(AvailableMemoryBytes(tree.root()) == *limit.available_bytes);
  CHECK(MemoryOfThisProcess(tree.root()).bytes == 1073741824);
  CHECK(ReadOomKills(tree.root()) == 1);
  const CgroupCounters counters = ReadCgroupCounters(tree.root());
  CHECK(counters.memory_max_bytes == 1073741824);
  CHECK(counters.memory_max_hits.at(tree.root() + base + "/pod") == 7);
  CHECK(counters.oom_kills == 1);
}

TEST_CASE("v1: each controller has its own groups, also beside an empty v2 hierarchy") {
  const CgroupTree tree("5:memory:/slurm/job_7\n4:cpu,cpuacct:/slurm/job_7\n3:blkio:/\n0::/\n", kV1Mounts);
  const std::string base = "/sys/fs/cgroup";
  tree.Put(base + "/unified/cgroup.procs", "");
  tree.Put(base + "/cpu/slurm/job_7/cpu.cfs_quota_us", "10000\n");
  tree.Put(base + "/cpu/slurm/job_7/cpu.cfs_period_us", "100000\n");
  tree.Put(base + "/cpu/slurm/job_7/cpu.stat", "nr_periods 10\nnr_throttled 9\nthrottled_time 4000000000\n");
  tree.Put(base + "/cpu/cpu.cfs_quota_us", "-1\n");
  tree.Put(base + "/blkio/blkio.throttle.write_bps_device", "8:0 10485760\n");
  tree.Put(base + "/blkio/blkio.throttle.io_service_bytes", "8:0 Read 1\n8:0 Write 31457280\nTotal 31457281\n");
  tree.Put(base + "/memory/slurm/job_7/memory.limit_in_bytes", "268435456\n");
  tree.Put(base + "/memory/slurm/job_7/memory.usage_in_bytes", "200000000\n");
  tree.Put(base + "/memory/slurm/job_7/memory.stat", "inactive_file 1\ntotal_inactive_file 100000000\ntotal_active_file 0\n");
  tree.Put(base + "/memory/slurm/job_7/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  tree.Put(base + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const CgroupCounters counters = ReadCgroupCounters(tree.root());
  REQUIRE(counters.cpu.size() == 1);
  CHECK(counters.cpu.begin()->second.processors == 0.1);
  CHECK(counters.cpu.begin()->second.throttled_s == 4);
  REQUIRE(counters.io.size() == 1);
  CHECK(counters.io.begin()->first.writes);
  CHECK(counters.io.begin()->second.amount == 31457280);
  CHECK(counters.memory_max_bytes == 268435456);
  CHECK(counters.oom_kills == 3);
  CHECK(ReadMemoryLimit(tree.root()).available_bytes == 268435456 - 100000000);
}

TEST_CASE("in a container, its own group is the root of what it sees") {
  SECTION("with a namespace: the group is called /") {
    const CgroupTree tree = V2("/");
    tree.Put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    tree.Put("/sys/fs/cgroup/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_usec 0\n");
    CHECK(ReadCpuQuotas(tree.root()).size() == 1);
  }
  SECTION("without one: only the group's directory is mounted, under its name on the host") {
    const CgroupTree tree("0::/docker/1f2e\n",
                          "25 23 0:22 /docker/1f2e /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
    tree.Put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    tree.Put("/sys/fs/cgroup/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_usec 0\n");
    REQUIRE(ReadCpuQuotas(tree.root()).size() == 1);
    CHECK(ReadCpuQuotas(tree.root()).begin()->second.processors == 1.5);
  }
}

TEST_CASE("without a cgroup file system, everything is absent") {
  const CgroupTree tree("", "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
  const CgroupCounters counters = ReadCgroupCounters(tree.root());
  CHECK_FALSE(counters.any);
  CHECK(counters.cpu.empty());
  CHECK(counters.io.empty());
  CHECK_FALSE(counters.memory_max_bytes);
  CHECK_FALSE(counters.oom_kills);
  const UsableMemory memory = MemoryOfThisProcess(tree.root());
  CHECK(memory.bytes == memory.host_bytes);
  CHECK(memory.group == 0);
  CHECK(AvailableMemoryBytes(tree.root()) == uint64_t{900'000'000} * 1024);
}

TEST_CASE("a killed process is called that once, and only if its group's count has grown") {
  const CgroupTree tree = V2("/job");
  const std::string events = "/sys/fs/cgroup/job/memory.events";
  tree.Put(events, "oom 0\noom_kill 1\n");
  OomWatch watch(tree.root());
  CHECK(watch.ReasonText().empty());
  tree.Put(events, "oom 1\noom_kill 2\n");
  const std::string reason = watch.ReasonText();
  CHECK(reason.find("the kernel killed a process of its control group, whose memory was used up") != std::string::npos);
  CHECK(reason.find("oom_kill") != std::string::npos);
  tree.Put("/sys/fs/cgroup/job/memory.max", "67108864\n");
  tree.Put(events, "oom 1\noom_kill 3\n");
  CHECK(watch.ReasonText().find("whose memory of 64 MiB was used up (oom_kill of memory.events): raise memory.max "
                                "(MemoryMax= of systemd, --mem of Slurm)") != std::string::npos);
  CHECK(watch.ReasonText().empty());
  const CgroupTree none("", "");
  CHECK(OomWatch(none.root()).ReasonText().empty());
}

}  // namespace
}  // namespace iobench
