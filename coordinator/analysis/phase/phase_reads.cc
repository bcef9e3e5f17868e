#include "coordinator/analysis/phase/phase_reads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/operation.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"

namespace iobench {
namespace {

// What the lanes of a client requested from one mount, or from all local file systems, which share the processes'
// counters.
struct AskedBytes {
  uint32_t target_index = 0;  // of one of the mount's targets, which all have its counters
  double bytes = 0;
  // The part that must have come from memory because it was there before; only of lanes that read part of their files
  // in random order. A comparison of sums does not show it, because the client reads more than their records. In other
  // orders the client reads hardly more than requested, and it matters which part of a file is in memory.
  double resident_bytes = 0;

  void Add(const v1::LaneResult& lane, bool at_random, double read_bytes, double lane_bytes) {
    bytes += read_bytes;
    if (!at_random || !lane.has_resident_bytes() || lane_bytes <= 0 || read_bytes >= lane_bytes) return;
    resident_bytes += read_bytes * std::min(1.0, static_cast<double>(lane.resident_bytes()) / lane_bytes);
  }

  // The part that came from the storage, which delivered `storage_bytes`: perhaps more than was requested.
  double FromStorage(double storage_bytes) const { return std::min(bytes - resident_bytes, storage_bytes); }
};

bool ReadsRandomly(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && (spec->pattern == Pattern::kRandom || spec->pattern == Pattern::kRandomMix);
}

// Requested bytes by the counter that covers them. They are the bytes that the lanes moved, since Linux does not count
// reads through mmap.
struct AskedByCounter {
  std::map<std::string, AskedBytes> mounts;  // targets on the same mount read the same counters
  AskedBytes local;
  double unmounted = 0;  // by libnfs, which has no cache
  double uncounted = 0;  // other network file systems, file systems in memory or in user space

  double all() const {
    double bytes = local.bytes + unmounted + uncounted;
    for (const auto& [mount, asked] : mounts) bytes += asked.bytes;
    return bytes;
  }
};

AskedByCounter AskedOf(const PhaseView& view, std::span<const AlignedLane* const> lanes) {
  AskedByCounter asked;
  const auto lane_bytes =
      static_cast<double>(ShapeOf(view.run.plan(), view.phase.phase()).files.bytes_per_lane());
  for (const AlignedLane* lane : lanes) {
    const double read_bytes = TimedBytesOf(*lane->result, {OpKind::kRead, OpKind::kUpdate});
    const v1::Assignment* const assignment = view.assignments.Of(lane->worker);
    const v1::Operation operation = assignment == nullptr ? v1::Operation() : assignment->operation();
    if (read_bytes <= 0 || (assignment != nullptr && MovesNothing(operation))) continue;
    uint32_t target_index = 0;
    const v1::TargetFacts* const target = view.TargetOf(*lane, &target_index);
    const bool at_random = ReadsRandomly(operation);
    if (assignment != nullptr && IsUnmounted(operation)) {
      asked.unmounted += read_bytes;
    } else if (target != nullptr && ChargesItsProcesses(*target)) {
      asked.local.Add(*lane->result, at_random, read_bytes, lane_bytes);
    } else if (target != nullptr && IsNfs(*target)) {
      AskedBytes& of_mount = asked.mounts[MountOf(*target, target_index)];
      of_mount.target_index = target_index;
      of_mount.Add(*lane->result, at_random, read_bytes, lane_bytes);
    } else {
      asked.uncounted += read_bytes;
    }
  }
  return asked;
}

double FilesToMemory(const PhaseView& view, const ClientPart& part) {
  if (part.workers.empty()) return kNaN;
  std::vector<const v1::WorkerFacts*> facts;
  for (const AlignedWorker* const worker : part.workers)
    facts.push_back(&view.run.workers(static_cast<int>(worker->number)));
  const uint64_t memory_bytes = MemoryOfWorkers(facts);
  const uint64_t file_bytes = FileBytesOf(view, part.lanes);
  if (memory_bytes == 0 || file_bytes == 0) return kNaN;
  return static_cast<double>(file_bytes) / static_cast<double>(memory_bytes);
}

uint64_t Rounded(double bytes) {
  return static_cast<uint64_t>(std::llround(std::max(0.0, bytes)));
}

}  // namespace

uint64_t FileBytesOf(const PhaseView& view, std::span<const AlignedLane* const> lanes) {
  if (view.traits.metadata) return 0;
  std::set<uint32_t> owners;
  for (const AlignedLane* lane : lanes) owners.insert(lane->result->file_owner());
  return owners.size() * ShapeOf(view.run.plan(), view.phase.phase()).files.bytes_per_lane();
}

std::optional<v1::ReadSources> ReadSourcesOf(const PhaseView& view, const v1::HostDelta& host,
                                             const ClientPart& part) {
  const AskedByCounter asked = AskedOf(view, part.lanes);
  if (asked.all() <= 0) return std::nullopt;
  double server = asked.unmounted, disk = 0, cache = 0;
  for (const auto& [mount, of_mount] : asked.mounts) {
    const auto nfs = host.nfs().find(of_mount.target_index);
    if (nfs == host.nfs().end() || !nfs->second.has_server_read_bytes()) continue;
    const double served = of_mount.FromStorage(static_cast<double>(nfs->second.server_read_bytes()));
    server += served;
    cache += of_mount.bytes - served;
  }
  // The kernel charges a process for what it reads over NFS, too, and these reads cannot be separated.
  if (host.has_disk_read_bytes() && asked.mounts.empty()) {
    disk = asked.local.FromStorage(static_cast<double>(host.disk_read_bytes()));
    cache += asked.local.bytes - disk;
  }
  v1::ReadSources sources;
  sources.set_asked_bytes(Rounded(asked.all()));
  sources.set_server_bytes(Rounded(server));
  sources.set_disk_bytes(Rounded(disk));
  sources.set_cache_bytes(Rounded(cache));
  sources.set_unknown_bytes(Rounded(asked.all() - server - disk - cache));
  sources.set_files_to_memory(FilesToMemory(view, part));
  return sources;
}

void FillReads(const PhaseView& view, v1::PhaseReport& report) {
  if (!view.traits.reads) return;
  const std::vector<ClientPart> parts = ClientPartsOf(view);
  for (v1::ClientPhaseReport& client : *report.mutable_clients()) {
    const ClientPart& part = parts[view.roster.ClientOf(client.workers(0).worker())];
    std::optional<v1::ReadSources> sources = ReadSourcesOf(view, client.host_delta(), part);
    if (!sources) continue;
    if (!report.has_read_sources()) {
      *report.mutable_read_sources() = *sources;
    } else {
      v1::ReadSources& sum = *report.mutable_read_sources();
      sum.set_asked_bytes(sum.asked_bytes() + sources->asked_bytes());
      sum.set_server_bytes(sum.server_bytes() + sources->server_bytes());
      sum.set_disk_bytes(sum.disk_bytes() + sources->disk_bytes());
      sum.set_cache_bytes(sum.cache_bytes() + sources->cache_bytes());
      sum.set_unknown_bytes(sum.unknown_bytes() + sources->unknown_bytes());
      sum.set_files_to_memory(std::fmin(sum.files_to_memory(), sources->files_to_memory()));
    }
    *client.mutable_read_sources() = *std::move(sources);
  }
}

}  // namespace iobench
