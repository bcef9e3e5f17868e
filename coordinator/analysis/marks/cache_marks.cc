#include "coordinator/analysis/marks/cache_marks.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"

namespace iobench {
namespace {

constexpr double kCachedPercent = 5.0;

bool UsesNullEngine(const PhaseView& view, uint32_t worker) {
  const v1::Assignment* assignment = AssignmentOf(view.phase.phase(), worker);
  return assignment != nullptr && MovesNothing(assignment->operation());
}

// What the lanes of a client requested from one mount, or from all local file systems, which share the processes'
// counters.
struct Asked {
  uint32_t target_index = 0;
  double bytes = 0;
  // The part of it that must have come from memory, because it was there before: of lanes that read part of their files
  // in random order. A comparison of sums does not show it, because the client reads more than their records. In other
  // orders the client reads hardly more than requested, and it matters which part of a file is in memory.
  double resident_bytes = 0;

  void Add(const v1::LaneResult& lane, bool at_random, double read_bytes, double lane_bytes) {
    bytes += read_bytes;
    if (!at_random || !lane.has_resident_bytes() || lane_bytes <= 0 || read_bytes >= lane_bytes) return;
    resident_bytes += read_bytes * std::min(1.0, static_cast<double>(lane.resident_bytes()) / lane_bytes);
  }
};

bool ReadsAtRandom(const PhaseView& view, uint32_t worker) {
  const v1::Assignment* assignment = AssignmentOf(view.phase.phase(), worker);
  if (assignment == nullptr) return false;
  const OperationSpec* const spec = SpecOf(assignment->operation());
  return spec != nullptr && (spec->pattern == Pattern::kRandom || spec->pattern == Pattern::kRandomMix);
}

struct ReadShares {
  double asked = 0;         // bytes
  double from_storage = 0;  // part of `asked`

  void Add(const Asked& part, double storage_bytes) {
    asked += part.bytes;
    from_storage += std::min(part.bytes - part.resident_bytes, storage_bytes);
  }
};

// Determines where a client's reads came from, as far as its counters show. The requested bytes are those that the
// lanes moved, since Linux does not count reads through maps.
ReadShares ReadSharesOf(const PhaseView& view, const v1::HostDelta& host,
                        std::span<const AlignedLane* const> lanes) {
  std::map<std::string, Asked> mounts;  // targets on the same mount read the same counters
  Asked local;
  const auto lane_bytes =
      static_cast<double>(ShapeOf(view.run.plan(), view.phase.phase()).files.bytes_per_lane());
  for (const AlignedLane* lane : lanes) {
    const double read_bytes = TimedBytesOf(*lane->result, {OpKind::kRead, OpKind::kUpdate});
    if (read_bytes <= 0 || UsesNullEngine(view, lane->worker)) continue;
    uint32_t target_index = 0;
    const v1::TargetFacts* target = view.TargetOf(*lane, &target_index);
    if (target == nullptr) continue;
    const bool at_random = ReadsAtRandom(view, lane->worker);
    if (ChargesItsProcesses(*target)) {
      local.Add(*lane->result, at_random, read_bytes, lane_bytes);
    } else if (IsNfs(*target)) {  // the reads of others are not counted, so they have no share
      Asked& asked = mounts[MountOf(*target, target_index)];
      asked.target_index = target_index;
      asked.Add(*lane->result, at_random, read_bytes, lane_bytes);
    }
  }
  ReadShares shares;
  for (const auto& [mount, asked] : mounts) {
    const auto nfs = host.nfs().find(asked.target_index);
    if (nfs == host.nfs().end() || !nfs->second.has_server_read_bytes()) continue;
    shares.Add(asked, static_cast<double>(nfs->second.server_read_bytes()));
  }
  if (host.has_disk_read_bytes()) shares.Add(local, static_cast<double>(host.disk_read_bytes()));
  return shares;
}

// Empty if ops of this kind always reach the server.
std::span<const std::string_view> RequestsOf(v1::OpKind kind) {
  const MetadataSpec* const spec = FindMetadataSpec(static_cast<OpKind>(kind));
  return spec == nullptr ? std::span<const std::string_view>() : spec->requests;
}

struct AskedShare {
  double ops = 0;    // ops that a client could have answered from memory
  double asked = 0;  // requests for them that reached the server, at most as many
};

// Determines how many of a client's metadata ops reached the server, as far as its counters show. REQUIRES: a metadata
// phase.
AskedShare AskedShareOf(const PhaseView& view, const v1::HostDelta& host,
                        std::span<const AlignedLane* const> lanes) {
  // Targets on the same mount read the same counters.
  struct OnMount {
    uint32_t target = 0;
    double ops = 0;
    std::set<std::string_view> requests;
    bool changes =
        false;  // some ops change names, and their requests cannot be distinguished from the others'
  };
  std::map<std::string, OnMount> mounts;
  for (const AlignedLane* lane : lanes) {
    uint32_t target_index = 0;
    const v1::TargetFacts* target = view.TargetOf(*lane, &target_index);
    if (target == nullptr || !IsNfs(*target) || UsesNullEngine(view, lane->worker)) continue;
    OnMount& on_mount = mounts[MountOf(*target, target_index)];
    on_mount.target = target_index;
    on_mount.ops += static_cast<double>(lane->result->region_ops());
    for (const v1::KindResult& kind : lane->result->kinds()) {
      const auto requests = RequestsOf(kind.kind());
      on_mount.requests.insert(requests.begin(), requests.end());
      on_mount.changes |= requests.empty();
    }
  }
  AskedShare share;
  for (const auto& [name, on_mount] : mounts) {
    const auto nfs = host.nfs().find(on_mount.target);
    if (nfs == host.nfs().end() || on_mount.changes) continue;
    double asked = 0;
    for (const std::string_view request : on_mount.requests) {
      const auto found = nfs->second.ops().find(std::string(request));
      if (found != nfs->second.ops().end()) asked += static_cast<double>(found->second.ops());
    }
    share.ops += on_mount.ops;
    share.asked += std::min(asked, on_mount.ops);
  }
  return share;
}

}  // namespace

std::vector<v1::Mark> CacheMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                 const ClientPart& part) {
  std::vector<v1::Mark> marks;
  const auto mark_unless_served = [&](double asked, double served, std::string_view text) {
    const double percent = asked > 0 ? 100 * (1 - served / asked) : 0;
    if (percent > kCachedPercent) {
      marks.push_back(MakeMark("cached", client.host(), percent, kCachedPercent, text));
    }
  };
  if (view.traits.reads) {
    const ReadShares share = ReadSharesOf(view, client.host_delta(), part.lanes);
    mark_unless_served(share.asked, share.from_storage,
                       "over 5 % of the bytes read came from the client's own memory: add --drop-caches, "
                       "--rotate-clients or -I");
  }
  if (view.traits.metadata) {
    const AskedShare share = AskedShareOf(view, client.host_delta(), part.lanes);
    mark_unless_served(share.ops, share.asked,
                       "over 5 % of the ops were answered from the client's own memory and never reached "
                       "the server: add --rotate-clients, or --drop-caches as root");
  }
  return marks;
}

}  // namespace iobench
