#include "worker/client/host_counters.h"

#include <dirent.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/proc_file.h"
#include "common/time.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

using Words = std::vector<absl::string_view>;

Words WordsOf(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

// Returns the words of the first line that begins with `key`; empty if there is none.
Words LineOf(std::string_view text, std::string_view key) {
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    if (!absl::StartsWith(line, absl::string_view(key.data(), key.size()))) continue;
    Words words = WordsOf(line);
    if (!words.empty() && words[0] == absl::string_view(key.data(), key.size())) return words;
  }
  return {};
}

std::optional<uint64_t> NumberAt(const Words& words, size_t index) {
  uint64_t number = 0;
  if (index >= words.size() || !absl::SimpleAtoi(words[index], &number)) return std::nullopt;
  return number;
}

std::optional<uint64_t> FirstNumberOf(std::string_view text, std::string_view key) {
  return NumberAt(LineOf(text, key), 1);
}

NicFacts ReadNic(const std::string& name) {
  const std::string directory = absl::StrCat("/sys/class/net/", name);
  NicFacts nic;
  bool knows_speed = false;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (entries != nullptr) {
    while (const dirent* const entry = ::readdir(entries.get())) {
      const std::string_view entry_name(entry->d_name);
      nic.stands_on_another |= entry_name.starts_with("lower_");
      knows_speed |= entry_name == "device" || entry_name == "bonding";
    }
  }
  // In Mbit/s; -1 or unreadable if there is no link or it is unknown (virtual machines).
  const std::optional<std::string> speed = ReadWholeFile(directory + "/speed");
  int64_t megabits = 0;
  if (knows_speed && speed && absl::SimpleAtoi(*speed, &megabits) && megabits > 0) {
    nic.link_bytes_per_s = static_cast<uint64_t>(megabits) * 1'000'000 / 8;
  }
  return nic;
}

template <typename Field>
std::optional<Field> Difference(const std::optional<Field>& before, const std::optional<Field>& after) {
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

// "sda" of "8:0".
std::string BlockDeviceName(const std::string& device) {
  const std::string uevent = ReadWholeFile(absl::StrCat("/sys/dev/block/", device, "/uevent")).value_or("");
  for (const absl::string_view line : absl::StrSplit(uevent, '\n')) {
    constexpr absl::string_view kName = "DEVNAME=";
    if (absl::StartsWith(line, kName)) return std::string(line.substr(kName.size()));
  }
  return device;
}

// Sets the quota's fields: the smallest quota, and what the group withheld that withheld most.
void AddCpuQuotas(const CgroupCounters& before, const CgroupCounters& after, v1::CgroupDelta& delta) {
  for (const auto& [group, is] : after.cpu) {
    if (!delta.has_cpu_processors() || is.processors < delta.cpu_processors()) {
      delta.set_cpu_processors(is.processors);
    }
    const auto was = before.cpu.find(group);
    if (was == before.cpu.end() || is.periods < was->second.periods ||
        is.throttled_s < was->second.throttled_s) {
      continue;  // the quota, or the group, is new
    }
    const double throttled_s = is.throttled_s - was->second.throttled_s;
    if (delta.has_throttled_s() && throttled_s <= delta.throttled_s()) continue;
    delta.set_throttled_s(throttled_s);
    delta.set_periods(is.periods - was->second.periods);
    delta.set_throttled_periods(is.throttled_periods - was->second.throttled_periods);
  }
}

void ReadProcessors(HostCounters& counters) {
  if (const auto text = ReadWholeFile("/proc/stat")) {
    counters.cpu = ParseCpuTicks(*text);
    counters.context_switches = ParseContextSwitches(*text);
  }
}

void AddNics(const HostCounters& before, const HostCounters& after, const std::set<std::string>& carriers,
             const NicFactsOf& facts_of, v1::HostDelta& delta) {
  for (const auto& [name, is] : after.nics) {
    const auto found = before.nics.find(name);
    if (found == before.nics.end()) continue;
    const NicBytes& was = found->second;
    if (is.rx_bytes < was.rx_bytes || is.tx_bytes < was.tx_bytes || is.drops < was.drops)
      continue;  // the interface was created again
    const NicFacts& facts = facts_of(name);
    const uint64_t rx_bytes = is.rx_bytes - was.rx_bytes, tx_bytes = is.tx_bytes - was.tx_bytes;
    if (!facts.stands_on_another) {
      delta.set_nic_rx_bytes(delta.nic_rx_bytes() + rx_bytes);
      delta.set_nic_tx_bytes(delta.nic_tx_bytes() + tx_bytes);
      delta.set_nic_drops(delta.nic_drops() + is.drops - was.drops);
      if (facts.link_bytes_per_s) {
        delta.set_nic_link_bytes_per_s(delta.nic_link_bytes_per_s() + *facts.link_bytes_per_s);
      }
    }
    const bool carries = carriers.contains(name);
    if (!carries && (facts.stands_on_another || rx_bytes + tx_bytes == 0)) continue;
    v1::NicDelta& nic = *delta.add_nics();
    nic.set_name(name);
    nic.set_rx_bytes(rx_bytes);
    nic.set_tx_bytes(tx_bytes);
    nic.set_drops(is.drops - was.drops);
    if (is.errors >= was.errors) nic.set_errors(is.errors - was.errors);
    if (facts.link_bytes_per_s) nic.set_link_bytes_per_s(*facts.link_bytes_per_s);
    nic.set_carries_targets(carries);
  }
}

// Of "tcp 10.0.0.1 815"; 0: none.
uint32_t PortIn(const std::string& connection) {
  uint32_t port = 0;
  return absl::SimpleAtoi(connection.substr(connection.rfind(' ') + 1), &port) ? port : 0;
}

// Connections that were made anew between the readings begin at 0; those that have ended are unknown.
void AddTcp(const HostCounters& before, const HostCounters& after, v1::HostDelta& delta) {
  if (before.tcp && after.tcp && before.tcp->sent <= after.tcp->sent &&
      before.tcp->retransmitted <= after.tcp->retransmitted) {
    delta.set_tcp_sent_segments(after.tcp->sent - before.tcp->sent);
    delta.set_tcp_retransmitted_segments(after.tcp->retransmitted - before.tcp->retransmitted);
  }
  for (const auto& [name, is] : after.server_connections) {
    const auto found = before.server_connections.find(name);
    TcpConnection was = found == before.server_connections.end() ? TcpConnection() : found->second;
    if (is.sent_segments < was.sent_segments || is.retransmitted_segments < was.retransmitted_segments)
      was = {};
    v1::TcpConnectionDelta& connection = *delta.add_server_connections();
    connection.set_connection(name);
    connection.set_sent_segments(is.sent_segments - was.sent_segments);
    connection.set_retransmitted_segments(is.retransmitted_segments - was.retransmitted_segments);
    connection.set_round_trip_ms(is.round_trip_ms);
    connection.set_smallest_round_trip_ms(is.smallest_round_trip_ms);
    connection.set_path_mtu(is.path_mtu);
  }
}

}  // namespace

const NicFacts& FactsOfNic(const std::string& name) {
  static Mutex mutex;
  // Its elements must not move. Never destroyed: a thread that hangs in a system call may outlive main().
  static auto& known = *new std::map<std::string, NicFacts>;
  const MutexLock lock(mutex);
  const auto found = known.find(name);
  return found != known.end() ? found->second : known.emplace(name, ReadNic(name)).first->second;
}

std::optional<CpuTicks> ParseCpuTicks(std::string_view proc_stat) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; user includes guest.
  const Words words = LineOf(proc_stat, "cpu");
  std::vector<uint64_t> ticks;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::optional<uint64_t> number = NumberAt(words, i);
    if (!number) break;
    ticks.push_back(*number);
  }
  if (ticks.size() < 4) return std::nullopt;
  ticks.resize(std::max<size_t>(ticks.size(), 7));
  CpuTicks cpu;
  cpu.user = ticks[0] + ticks[1];
  cpu.system = ticks[2] + ticks[5] + ticks[6];
  cpu.idle = ticks[3] + ticks[4];
  if (ticks.size() > 7) cpu.steal = ticks[7];
  return cpu;
}

std::optional<uint64_t> ParseContextSwitches(std::string_view proc_stat) {
  return FirstNumberOf(proc_stat, "ctxt");
}

std::map<std::string, NicBytes> ParseNetDev(std::string_view proc_net_dev) {
  std::map<std::string, NicBytes> nics;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(proc_net_dev.data(), proc_net_dev.size()), '\n')) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    const Words name = WordsOf(line.substr(0, colon));
    // receive: bytes packets errs drop fifo frame compressed multicast; transmit: bytes packets errs drop …
    const Words counters = WordsOf(line.substr(colon + 1));
    const auto rx_bytes = NumberAt(counters, 0), rx_drops = NumberAt(counters, 3);
    const auto tx_bytes = NumberAt(counters, 8), tx_drops = NumberAt(counters, 11);
    const uint64_t errors = NumberAt(counters, 2).value_or(0) + NumberAt(counters, 10).value_or(0);
    if (name.size() != 1 || name[0] == "lo" || !rx_bytes || !tx_bytes || !rx_drops || !tx_drops) continue;
    nics[std::string(name[0])] = {*rx_bytes, *tx_bytes, *rx_drops + *tx_drops, errors};
  }
  return nics;
}

std::optional<uint64_t> ParseDirtyBytes(std::string_view proc_meminfo) {
  const std::optional<uint64_t> dirty_kib = FirstNumberOf(proc_meminfo, "Dirty:");
  if (!dirty_kib) return std::nullopt;
  return *dirty_kib * 1024;
}

std::optional<uint64_t> ParseAllDisksReadBytes(std::string_view proc_vmstat) {
  const std::optional<uint64_t> read_kib = FirstNumberOf(proc_vmstat, "pgpgin");
  if (!read_kib) return std::nullopt;
  return *read_kib * 1024;
}

std::optional<uint64_t> ParseDiskReadBytes(std::string_view proc_self_io) {
  return FirstNumberOf(proc_self_io, "read_bytes:");
}

std::optional<uint64_t> ParseDiskWriteBytes(std::string_view proc_self_io) {
  return FirstNumberOf(proc_self_io, "write_bytes:");
}

HostCounters ReadHostCounters(const std::map<uint32_t, std::string>& nfs_mount_points, bool last_is_cpu,
                              const std::set<std::string>& servers) {
  HostCounters counters;
  if (!last_is_cpu) ReadProcessors(counters);
  counters.at_monotonic_ns = MonotonicNowNs();
  if (const auto text = ReadWholeFile("/proc/net/dev")) counters.nics = ParseNetDev(*text);
  if (const auto text = ReadWholeFile("/proc/meminfo")) counters.dirty_bytes = ParseDirtyBytes(*text);
  if (const auto text = ReadWholeFile("/proc/vmstat")) {
    counters.all_disks_read_bytes = ParseAllDisksReadBytes(*text);
  }
  if (const auto text = ReadWholeFile("/proc/self/io")) {
    counters.disk_read_bytes = ParseDiskReadBytes(*text);
    counters.disk_write_bytes = ParseDiskWriteBytes(*text);
  }
  if (const auto text = ReadWholeFile("/proc/net/snmp")) counters.tcp = ParseTcpSegments(*text);
  std::set<uint32_t> ports;  // of this host, by the connections of the mounts
  if (!nfs_mount_points.empty()) {
    if (const auto text = ReadWholeFile("/proc/self/mountstats")) {
      const std::vector<NfsMountCounters> mounts = ParseMountstats(*text);
      for (const auto& [target, mount_point] : nfs_mount_points) {
        if (const NfsMountCounters* mount = FindNfsMount(mounts, mount_point)) counters.nfs[target] = *mount;
      }
      for (const auto& [target, mount] : counters.nfs) {
        for (const NfsConnectionCounters& each : mount.connections) ports.insert(each.source_port);
      }
    }
  }
  ports.erase(0);  // unknown
  if (!servers.empty()) counters.server_connections = ReadTcpConnections(servers);
  // A server may also be where the coordinator listens, or somebody's shell.
  std::erase_if(counters.server_connections, [&](const auto& connection) {
    return !ports.empty() && !ports.contains(PortIn(connection.first));
  });
  counters.cgroup = ReadCgroupCounters();
  if (last_is_cpu) ReadProcessors(counters);
  return counters;
}

std::optional<v1::CgroupDelta> CgroupDeltaBetween(const CgroupCounters& before, const CgroupCounters& after,
                                                  const DeviceNameOf& name_of) {
  if (!after.any) return std::nullopt;
  v1::CgroupDelta delta;
  delta.set_seconds(SecondsFrom(after.at_monotonic_ns - before.at_monotonic_ns));
  AddCpuQuotas(before, after, delta);
  for (const auto& [key, is] : after.io) {
    const auto was = before.io.find(key);
    if (was == before.io.end() || is.amount < was->second.amount) continue;
    v1::IoLimitDelta& limit = *delta.add_io_limits();
    limit.set_device(name_of(key.device));
    limit.set_writes(key.writes);
    limit.set_ops(key.ops);
    limit.set_limit_per_s(is.per_s);
    limit.set_amount(is.amount - was->second.amount);
  }
  if (after.memory_max_bytes) delta.set_memory_max_bytes(*after.memory_max_bytes);
  for (const auto& [group, is] : after.memory_max_hits) {
    const auto was = before.memory_max_hits.find(group);
    if (was == before.memory_max_hits.end() || is < was->second) continue;
    delta.set_memory_max_hits(std::max(delta.memory_max_hits(), is - was->second));
  }
  if (const auto kills = Difference(before.oom_kills, after.oom_kills)) delta.set_oom_kills(*kills);
  return delta;
}

v1::HostDelta HostDeltaBetween(const HostCounters& before, const HostCounters& after,
                               const std::set<std::string>& carriers, const NicFactsOf& facts_of) {
  v1::HostDelta delta;
  delta.set_seconds(SecondsFrom(after.at_monotonic_ns - before.at_monotonic_ns));
  if (before.cpu && after.cpu) {
    const double ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const auto seconds = [ticks_per_s](uint64_t was, uint64_t is) {
      return is < was ? 0.0 : static_cast<double>(is - was) / ticks_per_s;  // iowait and steal may decrease
    };
    delta.set_cpu_user_s(seconds(before.cpu->user, after.cpu->user));
    delta.set_cpu_system_s(seconds(before.cpu->system, after.cpu->system));
    delta.set_cpu_idle_s(seconds(before.cpu->idle, after.cpu->idle));
    if (before.cpu->steal && after.cpu->steal)
      delta.set_cpu_steal_s(seconds(*before.cpu->steal, *after.cpu->steal));
  }
  if (const auto switches = Difference(before.context_switches, after.context_switches)) {
    delta.set_context_switches(*switches);
  }
  AddNics(before, after, carriers, facts_of, delta);
  AddTcp(before, after, delta);
  if (after.dirty_bytes) delta.set_dirty_bytes_after(*after.dirty_bytes);
  if (const auto bytes = Difference(before.all_disks_read_bytes, after.all_disks_read_bytes))
    delta.set_all_disks_read_bytes(*bytes);
  if (const auto bytes = Difference(before.disk_read_bytes, after.disk_read_bytes))
    delta.set_disk_read_bytes(*bytes);
  if (const auto bytes = Difference(before.disk_write_bytes, after.disk_write_bytes))
    delta.set_disk_write_bytes(*bytes);
  for (const auto& [target, is] : after.nfs) {
    const auto was = before.nfs.find(target);
    if (was == before.nfs.end()) continue;
    if (const auto nfs = NfsDeltaBetween(was->second, is)) (*delta.mutable_nfs())[target] = *nfs;
  }
  if (const auto cgroup = CgroupDeltaBetween(before.cgroup, after.cgroup, BlockDeviceName))
    *delta.mutable_cgroup() = *cgroup;
  return delta;
}

}  // namespace iobench
