#include "coordinator/analysis/phase/server_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock_map.h"
#include "common/time.h"

namespace iobench {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
// The kernel counts processor time in ticks of up to 10 ms. In a shorter interval, the share of one or two ticks says
// nothing, so it sets no maximum.
constexpr double kMinSecondsOfMax = 0.1;
// Figures that cover less of the phase than this are partial.
constexpr double kMinCovered = 0.9;

// An interval on the coordinator's clock.
struct TimedInterval {
  const v1::ServerInterval* counted = nullptr;
  CoordTime begin, end;

  double seconds() const { return SecondsFrom(end - begin); }
  // The part of it that lies in the window, 0 to 1.
  double PartIn(const Window& window) const {
    const int64_t overlap_ns = std::min(end, window.end) - std::max(begin, window.begin);
    return overlap_ns <= 0 ? 0 : static_cast<double>(overlap_ns) / static_cast<double>(end - begin);
  }
};

// On the coordinator's clock, as well as its pings allow. Intervals without a length, of a damaged record, are dropped.
std::vector<TimedInterval> IntervalsOf(const v1::ServerRecord& record) {
  const std::vector<v1::PingBurst> bursts(record.bursts().begin(), record.bursts().end());
  absl::StatusOr<ClockMap> map = ClockMap::Fit(bursts);
  if (!map.ok() && !bursts.empty()) map = ClockMap::Fit(std::span(bursts).last(1));
  std::vector<TimedInterval> intervals;
  if (!map.ok()) return intervals;
  for (const v1::ServerInterval& interval : record.intervals()) {
    const TimedInterval timed = {.counted = &interval,
                                 .begin = map->ToCoordinator({interval.begin_worker_ns()}),
                                 .end = map->ToCoordinator({interval.end_worker_ns()})};
    if (timed.end > timed.begin) intervals.push_back(timed);
  }
  return intervals;
}

// A mean over the sampled time, and the highest value of one interval.
struct MeanAndMax {
  double weighted = 0, seconds = 0, max = -1;
  void Add(double value, double weight_s, bool may_be_max) {
    weighted += value * weight_s;
    seconds += weight_s;
    if (may_be_max) max = std::max(max, value);
  }
  bool known() const { return seconds > 0; }
  double mean() const { return weighted / seconds; }
  double highest() const { return max < 0 ? mean() : max; }
};

struct DiskSums {
  double reads = 0, read_bytes = 0, writes = 0, write_bytes = 0, waited_s = 0;
  MeanAndMax busy;
};

struct NicSums {
  double rx_bytes = 0, tx_bytes = 0;
  std::optional<uint64_t> link_bytes_per_s;
};

struct NfsdSums {
  double seconds = 0;  // of intervals that have its counters; a restart leaves one without
  double rpcs = 0, read_bytes = 0, write_bytes = 0, reads = 0, writes = 0, commits = 0;
  uint32_t threads = 0;
  MeanAndMax busy_threads;
};

// What the intervals counted within the window.
struct ServerSums {
  double seconds = 0;
  uint32_t intervals = 0;
  MeanAndMax cpu_busy, busiest_processor;
  std::map<std::string, DiskSums> disks;
  std::map<std::string, NicSums> nics;
  std::optional<NfsdSums> nfsd;

  void Add(const TimedInterval& interval, const Window& window);
};

void ServerSums::Add(const TimedInterval& interval, const Window& window) {
  const double part = interval.PartIn(window);
  if (part <= 0) return;
  const v1::ServerInterval& counted = *interval.counted;
  const double inside_s = part * interval.seconds();
  const bool long_enough = inside_s >= kMinSecondsOfMax;
  seconds += inside_s;
  ++intervals;
  if (counted.has_cpu_busy()) cpu_busy.Add(counted.cpu_busy(), inside_s, long_enough);
  if (counted.has_busiest_processor()) {
    busiest_processor.Add(counted.busiest_processor(), inside_s, long_enough);
  }
  for (const v1::DiskDelta& disk : counted.disks()) {
    DiskSums& sums = disks[disk.name()];
    sums.reads += part * static_cast<double>(disk.reads());
    sums.read_bytes += part * static_cast<double>(disk.read_bytes());
    sums.writes += part * static_cast<double>(disk.writes());
    sums.write_bytes += part * static_cast<double>(disk.write_bytes());
    sums.waited_s += part * disk.waited_s();
    // The kernel adds the time of a request when it ends, which may be in the next interval.
    sums.busy.Add(std::min(1.0, disk.busy_s() / interval.seconds()), inside_s, long_enough);
  }
  for (const v1::NicDelta& nic : counted.nics()) {
    NicSums& sums = nics[nic.name()];
    sums.rx_bytes += part * static_cast<double>(nic.rx_bytes());
    sums.tx_bytes += part * static_cast<double>(nic.tx_bytes());
    if (nic.has_link_bytes_per_s()) sums.link_bytes_per_s = nic.link_bytes_per_s();
  }
  if (!counted.has_nfsd()) return;
  const v1::NfsdDelta& delta = counted.nfsd();
  if (!nfsd) nfsd.emplace();
  nfsd->seconds += inside_s;
  nfsd->rpcs += part * static_cast<double>(delta.rpcs());
  nfsd->read_bytes += part * static_cast<double>(delta.read_bytes());
  nfsd->write_bytes += part * static_cast<double>(delta.write_bytes());
  nfsd->reads += part * static_cast<double>(delta.reads());
  nfsd->writes += part * static_cast<double>(delta.writes());
  nfsd->commits += part * static_cast<double>(delta.commits());
  nfsd->threads = delta.threads();
  // Busy threads were counted at the end of the interval.
  if (delta.has_busy_threads() && interval.end <= window.end) {
    nfsd->busy_threads.Add(delta.busy_threads(), inside_s, true);
  }
}

void SetDisks(const ServerSums& sums, v1::ServerReport& report) {
  for (const auto& [name, disk] : sums.disks) {
    v1::ServerDisk& put = *report.add_disks();
    put.set_name(name);
    put.set_reads_per_s(disk.reads / sums.seconds);
    put.set_read_bytes_per_s(disk.read_bytes / sums.seconds);
    put.set_writes_per_s(disk.writes / sums.seconds);
    put.set_write_bytes_per_s(disk.write_bytes / sums.seconds);
    put.set_queue(disk.waited_s / sums.seconds);
    // Intervals in which the disk did nothing do not list it.
    put.set_busy(disk.busy.weighted / sums.seconds);
    put.set_busy_max(disk.busy.highest());
  }
  std::stable_sort(report.mutable_disks()->begin(), report.mutable_disks()->end(),
                   [](const v1::ServerDisk& a, const v1::ServerDisk& b) { return a.busy() > b.busy(); });
}

void SetNics(const ServerSums& sums, v1::ServerReport& report) {
  for (const auto& [name, nic] : sums.nics) {
    v1::ServerNic& put = *report.add_nics();
    put.set_name(name);
    put.set_receive_bytes_per_s(nic.rx_bytes / sums.seconds);
    put.set_send_bytes_per_s(nic.tx_bytes / sums.seconds);
    if (nic.link_bytes_per_s) put.set_link_bytes_per_s(*nic.link_bytes_per_s);
  }
  const auto bytes = [](const v1::ServerNic& nic) {
    return nic.receive_bytes_per_s() + nic.send_bytes_per_s();
  };
  std::stable_sort(report.mutable_nics()->begin(), report.mutable_nics()->end(),
                   [&](const v1::ServerNic& a, const v1::ServerNic& b) { return bytes(a) > bytes(b); });
}

void SetNfsd(const NfsdSums& sums, v1::ServerNfsd& nfsd) {
  nfsd.set_rpcs_per_s(sums.rpcs / sums.seconds);
  nfsd.set_read_bytes_per_s(sums.read_bytes / sums.seconds);
  nfsd.set_write_bytes_per_s(sums.write_bytes / sums.seconds);
  nfsd.set_reads_per_s(sums.reads / sums.seconds);
  nfsd.set_writes_per_s(sums.writes / sums.seconds);
  nfsd.set_commits_per_s(sums.commits / sums.seconds);
  nfsd.set_threads(sums.threads);
  if (!sums.busy_threads.known()) return;
  nfsd.set_busy_threads(sums.busy_threads.mean());
  nfsd.set_busy_threads_max(static_cast<uint32_t>(std::lround(sums.busy_threads.highest())));
}

std::optional<Window> TimesOf(const PhaseView& view) {
  std::optional<Window> times;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (!lane.started) continue;
    if (!times) times = Window{.begin = CoordTime{view.phase.start_coord_ns()}, .end = lane.region_end};
    times->end = std::max(times->end, lane.region_end);
  }
  return times && times->end > times->begin ? times : std::nullopt;
}

std::string HostOf(const v1::RunRecord& run, const v1::ServerRecord& record) {
  if (record.sampler() < static_cast<uint32_t>(run.samplers_size())) {
    return run.samplers(static_cast<int>(record.sampler())).host();
  }
  return absl::StrCat("sampler ", record.sampler());
}

}  // namespace

v1::ServerReport ServerReportOf(const v1::ServerRecord& record, const std::string& host,
                                const std::optional<Window>& times) {
  v1::ServerReport report;
  report.set_host(host);
  report.set_problem(record.lost_reason());
  if (!times) return report;
  ServerSums sums;
  for (const TimedInterval& interval : IntervalsOf(record)) sums.Add(interval, *times);
  const double phase_s = SecondsFrom(times->end - times->begin);
  report.set_sampled_s(sums.seconds);
  report.set_interval_count(sums.intervals);
  if (report.problem().empty() && sums.seconds < kMinCovered * phase_s) {
    report.set_problem(sums.seconds == 0 ? "nothing was sampled" : "sampled only for a part of the phase");
  }
  if (sums.seconds == 0) return report;
  if (sums.cpu_busy.known()) {
    report.set_cpu_busy(sums.cpu_busy.mean());
    report.set_cpu_busy_max(sums.cpu_busy.highest());
  }
  if (sums.busiest_processor.known()) report.set_busiest_processor(sums.busiest_processor.mean());
  SetDisks(sums, report);
  SetNics(sums, report);
  if (sums.nfsd) SetNfsd(*sums.nfsd, *report.mutable_nfsd());
  return report;
}

void FillServers(const PhaseView& view, v1::PhaseReport& report) {
  if (view.phase.servers().empty()) return;
  const std::optional<Window> times = TimesOf(view);
  for (const v1::ServerRecord& record : view.phase.servers()) {
    *report.add_servers() = ServerReportOf(record, HostOf(view.run, record), times);
  }
}

v1::ServerFacts ServerFactsOf(const v1::WorkerFacts& sampler) {
  v1::ServerFacts server;
  server.set_host(sampler.host());
  server.set_processors(sampler.processors());
  server.set_memory_bytes(sampler.memory_bytes());
  server.set_kernel(sampler.kernel());
  if (sampler.has_nfs_server()) *server.mutable_nfs() = sampler.nfs_server();
  return server;
}

void FillServerSeries(const PhaseView& view, const Window& axis, v1::PhaseReport& report) {
  for (const v1::ServerRecord& record : view.phase.servers()) {
    v1::ServerSeries& series = *report.mutable_charts()->add_servers();
    bool first = true;
    for (const TimedInterval& interval : IntervalsOf(record)) {
      if (interval.PartIn(axis) <= 0) continue;
      const v1::ServerInterval& counted = *interval.counted;
      const double seconds = interval.seconds();
      if (first) series.set_begin_s(SecondsFrom(interval.begin - axis.begin));
      first = false;
      series.add_end_s(SecondsFrom(interval.end - axis.begin));
      series.add_cpu_busy(counted.has_cpu_busy() ? static_cast<float>(counted.cpu_busy()) : kUnknown);
      double disk_busy = 0, disk_read = 0, disk_write = 0, received = 0, sent = 0;
      for (const v1::DiskDelta& disk : counted.disks()) {
        disk_busy = std::max(disk_busy, std::min(1.0, disk.busy_s() / seconds));
        disk_read += static_cast<double>(disk.read_bytes());
        disk_write += static_cast<double>(disk.write_bytes());
      }
      for (const v1::NicDelta& nic : counted.nics()) {
        received += static_cast<double>(nic.rx_bytes());
        sent += static_cast<double>(nic.tx_bytes());
      }
      series.add_disk_busy(static_cast<float>(disk_busy));
      series.add_disk_read_bytes_per_s(static_cast<float>(disk_read / seconds));
      series.add_disk_write_bytes_per_s(static_cast<float>(disk_write / seconds));
      series.add_receive_bytes_per_s(static_cast<float>(received / seconds));
      series.add_send_bytes_per_s(static_cast<float>(sent / seconds));
      const v1::NfsdDelta& nfsd = counted.nfsd();
      const bool serves = counted.has_nfsd();
      series.add_nfsd_rpcs_per_s(serves ? static_cast<float>(static_cast<double>(nfsd.rpcs()) / seconds)
                                        : kUnknown);
      series.add_nfsd_busy_threads(nfsd.has_busy_threads() ? static_cast<float>(nfsd.busy_threads())
                                                           : kUnknown);
    }
  }
}

}  // namespace iobench
