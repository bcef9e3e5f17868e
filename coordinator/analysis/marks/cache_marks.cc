#include "coordinator/analysis/marks/cache_marks.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "common/model/metadata_operation.h"
#include "common/model/plan_traits.h"

namespace iobench {
namespace {

constexpr double kCachedPercent = 5.0;

bool UsesNullEngine(const PhaseView& view, uint32_t worker) {
  const v1::Assignment* assignment = view.assignments.Of(worker);
  return assignment != nullptr && MovesNothing(assignment->operation());
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
    const v1::ReadSources& sources = client.read_sources();
    const auto from_storage = static_cast<double>(sources.server_bytes() + sources.disk_bytes());
    mark_unless_served(from_storage + static_cast<double>(sources.cache_bytes()), from_storage,
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
