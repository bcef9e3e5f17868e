#include "worker/sampler/sampler.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "common/clock.h"
#include "worker/sampler/server_counters.h"

namespace iobench {
namespace {

// Linux 6.1: io, th, rpc, proc3 and proc4ops as they are; shortened where a line is not read.
constexpr char kNfsdStat[] =
    "rc 0 12 34567\nfh 0 0 0 0 0\nio 1048576 2097152\nth 8 0 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000 "
    "0.000\nra 32 0 0 0 0 0 0 0 0 0 0 0\nnet 900 0 900 3\nrpc 850 0 0 0 0\n"
    "proc3 22 2 40 0 9 0 0 16 32 0 0 0 0 0 0 0 0 0 0 0 0 0 3\n"
    "proc4 2 4 700\n"
    "proc4ops 76 0 0 0 20 6 7 0 0 0 3 0 0 0 0 0 0 0 0 3 0 0 0 650 0 1 100 0 0 0 0 0 0 0 0 1 0 0 0 200 0\n";

constexpr char kDiskstats[] =
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "   8       0 sda 100 5 2048 40 200 7 4096 90 1 120 130 0 0 0 0 3 4\n"
    "   8       1 sda1 90 5 2000 30 190 7 4000 80 0 100 110\n"
    " 254       0 short 1 2 3\n";

TEST_CASE("the counters of the NFS server add up its versions") {
  const auto nfsd = ParseNfsdStat(kNfsdStat);
  REQUIRE(nfsd.has_value());
  CHECK(nfsd->read_bytes == 1048576);
  CHECK(nfsd->write_bytes == 2097152);
  CHECK(nfsd->rpcs == 850);
  CHECK(nfsd->threads == 8);
  CHECK(nfsd->reads == 16 + 100);
  CHECK(nfsd->writes == 32 + 200);
  CHECK(nfsd->commits == 3 + 7);
  CHECK_FALSE(ParseNfsdStat("").has_value());
  CHECK_FALSE(ParseNfsdStat("io 1\nrpc x\n").has_value());
}

TEST_CASE("disks are read in bytes, and lines that are too short are left out") {
  const auto disks = ParseDiskstats(kDiskstats);
  REQUIRE(disks.size() == 3);
  const DiskCounters& sda = disks.at("sda");
  CHECK(sda.reads == 100);
  CHECK(sda.read_bytes == 2048 * 512);
  CHECK(sda.writes == 200);
  CHECK(sda.write_bytes == 4096 * 512);
  CHECK(sda.busy_ms == 120);
  CHECK(sda.waited_ms == 130);
}

TEST_CASE("processors are told apart, and the sum of all is no processor") {
  const auto processors = ParseProcessorTicks(
      "cpu  10 0 20 300 4 0 1 0 0 0\ncpu0 10 0 20 100 2 0 1 0 0 0\ncpu1 0 0 0 200 2 0 0 5 0 0\nintr 1 2\n");
  REQUIRE(processors.size() == 2);
  CHECK(processors[0].busy == 31);
  CHECK(processors[0].idle == 102);
  CHECK(processors[1].busy == 5);  // stolen by other guests: not idle
}

TEST_CASE("the state of a process whose name looks like a state") {
  CHECK(ParseProcessState("812 (nfsd) D 2 0 0") == 'D');
  CHECK(ParseProcessState("812 (a) S (b) R 2 0 0") == 'R');
  CHECK(ParseProcessState("812 (nfsd)") == '\0');
  CHECK(ParseProcessState("") == '\0');
}

ServerReading ReadingAt(int64_t ns) {
  ServerReading reading;
  reading.at = {ns};
  reading.host.at_monotonic_ns = ns;
  reading.host.cpu = CpuTicks{.user = 0, .system = 0, .idle = 0, .steal = 0};
  reading.processors = {{.busy = 0, .idle = 0}, {.busy = 0, .idle = 0}};
  reading.disks["sda"] = {};
  reading.disks["idle"] = {};
  reading.nfsd.emplace();
  return reading;
}

TEST_CASE("an interval is the difference of two readings") {
  const ServerReading before = ReadingAt(1'000'000'000);
  ServerReading after = ReadingAt(3'000'000'000);
  after.host.cpu = CpuTicks{.user = 20, .system = 10, .idle = 60, .steal = 10};
  after.processors = {{.busy = 30, .idle = 20}, {.busy = 10, .idle = 40}};
  after.disks["sda"] = {
      .reads = 2, .read_bytes = 8192, .writes = 3, .write_bytes = 12288, .busy_ms = 500, .waited_ms = 900};
  after.nfsd = NfsdCounters{
      .rpcs = 7, .read_bytes = 100, .write_bytes = 200, .reads = 1, .writes = 2, .commits = 3, .threads = 8};
  after.busy_nfsd_threads = 5;
  const v1::ServerInterval interval = IntervalBetween(before, after);
  CHECK(interval.begin_worker_ns() == 1'000'000'000);
  CHECK(interval.end_worker_ns() == 3'000'000'000);
  CHECK(interval.cpu_busy() == Approx(0.4));           // 40 of 100 ticks, stolen ones too
  CHECK(interval.busiest_processor() == Approx(0.6));  // 30 of 50
  REQUIRE(interval.disks_size() == 1);                 // the idle one is left out
  CHECK(interval.disks(0).name() == "sda");
  CHECK(interval.disks(0).write_bytes() == 12288);
  CHECK(interval.disks(0).busy_s() == Approx(0.5));
  CHECK(interval.disks(0).waited_s() == Approx(0.9));
  CHECK(interval.nfsd().rpcs() == 7);
  CHECK(interval.nfsd().threads() == 8);
  CHECK(interval.nfsd().busy_threads() == 5);
}

TEST_CASE("counters that went backwards are left out") {
  ServerReading before = ReadingAt(1);
  before.disks["sda"].reads = 10;
  before.nfsd->rpcs = 10;
  const v1::ServerInterval interval = IntervalBetween(before, ReadingAt(2));
  CHECK(interval.disks().empty());
  CHECK_FALSE(interval.has_nfsd());
}

TEST_CASE("bytes of nfsd that overflow 32 bits are added up and larger counters that decrease were reset") {
  ServerReading before = ReadingAt(1), after = ReadingAt(2);
  before.nfsd = NfsdCounters{.rpcs = 10, .read_bytes = UINT32_MAX - 99, .write_bytes = 500};
  after.nfsd = NfsdCounters{.rpcs = 12, .read_bytes = 50, .write_bytes = 700};
  const v1::ServerInterval interval = IntervalBetween(before, after);
  REQUIRE(interval.has_nfsd());
  CHECK(interval.nfsd().rpcs() == 2);
  CHECK(interval.nfsd().read_bytes() == 150);
  CHECK(interval.nfsd().write_bytes() == 200);
  before.nfsd->read_bytes = uint64_t{UINT32_MAX} + 1;
  CHECK_FALSE(IntervalBetween(before, after).has_nfsd());
}

TEST_CASE("a full log keeps every other reading, and its intervals still join up") {
  ReadingLog log(8);
  for (int64_t i = 0; i <= 20; ++i) log.Add(ReadingAt(i * 10));
  CHECK(log.stride() > 1);
  const std::vector<v1::ServerInterval> intervals = log.Take();
  REQUIRE(!intervals.empty());
  CHECK(intervals.size() < 8);
  CHECK(intervals.front().begin_worker_ns() == 0);
  CHECK(intervals.back().end_worker_ns() == 200);
  for (size_t i = 1; i < intervals.size(); ++i) {
    CHECK(intervals[i].begin_worker_ns() == intervals[i - 1].end_worker_ns());
  }
  CHECK(log.stride() == 1);
  CHECK(log.Take().empty());  // only the newest reading is left
  log.Add(ReadingAt(230));
  REQUIRE(log.Take().size() == 1);
}

TEST_CASE("intervals that are too large for a message are joined until they fit") {
  constexpr size_t kMaxBytes = 200;  // a few intervals with a disk
  ReadingLog log(100, kMaxBytes);
  for (int64_t i = 0; i <= 50; ++i) {
    ServerReading reading = ReadingAt(i * 10);
    reading.disks["sda"].reads = static_cast<uint64_t>(i);
    log.Add(std::move(reading));
  }
  const std::vector<v1::ServerInterval> intervals = log.Take();
  REQUIRE(intervals.size() >= 2);
  size_t bytes = 0;
  uint64_t reads = 0;
  int64_t end_ns = 0;
  for (const v1::ServerInterval& interval : intervals) {
    CHECK(interval.begin_worker_ns() == end_ns);
    end_ns = interval.end_worker_ns();
    bytes += interval.ByteSizeLong();
    REQUIRE(interval.disks_size() == 1);
    reads += interval.disks(0).reads();
  }
  CHECK(end_ns == 500);
  CHECK(bytes <= kMaxBytes);
  CHECK(reads == 50);
  CHECK(log.stride() == 1);
}

TEST_CASE("a sampler reads when it is asked, and between") {
  // Its thread may outlive this test for a moment.
  const auto reads = std::make_shared<std::atomic<int64_t>>(0);
  Sampler sampler([reads] { return ReadingAt(++*reads * 1000); });
  CHECK(sampler.Take(1'000'000).value().empty());  // begins
  const int64_t until_ns = MonotonicNowNs() + 20 * kNanosPerSecond;
  while (*reads < 5 && MonotonicNowNs() < until_ns) {
  }
  const std::vector<v1::ServerInterval> intervals = sampler.Take(1'000'000).value();
  REQUIRE(intervals.size() >= 4);
  CHECK(intervals.front().begin_worker_ns() == 1000);
  for (size_t i = 1; i < intervals.size(); ++i) {
    CHECK(intervals[i].begin_worker_ns() == intervals[i - 1].end_worker_ns());
  }
}

TEST_CASE("this host's counters can be read, in its worker's clock") {
  const WorkerClock clock(5 * kNanosPerSecond);
  ServerCounterReader reader(clock);
  const ServerReading first = reader.Read();
  const ServerReading second = reader.Read();
  CHECK(first.at >= clock.Now() + -60 * kNanosPerSecond);
  CHECK(second.at > first.at);
  CHECK(!first.processors.empty());
  CHECK(first.host.cpu.has_value());
}

}  // namespace
}  // namespace iobench
