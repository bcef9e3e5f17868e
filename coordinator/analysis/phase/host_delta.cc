#include "coordinator/analysis/phase/host_delta.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/phase/client_roster.h"
#include "coordinator/analysis/phase/phase_view.h"

namespace iobench {
namespace {

double AllCpuSeconds(const v1::HostDelta& host) {
  return host.cpu_user_s() + host.cpu_system_s() + host.cpu_idle_s() + host.cpu_steal_s();
}

bool KnowsCpu(const v1::HostDelta& host) {
  return host.has_cpu_user_s() && host.has_cpu_system_s() && host.has_cpu_idle_s() && AllCpuSeconds(host) > 0;
}

// Returns the end on its worker's clock, which all workers of a client share. For workers without lanes, the longest
// reading counts as the last.
std::pair<int64_t, double> LastEndOf(const v1::WorkerPhaseResult& worker) {
  int64_t end_ns = 0;
  for (const v1::LaneResult& lane : worker.lanes()) end_ns = std::max(end_ns, lane.region_end_worker_ns());
  return {end_ns, worker.host().seconds()};
}

std::vector<const v1::WorkerPhaseResult*> OneOfEachProcess(
    const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers) {
  std::vector<const v1::WorkerPhaseResult*> processes;
  std::set<ProcessKey> seen;
  for (const v1::WorkerPhaseResult* worker : workers) {
    if (seen.insert(ProcessKeyOf(run, worker->worker())).second) processes.push_back(worker);
  }
  return processes;
}

// Returns the mount of each target for which a worker has a reading, by the target's number.
std::map<uint32_t, std::string> MountsRead(const v1::RunRecord& run,
                                           std::span<const v1::WorkerPhaseResult* const> workers) {
  std::map<uint32_t, std::string> mount_of;
  for (const v1::WorkerPhaseResult* worker : workers) {
    const uint32_t number = worker->worker();
    for (const auto& [target, nfs] : worker->host().nfs()) {
      const auto [mount, is_new] = mount_of.try_emplace(target);
      if (!is_new) continue;
      const v1::TargetFacts* const seen = SeenOf(run, std::span(&number, 1), target);
      mount->second = seen == nullptr ? absl::StrCat("target ", target) : MountOf(*seen, target);
    }
  }
  return mount_of;
}

// Targets on one mount share its counters, but a worker reads them only for its own targets and when its own lanes have
// ended. An earlier reading lacks what the others did afterwards.
void SetNfs(const std::map<uint32_t, std::string>& mount_of,
            std::span<const v1::WorkerPhaseResult* const> last_first, v1::HostDelta& client) {
  std::map<std::string, const v1::NfsDelta*> last_of_mount;
  for (const v1::WorkerPhaseResult* worker : last_first) {
    // What one worker has read of several targets on a mount is equal.
    for (const auto& [target, nfs] : worker->host().nfs()) last_of_mount.emplace(mount_of.at(target), &nfs);
  }
  client.clear_nfs();
  for (const auto& [target, mount] : mount_of) {
    (*client.mutable_nfs())[target] = *last_of_mount.at(mount);
  }
}

double ThrottledShare(const v1::CgroupDelta& cgroup) {
  return cgroup.has_throttled_s() && cgroup.seconds() > 0 ? cgroup.throttled_s() / cgroup.seconds() : -1;
}

double FullestShare(const v1::HostDelta& host) {
  const v1::IoLimitDelta* const fullest = FullestIoLimit(host);
  return fullest == nullptr ? -1 : IoLimitPercent(host, *fullest);
}

// Workers of one client may be in different control groups.
void SetCgroup(std::span<const v1::WorkerPhaseResult* const> workers, v1::HostDelta& client) {
  client.clear_cgroup();
  const v1::HostDelta* fullest = nullptr;
  for (const v1::WorkerPhaseResult* const worker : workers) {
    if (!worker->host().has_cgroup()) continue;
    const v1::CgroupDelta& is = worker->host().cgroup();
    if (!client.has_cgroup()) {
      *client.mutable_cgroup() = is;
      fullest = &worker->host();
      continue;
    }
    v1::CgroupDelta& most = *client.mutable_cgroup();
    if (ThrottledShare(is) > ThrottledShare(most)) {
      most.set_cpu_processors(is.cpu_processors());
      most.set_throttled_s(is.throttled_s());
      most.set_periods(is.periods());
      most.set_throttled_periods(is.throttled_periods());
      most.set_seconds(is.seconds());
    }
    if (FullestShare(worker->host()) > FullestShare(*fullest)) {
      *most.mutable_io_limits() = is.io_limits();
      fullest = &worker->host();
    }
    if (is.has_memory_max_bytes() && !(most.has_memory_max_bytes() && most.memory_max_bytes() <= is.memory_max_bytes()))
      most.set_memory_max_bytes(is.memory_max_bytes());
    if (is.has_memory_max_hits()) most.set_memory_max_hits(std::max(most.memory_max_hits(), is.memory_max_hits()));
    if (is.has_oom_kills()) most.set_oom_kills(std::max(most.oom_kills(), is.oom_kills()));
  }
}

}  // namespace

ProcessKey ProcessKeyOf(const v1::RunRecord& run, uint32_t worker) {
  const v1::WorkerFacts& facts = run.workers(static_cast<int>(worker));
  const int64_t process = facts.pid() != 0 ? facts.pid() : -1 - int64_t{worker};
  return {facts.host(), facts.pid_namespace(), process};
}

v1::HostDelta ClientDelta(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers) {
  // All readings began before the common start, so the worker that ended last has counted what the others did too.
  std::vector<const v1::WorkerPhaseResult*> last_first(workers.begin(), workers.end());
  std::stable_sort(last_first.begin(), last_first.end(),
                   [](const v1::WorkerPhaseResult* a, const v1::WorkerPhaseResult* b) {
                     return LastEndOf(*a) > LastEndOf(*b);
                   });
  v1::HostDelta client;
  if (!workers.empty()) client = last_first.front()->host();
  SetNfs(MountsRead(run, workers), last_first, client);
  for (const v1::WorkerPhaseResult* worker : last_first) {
    for (const auto& [target, space] : worker->host().spaces())
      client.mutable_spaces()->insert({target, space});
  }
  SetCgroup(workers, client);
  client.clear_disk_read_bytes();
  client.clear_disk_write_bytes();
  if (workers.empty()) return client;
  const auto all_know = [&](bool (v1::HostDelta::*has)() const) {
    return std::all_of(workers.begin(), workers.end(),
                       [has](const v1::WorkerPhaseResult* worker) { return (worker->host().*has)(); });
  };
  uint64_t disk_read_bytes = 0, disk_write_bytes = 0;
  for (const v1::WorkerPhaseResult* worker : OneOfEachProcess(run, workers)) {
    disk_read_bytes += worker->host().disk_read_bytes();
    disk_write_bytes += worker->host().disk_write_bytes();
  }
  if (all_know(&v1::HostDelta::has_disk_read_bytes)) client.set_disk_read_bytes(disk_read_bytes);
  if (all_know(&v1::HostDelta::has_disk_write_bytes)) client.set_disk_write_bytes(disk_write_bytes);
  return client;
}

double ThrottledPercent(const v1::HostDelta& host) {
  const double share = ThrottledShare(host.cgroup());
  return share < 0 ? kNaN : std::min(100.0, 100 * share);
}

double IoLimitPercent(const v1::HostDelta& host, const v1::IoLimitDelta& limit) {
  const double allowed = limit.limit_per_s() * host.cgroup().seconds();
  return allowed > 0 ? 100 * static_cast<double>(limit.amount()) / allowed : kNaN;
}

const v1::IoLimitDelta* FullestIoLimit(const v1::HostDelta& host) {
  const v1::IoLimitDelta* fullest = nullptr;
  for (const v1::IoLimitDelta& limit : host.cgroup().io_limits()) {
    if (fullest == nullptr || IoLimitPercent(host, limit) > IoLimitPercent(host, *fullest)) fullest = &limit;
  }
  return fullest;
}

double WaitedShare(const v1::ClientPhaseReport& client) {
  return client.has_lanes_run_delay_s() && client.lanes_wall_s() > 0
             ? client.lanes_run_delay_s() / client.lanes_wall_s()
             : kNaN;
}

double CpuPercent(const v1::HostDelta& host) {
  return KnowsCpu(host) ? 100 * (host.cpu_user_s() + host.cpu_system_s()) / AllCpuSeconds(host) : kNaN;
}

double StealPercent(const v1::HostDelta& host) {
  return KnowsCpu(host) && host.has_cpu_steal_s() ? 100 * host.cpu_steal_s() / AllCpuSeconds(host) : kNaN;
}

double OwnCpuPercent(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers,
                     const v1::HostDelta& host) {
  if (!KnowsCpu(host)) return kNaN;
  double own_s = 0;
  for (const v1::WorkerPhaseResult* worker : OneOfEachProcess(run, workers)) {
    own_s += worker->process_cpu_user_s() + worker->process_cpu_system_s();
  }
  // The host's counters have a coarser resolution than a process's.
  return std::min(CpuPercent(host), 100 * own_s / AllCpuSeconds(host));
}

double NetworkPercent(const v1::HostDelta& host, const v1::NicDelta& nic) {
  if (nic.link_bytes_per_s() == 0 || host.seconds() <= 0) return kNaN;
  const double bytes = static_cast<double>(std::max(nic.rx_bytes(), nic.tx_bytes()));
  return 100 * bytes / host.seconds() / static_cast<double>(nic.link_bytes_per_s());
}

}  // namespace iobench
