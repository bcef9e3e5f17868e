// Figures of a server, by arithmetic that can be checked by hand.
#include "coordinator/analysis/phase/server_figures.h"

#include <optional>
#include <string>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// The server's clock is ahead by this.
constexpr int64_t kAheadNs = 1000 * kSecondNs;

// A ping without any delay: the offset is known exactly.
void AddBurst(int64_t at_s, v1::ServerRecord& record) {
  v1::PingSample& sample = *record.add_bursts()->add_samples();
  sample.set_sent_coord_ns(at_s * kSecondNs);
  sample.set_returned_coord_ns(at_s * kSecondNs);
  sample.set_received_worker_ns(at_s * kSecondNs + kAheadNs);
  sample.set_replied_worker_ns(at_s * kSecondNs + kAheadNs);
}

// An interval of the coordinator's clock, in tenths of a second.
v1::ServerInterval& AddInterval(int64_t begin_ds, int64_t end_ds, v1::ServerRecord& record) {
  v1::ServerInterval& interval = *record.add_intervals();
  interval.set_begin_worker_ns(begin_ds * kSecondNs / 10 + kAheadNs);
  interval.set_end_worker_ns(end_ds * kSecondNs / 10 + kAheadNs);
  return interval;
}

void AddDisk(const char* name, uint64_t write_bytes, double busy_s, v1::ServerInterval& interval) {
  v1::DiskDelta& disk = *interval.add_disks();
  disk.set_name(name);
  disk.set_writes(write_bytes / 1000);
  disk.set_write_bytes(write_bytes);
  disk.set_busy_s(busy_s);
  disk.set_waited_s(2 * busy_s);
}

// Three intervals of a second from 9.5 s to 12.5 s.
v1::ServerRecord Record() {
  v1::ServerRecord record;
  for (const int64_t at_s : {9, 13}) AddBurst(at_s, record);
  v1::ServerInterval& first = AddInterval(95, 105, record);
  first.set_cpu_busy(0.2);
  AddDisk("sda", 1000, 0.5, first);
  v1::ServerInterval& second = AddInterval(105, 115, record);
  second.set_cpu_busy(0.8);
  second.set_busiest_processor(1);
  AddDisk("sda", 4000, 1, second);
  second.mutable_nfsd()->set_rpcs(300);
  second.mutable_nfsd()->set_write_bytes(4000);
  second.mutable_nfsd()->set_threads(8);
  second.mutable_nfsd()->set_busy_threads(6);
  v1::NicDelta& nic = *second.add_nics();
  nic.set_name("eth0");
  nic.set_rx_bytes(6000);
  nic.set_link_bytes_per_s(10'000);
  v1::ServerInterval& third = AddInterval(115, 125, record);
  third.set_cpu_busy(0.4);
  AddDisk("sdb", 2000, 0.1, third);
  third.mutable_nfsd()->set_rpcs(100);
  third.mutable_nfsd()->set_threads(8);
  third.mutable_nfsd()->set_busy_threads(2);
  return record;
}

// From 10 s to 12 s: half of the first interval, all of the second, half of the third.
constexpr Window kTimes = {.begin = {10 * kSecondNs}, .end = {12 * kSecondNs}};

TEST_CASE("intervals that the phase cuts count by their part inside, on the coordinator's clock") {
  const v1::ServerReport report = ServerReportOf(Record(), "filer", kTimes);
  CHECK(report.host() == "filer");
  CHECK(report.problem().empty());
  CHECK(report.sampled_s() == Approx(2));
  CHECK(report.interval_count() == 3);
  CHECK(report.cpu_busy() == Approx((0.5 * 0.2 + 0.8 + 0.5 * 0.4) / 2));
  CHECK(report.cpu_busy_max() == Approx(0.8));
  REQUIRE(report.disks_size() == 2);  // the busier first
  CHECK(report.disks(0).name() == "sda");
  CHECK(report.disks(0).write_bytes_per_s() == Approx((500 + 4000) / 2.0));
  CHECK(report.disks(0).busy() == Approx((0.5 * 0.5 + 1) / 2));  // it did nothing in the third interval
  CHECK(report.disks(0).busy_max() == Approx(1));
  CHECK(report.disks(0).queue() == Approx((0.5 + 2) / 2));
  CHECK(report.disks(1).write_bytes_per_s() == Approx(500));
  REQUIRE(report.nics_size() == 1);
  CHECK(report.nics(0).receive_bytes_per_s() == Approx(3000));
  CHECK(report.nics(0).link_bytes_per_s() == 10'000);
  CHECK(report.nfsd().rpcs_per_s() == Approx((300 + 50) / 1.5));  // the first interval has none of its counters
  CHECK(report.nfsd().write_bytes_per_s() == Approx(4000 / 1.5));
  CHECK(report.nfsd().threads() == 8);
  CHECK(report.nfsd().busy_threads() == Approx(6));  // the third interval ended after the phase
  CHECK(report.nfsd().busy_threads_max() == 6);
}

TEST_CASE("a short interval sets no maximum") {
  v1::ServerRecord record;
  AddBurst(10, record);
  AddInterval(100, 120, record).set_cpu_busy(0.5);
  v1::ServerInterval& tick = *record.add_intervals();
  tick.set_begin_worker_ns(12 * kSecondNs + kAheadNs);
  tick.set_end_worker_ns(12 * kSecondNs + kAheadNs + 10'000'000);
  tick.set_cpu_busy(1);
  const Window times = {.begin = {10 * kSecondNs}, .end = {13 * kSecondNs}};
  const v1::ServerReport report = ServerReportOf(record, "filer", times);
  CHECK(report.cpu_busy_max() == Approx(0.5));
  CHECK(report.problem() == "sampled only for a part of the phase");
}

TEST_CASE("a sampler that was lost, or saw nothing, says so and has no figures") {
  v1::ServerRecord record;
  record.set_lost_reason("it hung up");
  CHECK(ServerReportOf(record, "filer", kTimes).problem() == "it hung up");
  CHECK(ServerReportOf({}, "filer", kTimes).problem() == "nothing was sampled");
  CHECK_FALSE(ServerReportOf({}, "filer", kTimes).has_cpu_busy());
  CHECK(ServerReportOf(Record(), "filer", std::nullopt).interval_count() == 0);
}

}  // namespace
}  // namespace iobench
