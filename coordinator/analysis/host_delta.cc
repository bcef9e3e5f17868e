#include "coordinator/analysis/host_delta.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace iobench {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double AllCpuSeconds(const v1::HostDelta& host) {
  return host.cpu_user_s() + host.cpu_system_s() + host.cpu_idle_s() + host.cpu_steal_s();
}

bool KnowsCpu(const v1::HostDelta& host) {
  return host.has_cpu_user_s() && host.has_cpu_system_s() && host.has_cpu_idle_s() && AllCpuSeconds(host) > 0;
}

}  // namespace

v1::HostDelta ClientDelta(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers) {
  v1::HostDelta client;
  bool any = false;
  bool all_know_reads = !workers.empty(), all_know_writes = !workers.empty();
  uint64_t disk_read_bytes = 0, disk_write_bytes = 0;
  // Containers of one host may have the same process numbers, but then different host names.
  std::set<std::pair<std::string, int64_t>> seen_processes;
  for (const v1::WorkerPhaseResult* worker : workers) {
    const v1::HostDelta& host = worker->host();
    all_know_reads = all_know_reads && host.has_disk_read_bytes();
    all_know_writes = all_know_writes && host.has_disk_write_bytes();
    const v1::WorkerFacts& facts = run.workers(static_cast<int>(worker->worker()));
    const bool is_new = facts.pid() == 0 || seen_processes.insert({facts.host(), facts.pid()}).second;
    if (is_new) {
      disk_read_bytes += host.disk_read_bytes();
      disk_write_bytes += host.disk_write_bytes();
    }
    if (!any && host.seconds() > 0) {
      client = host;
      any = true;
      continue;
    }
    for (const auto& [target, nfs] : host.nfs()) client.mutable_nfs()->insert({target, nfs});
  }
  client.clear_disk_read_bytes();
  client.clear_disk_write_bytes();
  if (all_know_reads) client.set_disk_read_bytes(disk_read_bytes);
  if (all_know_writes) client.set_disk_write_bytes(disk_write_bytes);
  return client;
}

double CpuPercent(const v1::HostDelta& host) {
  return KnowsCpu(host) ? 100 * (host.cpu_user_s() + host.cpu_system_s()) / AllCpuSeconds(host) : kNaN;
}

double StealPercent(const v1::HostDelta& host) {
  return KnowsCpu(host) && host.has_cpu_steal_s() ? 100 * host.cpu_steal_s() / AllCpuSeconds(host) : kNaN;
}

double NetworkPercent(const v1::HostDelta& host) {
  if (!host.has_nic_rx_bytes() || !host.has_nic_tx_bytes() || host.nic_link_bytes_per_s() == 0 ||
      host.seconds() <= 0) {
    return kNaN;
  }
  const double bytes = static_cast<double>(std::max(host.nic_rx_bytes(), host.nic_tx_bytes()));
  return 100 * bytes / host.seconds() / static_cast<double>(host.nic_link_bytes_per_s());
}

}  // namespace iobench
