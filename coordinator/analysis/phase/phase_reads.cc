#include "coordinator/analysis/phase/phase_reads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/data_content.h"
#include "common/model/operation.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"

namespace iobench {
namespace {

// Of the bytes that clients received from servers: if the sampled servers' own count is lower, there are others.
constexpr double kCoveredByNfsd = 0.9;
// If servers received more than this share of what they returned, besides what was written, they fetched it.
constexpr double kFetched = 0.5;
constexpr double kHardlyAny = 0.05;

// What the lanes of a client requested from one mount, or from all local file systems, which share the processes'
// counters.
struct AskedBytes {
  uint32_t target_index = 0;  // of one of the mount's targets, which all have its counters
  double bytes = 0;
  // The part that must have come from memory because it was there before; only of lanes that read part of their files
  // in random order. A comparison of sums does not show it, because the client reads more than their records. In other
  // orders the client reads hardly more than requested, and it matters which part of a file is in memory.
  double resident_bytes = 0;
  // Nobody has written these bytes, so they come from nowhere; and less than these comes from the storage, though not
  // from memory.
  double hole_bytes = 0, compressed_bytes = 0;

  void Add(const v1::LaneResult& lane, bool at_random, double read_bytes, double lane_bytes) {
    bytes += read_bytes;
    if (lane_bytes <= 0) return;
    const auto share = [lane_bytes](uint64_t of_files) {
      return std::min(1.0, static_cast<double>(of_files) / lane_bytes);
    };
    hole_bytes += read_bytes * share(lane.hole_bytes());
    compressed_bytes += read_bytes * share(lane.compressed_bytes());
    if (!at_random || !lane.has_resident_bytes() || read_bytes >= lane_bytes) return;
    resident_bytes += read_bytes * share(lane.resident_bytes());
  }

  // The part that came from the storage, which delivered `storage_bytes`: perhaps more than was requested. Pages of a
  // hole may be resident, too.
  double FromStorage(double storage_bytes) const {
    return std::clamp(bytes - std::max(resident_bytes, hole_bytes), 0.0, storage_bytes);
  }
  // The part that came from memory, if that came from the storage.
  double FromMemory(double from_storage) const {
    return std::max(0.0, bytes - hole_bytes - from_storage - compressed_bytes);
  }
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
  AskedBytes uncounted;  // other network file systems, file systems in memory or in user space

  double Sum(double AskedBytes::*part) const {
    double sum = local.*part + uncounted.*part;
    for (const auto& [mount, asked] : mounts) sum += asked.*part;
    return sum;
  }
  double all() const { return unmounted + Sum(&AskedBytes::bytes); }
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
      asked.uncounted.Add(*lane->result, at_random, read_bytes, lane_bytes);
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

// What all servers did in the phase, by their own counters.
struct ServerTraffic {
  double disk_read_bytes = 0, nfsd_read_bytes = 0, received_bytes = 0;
  bool serves_nfs = false;  // by the kernel's server
};

// Sums up whole records, which reach from shortly before the start to shortly after the end. The run reads nothing at
// their edges, so all that the lanes read is in them; parts of intervals, as in the servers' rates, would lose some of a
// short phase. nullopt: there are no samplers, or one does not cover the phase.
std::optional<ServerTraffic> ServerTrafficOf(const v1::PhaseRecord& phase, const v1::PhaseReport& report) {
  if (report.servers().empty()) return std::nullopt;
  const bool covered =
      std::all_of(report.servers().begin(), report.servers().end(), [](const v1::ServerReport& server) {
        return server.problem().empty() && server.sampled_s() > 0;
      });
  if (!covered) return std::nullopt;
  ServerTraffic sum;
  for (const v1::ServerRecord& record : phase.servers()) {
    for (const v1::ServerInterval& interval : record.intervals()) {
      for (const v1::DiskDelta& disk : interval.disks()) sum.disk_read_bytes += static_cast<double>(disk.read_bytes());
      for (const v1::NicDelta& nic : interval.nics()) sum.received_bytes += static_cast<double>(nic.rx_bytes());
      sum.serves_nfs |= interval.has_nfsd();
      sum.nfsd_read_bytes += static_cast<double>(interval.nfsd().read_bytes());
    }
  }
  return sum;
}

// False: what the lanes read are the run's own data, of which every block differs.
bool MayCompress(const v1::Plan& plan) {
  const v1::DataContent& data = plan.data();
  return !plan.files().existing_files().empty() || data.compress_percent() > 0 || data.dedupe_percent() > 0 ||
         IsMadeOnce(data);
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
    cache += of_mount.FromMemory(served);
  }
  // The kernel charges a process for what it reads over NFS, too, and these reads cannot be separated.
  if (host.has_disk_read_bytes() && asked.mounts.empty()) {
    disk = asked.local.FromStorage(static_cast<double>(host.disk_read_bytes()));
    cache += asked.local.FromMemory(disk);
  }
  v1::ReadSources sources;
  sources.set_asked_bytes(Rounded(asked.all()));
  sources.set_server_bytes(Rounded(server));
  sources.set_disk_bytes(Rounded(disk));
  sources.set_cache_bytes(Rounded(cache));
  const double holes = asked.Sum(&AskedBytes::hole_bytes);
  sources.set_hole_bytes(Rounded(holes));
  sources.set_unknown_bytes(Rounded(asked.all() - server - disk - cache - holes));
  sources.set_files_to_memory(FilesToMemory(view, part));
  return sources;
}

std::vector<const AlignedLane*> UncountedReaders(const PhaseView& view, const v1::HostDelta& host,
                                                 const ClientPart& part) {
  const bool splits_processes = host.has_disk_read_bytes() && AskedOf(view, part.lanes).mounts.empty();
  std::vector<const AlignedLane*> lanes;
  for (const AlignedLane* lane : part.lanes) {
    if (TimedBytesOf(*lane->result, {OpKind::kRead, OpKind::kUpdate}) <= 0) continue;
    const v1::Assignment* const assignment = view.assignments.Of(lane->worker);
    if (assignment != nullptr && (MovesNothing(assignment->operation()) || IsUnmounted(assignment->operation())))
      continue;
    uint32_t target_index = 0;
    const v1::TargetFacts* const target = view.TargetOf(*lane, &target_index);
    if (target != nullptr && target->memory()) continue;
    if (target != nullptr && ChargesItsProcesses(*target) && splits_processes) continue;
    if (target != nullptr && IsNfs(*target)) {
      const auto nfs = host.nfs().find(target_index);
      if (nfs != host.nfs().end() && nfs->second.has_server_read_bytes()) continue;
    }
    lanes.push_back(lane);
  }
  return lanes;
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
      sum.set_hole_bytes(sum.hole_bytes() + sources->hole_bytes());
      sum.set_files_to_memory(std::fmin(sum.files_to_memory(), sources->files_to_memory()));
    }
    *client.mutable_read_sources() = *std::move(sources);
  }
}

void FillServerReads(const PhaseView& view, v1::PhaseReport& report) {
  if (report.read_sources().server_bytes() == 0) return;
  const std::optional<ServerTraffic> seen = ServerTrafficOf(view.phase, report);
  v1::ReadSources& sources = *report.mutable_read_sources();
  const auto returned = static_cast<double>(sources.server_bytes());
  if (!seen) return;
  if (seen->serves_nfs && seen->nfsd_read_bytes < kCoveredByNfsd * returned) return;  // one has no sampler
  double written = 0;
  if (const auto kind = report.by_kind().find("write"); kind != report.by_kind().end()) {
    written = static_cast<double>(kind->second.bytes());
  }
  if (seen->received_bytes - written > kFetched * returned) return;
  // Storage may hold compressible data in a fraction of their size.
  if (MayCompress(view.run.plan()) && seen->disk_read_bytes > kHardlyAny * returned) return;
  const double from_disks = std::min(returned, seen->disk_read_bytes);
  sources.set_server_disk_bytes(Rounded(from_disks));
  sources.set_server_memory_bytes(sources.server_bytes() - sources.server_disk_bytes());
}

}  // namespace iobench
