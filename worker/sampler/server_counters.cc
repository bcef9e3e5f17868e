#include "worker/sampler/server_counters.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/proc_file.h"

namespace iobench {
namespace {

using Numbers = std::vector<uint64_t>;

// /proc counts sectors of 512 bytes, whatever the device's own are.
constexpr uint64_t kProcSectorBytes = 512;
constexpr int64_t kLookAgainNs = 5 * kNanosPerSecond;
constexpr char kNfsdThread[] = "nfsd\n";
// Positions of procedures in proc3 (RFC 1813) and of operations in proc4ops (RFC 7530), after the line's own count.
constexpr size_t kRead3 = 6, kWrite3 = 7, kCommit3 = 21;
constexpr size_t kCommit4 = 5, kRead4 = 25, kWrite4 = 38;

std::vector<absl::string_view> LinesOf(std::string_view text) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), '\n', absl::SkipEmpty());
}

// Returns the numbers after the first word, up to the first word that is not a number.
Numbers NumbersAfterFirst(absl::string_view line) {
  Numbers numbers;
  bool first = true;
  for (const absl::string_view word : absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
    uint64_t number = 0;
    if (!std::exchange(first, false)) {
      if (!absl::SimpleAtoi(word, &number)) break;
      numbers.push_back(number);
    }
  }
  return numbers;
}

// Returns the names of all entries that are not hidden.
std::vector<std::string> EntriesOf(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return names;
  while (const dirent* const entry = ::readdir(entries.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

// Returns the calls at a position in a protocol version's line, which is a count, then that many numbers.
uint64_t CallsAt(const Numbers& line, size_t position) {
  return position + 1 < line.size() ? line[position + 1] : 0;
}

bool WentBackwards(const DiskCounters& was, const DiskCounters& is) {
  return is.reads < was.reads || is.read_bytes < was.read_bytes || is.writes < was.writes ||
         is.write_bytes < was.write_bytes || is.busy_ms < was.busy_ms || is.waited_ms < was.waited_ms;
}

// Before Linux 5.12, nfsd counted bytes in 32 bits, which overflow every 4 s at 1 GB/s. A larger counter that decreases
// was reset.
bool BytesWereReset(uint64_t was, uint64_t is) {
  return is < was && was > UINT32_MAX;
}
uint64_t NfsdBytesBetween(uint64_t was, uint64_t is) {
  return is < was ? is + (uint64_t{1} << 32) - was : is - was;
}

bool WentBackwards(const NfsdCounters& was, const NfsdCounters& is) {
  return is.rpcs < was.rpcs || BytesWereReset(was.read_bytes, is.read_bytes) ||
         BytesWereReset(was.write_bytes, is.write_bytes) || is.reads < was.reads || is.writes < was.writes ||
         is.commits < was.commits;
}

void AddDisks(const ServerReading& before, const ServerReading& after, v1::ServerInterval& interval) {
  for (const auto& [name, is] : after.disks) {
    const auto found = before.disks.find(name);
    if (found == before.disks.end() || WentBackwards(found->second, is)) continue;
    const DiskCounters& was = found->second;
    if (is.reads == was.reads && is.writes == was.writes && is.busy_ms == was.busy_ms) continue;
    v1::DiskDelta& disk = *interval.add_disks();
    disk.set_name(name);
    disk.set_reads(is.reads - was.reads);
    disk.set_read_bytes(is.read_bytes - was.read_bytes);
    disk.set_writes(is.writes - was.writes);
    disk.set_write_bytes(is.write_bytes - was.write_bytes);
    disk.set_busy_s(static_cast<double>(is.busy_ms - was.busy_ms) * 1e-3);
    disk.set_waited_s(static_cast<double>(is.waited_ms - was.waited_ms) * 1e-3);
  }
}

void AddNfsd(const ServerReading& before, const ServerReading& after, v1::ServerInterval& interval) {
  if (!before.nfsd || !after.nfsd || WentBackwards(*before.nfsd, *after.nfsd)) return;
  v1::NfsdDelta& nfsd = *interval.mutable_nfsd();
  nfsd.set_rpcs(after.nfsd->rpcs - before.nfsd->rpcs);
  nfsd.set_read_bytes(NfsdBytesBetween(before.nfsd->read_bytes, after.nfsd->read_bytes));
  nfsd.set_write_bytes(NfsdBytesBetween(before.nfsd->write_bytes, after.nfsd->write_bytes));
  nfsd.set_reads(after.nfsd->reads - before.nfsd->reads);
  nfsd.set_writes(after.nfsd->writes - before.nfsd->writes);
  nfsd.set_commits(after.nfsd->commits - before.nfsd->commits);
  nfsd.set_threads(after.nfsd->threads);
  if (after.busy_nfsd_threads) nfsd.set_busy_threads(*after.busy_nfsd_threads);
}

// Share of time in which the busiest processor was not idle; nullopt: unknown, or no tick has passed.
std::optional<double> BusiestProcessor(const ServerReading& before, const ServerReading& after) {
  if (before.processors.empty() || before.processors.size() != after.processors.size()) return std::nullopt;
  std::optional<double> busiest;
  for (size_t i = 0; i < after.processors.size(); ++i) {
    const ProcessorTicks &was = before.processors[i], &is = after.processors[i];
    const uint64_t busy = is.busy < was.busy ? 0 : is.busy - was.busy;
    const uint64_t idle = is.idle < was.idle ? 0 : is.idle - was.idle;
    if (busy + idle == 0) continue;
    const double share = static_cast<double>(busy) / static_cast<double>(busy + idle);
    busiest = std::max(busiest.value_or(0), share);
  }
  return busiest;
}

}  // namespace

std::vector<ProcessorTicks> ParseProcessorTicks(std::string_view proc_stat) {
  std::vector<ProcessorTicks> processors;
  for (const absl::string_view line : LinesOf(proc_stat)) {
    if (!absl::StartsWith(line, "cpu") || absl::StartsWith(line, "cpu ")) continue;
    // user nice system idle iowait irq softirq steal guest guest_nice; user includes guest, and nice guest_nice.
    Numbers ticks = NumbersAfterFirst(line);
    if (ticks.size() < 4) continue;
    ticks.resize(std::max<size_t>(ticks.size(), 8));
    processors.push_back({.busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7],
                          .idle = ticks[3] + ticks[4]});
  }
  return processors;
}

std::map<std::string, DiskCounters> ParseDiskstats(std::string_view proc_diskstats) {
  std::map<std::string, DiskCounters> disks;
  for (const absl::string_view line : LinesOf(proc_diskstats)) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    // major minor name reads merged sectors ms writes merged sectors ms in-flight busy-ms waited-ms …
    constexpr size_t kName = 2, kFirst = 3, kNeeded = 11;
    Numbers numbers;
    for (size_t i = kFirst; i < words.size() && numbers.size() < kNeeded; ++i) {
      uint64_t number = 0;
      if (!absl::SimpleAtoi(words[i], &number)) break;
      numbers.push_back(number);
    }
    if (numbers.size() < kNeeded) continue;
    disks[std::string(words[kName])] = {.reads = numbers[0],
                                        .read_bytes = numbers[2] * kProcSectorBytes,
                                        .writes = numbers[4],
                                        .write_bytes = numbers[6] * kProcSectorBytes,
                                        .busy_ms = numbers[9],
                                        .waited_ms = numbers[10]};
  }
  return disks;
}

std::optional<NfsdCounters> ParseNfsdStat(std::string_view proc_net_rpc_nfsd) {
  NfsdCounters nfsd;
  bool has_rpcs = false, has_io = false;
  for (const absl::string_view line : LinesOf(proc_net_rpc_nfsd)) {
    const Numbers numbers = NumbersAfterFirst(line);
    if (absl::StartsWith(line, "io ") && numbers.size() >= 2) {
      has_io = true;
      nfsd.read_bytes = numbers[0];
      nfsd.write_bytes = numbers[1];
    } else if (absl::StartsWith(line, "th ") && !numbers.empty()) {
      nfsd.threads = static_cast<uint32_t>(numbers[0]);
    } else if (absl::StartsWith(line, "rpc ") && !numbers.empty()) {
      has_rpcs = true;
      nfsd.rpcs = numbers[0];
    } else if (absl::StartsWith(line, "proc3 ")) {
      nfsd.reads += CallsAt(numbers, kRead3);
      nfsd.writes += CallsAt(numbers, kWrite3);
      nfsd.commits += CallsAt(numbers, kCommit3);
    } else if (absl::StartsWith(line, "proc4ops ")) {
      nfsd.reads += CallsAt(numbers, kRead4);
      nfsd.writes += CallsAt(numbers, kWrite4);
      nfsd.commits += CallsAt(numbers, kCommit4);
    }
  }
  if (!has_rpcs || !has_io) return std::nullopt;
  return nfsd;
}

char ParseProcessState(std::string_view proc_pid_stat) {
  const size_t name_end = proc_pid_stat.rfind(") ");
  return name_end == std::string_view::npos || name_end + 2 >= proc_pid_stat.size()
             ? '\0'
             : proc_pid_stat[name_end + 2];
}

v1::ServerInterval IntervalBetween(const ServerReading& before, const ServerReading& after,
                                   const NicFactsOf& facts_of) {
  v1::ServerInterval interval;
  interval.set_begin_worker_ns(before.at.ns);
  interval.set_end_worker_ns(after.at.ns);
  const v1::HostDelta host = HostDeltaBetween(before.host, after.host, {}, facts_of);
  const double busy_s = host.cpu_user_s() + host.cpu_system_s() + host.cpu_steal_s();
  if (host.has_cpu_idle_s() && busy_s + host.cpu_idle_s() > 0) {
    interval.set_cpu_busy(busy_s / (busy_s + host.cpu_idle_s()));
  }
  if (const auto busiest = BusiestProcessor(before, after)) interval.set_busiest_processor(*busiest);
  *interval.mutable_nics() = host.nics();
  AddDisks(before, after, interval);
  AddNfsd(before, after, interval);
  return interval;
}

void ServerCounterReader::ReadAllCounters() {
  const int64_t now_ns = MonotonicNowNs();
  if (now_ns < look_again_ns_) return;
  look_again_ns_ = now_ns + kLookAgainNs;
  disks_.clear();
  for (const std::string& name : EntriesOf("/sys/block")) {
    if (EntriesOf(absl::StrCat("/sys/block/", name, "/slaves")).empty()) disks_.insert(name);
  }
  nfsd_threads_.clear();
  for (const std::string& pid : EntriesOf("/proc")) {
    if (pid[0] < '0' || pid[0] > '9') continue;
    if (ReadWholeFile(absl::StrCat("/proc/", pid, "/comm")) == kNfsdThread) {
      nfsd_threads_.push_back(absl::StrCat("/proc/", pid, "/stat"));
    }
  }
}

ServerReading ServerCounterReader::Read() {
  ReadAllCounters();
  ServerReading reading;
  reading.host = ReadHostCounters({});
  reading.at = WorkerTime{reading.host.at_monotonic_ns + clock_.offset_ns()};
  if (const auto text = ReadWholeFile("/proc/stat")) reading.processors = ParseProcessorTicks(*text);
  if (const auto text = ReadWholeFile("/proc/diskstats")) {
    reading.disks = ParseDiskstats(*text);
    std::erase_if(reading.disks, [this](const auto& disk) { return !disks_.contains(disk.first); });
  }
  if (const auto text = ReadWholeFile("/proc/net/rpc/nfsd")) reading.nfsd = ParseNfsdStat(*text);
  if (!nfsd_threads_.empty()) {
    uint32_t busy = 0;
    for (const std::string& path : nfsd_threads_) {
      const auto text = ReadWholeFile(path);
      const char state = text ? ParseProcessState(*text) : '\0';
      busy += state == 'R' || state == 'D' ? 1 : 0;
    }
    reading.busy_nfsd_threads = busy;
  }
  return reading;
}

}  // namespace iobench
