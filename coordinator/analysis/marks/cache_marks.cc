#include "coordinator/analysis/marks/cache_marks.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "common/model/metadata_operation.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/analysis/marks/maybe_cached.h"

namespace iobench {
namespace {

constexpr double kCachedPercent = 5.0;
constexpr double kHolesPercent = 5.0;
constexpr double kNotOffloadedPercent = 5.0;

bool UsesNullEngine(const PhaseView& view, uint32_t worker) {
  const v1::Assignment* assignment = view.assignments.Of(worker);
  return assignment != nullptr && MovesNothing(assignment->operation());
}

// Empty if ops of this kind always reach the server.
std::span<const std::string_view> RequestsOf(v1::OpKind kind) {
  const MetadataSpec* const spec = FindMetadataSpec(static_cast<OpKind>(kind));
  return spec == nullptr ? std::span<const std::string_view>() : spec->requests;
}

// How many of these requests the client sent.
double RequestsIn(const v1::NfsDelta& nfs, const std::set<std::string_view>& requests) {
  double sent = 0;
  for (const std::string_view request : requests) {
    const auto found = nfs.ops().find(std::string(request));
    if (found != nfs.ops().end()) sent += static_cast<double>(found->second.ops());
  }
  return sent;
}

// Calls `use` with each lane whose target is on NFS: use(mount, index of the target, lane). Targets on the same mount read
// the same counters.
template <typename Use>
void ForEachOnNfs(const PhaseView& view, std::span<const AlignedLane* const> lanes, Use use) {
  for (const AlignedLane* lane : lanes) {
    uint32_t target_index = 0;
    const v1::TargetFacts* target = view.TargetOf(*lane, &target_index);
    if (target == nullptr || !IsNfs(*target) || UsesNullEngine(view, lane->worker)) continue;
    use(MountOf(*target, target_index), target_index, *lane);
  }
}

struct AskedShare {
  double ops = 0;    // ops that a client could have answered from memory
  double asked = 0;  // requests for them that reached the server, at most as many
  std::vector<const AlignedLane*> lanes;  // whose ops or requests are counted
};

// Determines how many of a client's metadata ops reached the server, as far as its counters show. REQUIRES: a metadata
// phase.
AskedShare AskedShareOf(const PhaseView& view, const v1::HostDelta& host,
                        std::span<const AlignedLane* const> lanes) {
  struct OnMount {
    uint32_t target = 0;
    double ops = 0;
    std::set<std::string_view> requests;
    bool changes =
        false;  // some ops change names, and their requests cannot be distinguished from the others'
    std::vector<const AlignedLane*> lanes;
  };
  std::map<std::string, OnMount> mounts;
  ForEachOnNfs(view, lanes, [&mounts](const auto& mount, uint32_t target_index, const AlignedLane& lane) {
    OnMount& on_mount = mounts[mount];
    on_mount.target = target_index;
    on_mount.lanes.push_back(&lane);
    on_mount.ops += static_cast<double>(lane.result->region_ops());
    for (const v1::KindResult& kind : lane.result->kinds()) {
      const auto requests = RequestsOf(kind.kind());
      on_mount.requests.insert(requests.begin(), requests.end());
      on_mount.changes |= requests.empty();
    }
  });
  AskedShare share;
  for (const auto& [name, on_mount] : mounts) {
    const auto nfs = host.nfs().find(on_mount.target);
    if (nfs == host.nfs().end()) continue;
    share.lanes.insert(share.lanes.end(), on_mount.lanes.begin(), on_mount.lanes.end());
    if (on_mount.changes) continue;
    share.ops += on_mount.ops;
    share.asked += std::min(RequestsIn(nfs->second, on_mount.requests), on_mount.ops);
  }
  return share;
}

// Determines how many ops that a server could do by itself were passed on to it (MetadataSpec::offloaded_by), as far as
// the client's counters show.
AskedShare OffloadedShareOf(const PhaseView& view, const v1::HostDelta& host,
                            std::span<const AlignedLane* const> lanes) {
  struct OnMount {
    uint32_t target = 0;
    double ops = 0;
    std::set<std::string_view> requests;
  };
  std::map<std::string, OnMount> mounts;
  ForEachOnNfs(view, lanes, [&mounts](const auto& mount, uint32_t target_index, const AlignedLane& lane) {
    OnMount& on_mount = mounts[mount];
    on_mount.target = target_index;
    for (const v1::KindResult& kind : lane.result->kinds()) {
      const MetadataSpec* const spec = FindMetadataSpec(static_cast<OpKind>(kind.kind()));
      if (spec == nullptr || spec->offloaded_by.empty()) continue;
      on_mount.ops += static_cast<double>(kind.ops());
      on_mount.requests.insert(spec->offloaded_by.begin(), spec->offloaded_by.end());
    }
  });
  AskedShare share;
  for (const auto& [name, on_mount] : mounts) {
    const auto nfs = host.nfs().find(on_mount.target);
    if (nfs == host.nfs().end() || on_mount.ops == 0) continue;
    share.ops += on_mount.ops;
    share.asked += std::min(RequestsIn(nfs->second, on_mount.requests), on_mount.ops);
  }
  return share;
}

// What lanes read that is not stored as it is read, as a share of what they read.
struct UnstoredShare {
  double holes = 0, compressed = 0;
};

UnstoredShare UnstoredShareOf(const PhaseView& view, std::span<const AlignedLane* const> lanes) {
  const auto lane_bytes = static_cast<double>(ShapeOf(view.run.plan(), view.phase.phase()).files.bytes_per_lane());
  UnstoredShare sum;
  double all = 0;
  for (const AlignedLane* lane : lanes) {
    const double read = TimedBytesOf(*lane->result, {OpKind::kRead, OpKind::kUpdate});
    if (lane_bytes <= 0 || UsesNullEngine(view, lane->worker)) continue;
    all += read;
    sum.holes += read * std::min(1.0, static_cast<double>(lane->result->hole_bytes()) / lane_bytes);
    sum.compressed += read * std::min(1.0, static_cast<double>(lane->result->compressed_bytes()) / lane_bytes);
  }
  return all > 0 ? UnstoredShare{sum.holes / all, sum.compressed / all} : UnstoredShare{};
}

void AddHoles(const PhaseView& view, const v1::ClientPhaseReport& client, const ClientPart& part,
              std::vector<v1::Mark>& marks) {
  const UnstoredShare share = UnstoredShareOf(view, part.lanes);
  const double percent = 100 * (share.holes + share.compressed);
  if (!(percent > kHolesPercent)) return;
  marks.push_back(MakeMark(
      mark_code::kHoles, client.host(), percent, kHolesPercent,
      share.holes >= share.compressed
          ? "over 5 % of the bytes read are in holes: nobody has written them, or they are only allocated, so the storage "
            "reads nothing for them"
          : "over 5 % of the bytes read are stored compressed, so the storage reads less than the lanes",
      share.holes >= share.compressed ? "write the files in full"
                                      : "use data that do not compress, or turn compression off"));
}

}  // namespace

std::vector<v1::Mark> CacheMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                 const ClientPart& part) {
  std::vector<v1::Mark> marks;
  const auto mark_unless_served = [&](double asked, double served, std::string_view what, std::string_view advice) {
    const double percent = asked > 0 ? 100 * (1 - served / asked) : 0;
    if (percent > kCachedPercent) {
      marks.push_back(MakeMark(mark_code::kCached, client.host(), percent, kCachedPercent, what, advice));
    }
  };
  if (view.traits.reads) {
    const v1::ReadSources& sources = client.read_sources();
    const auto from_storage = static_cast<double>(sources.server_bytes() + sources.disk_bytes());
    mark_unless_served(from_storage + static_cast<double>(sources.cache_bytes()), from_storage,
                       "over 5 % of the bytes read came from the client's own memory",
                       AdviceFor("add {--drop-caches|--rotate-clients|-I}", view.phase.phase()));
    AddHoles(view, client, part, marks);
    if (auto maybe = MaybeCachedReads(view, client, part)) marks.push_back(*std::move(maybe));
  }
  if (view.traits.metadata) {
    const AskedShare share = AskedShareOf(view, client.host_delta(), part.lanes);
    mark_unless_served(share.ops, share.asked,
                       "over 5 % of the ops were answered from the client's own memory and never reached "
                       "the server",
                       AdviceFor("add {--rotate-clients|--drop-caches as root}", view.phase.phase()));
    if (auto maybe = MaybeCachedNames(view, client, part, share.lanes)) marks.push_back(*std::move(maybe));
    const AskedShare offloaded = OffloadedShareOf(view, client.host_delta(), part.lanes);
    const double percent = offloaded.ops > 0 ? 100 * (1 - offloaded.asked / offloaded.ops) : 0;
    if (percent > kNotOffloadedPercent) {
      marks.push_back(MakeMark(mark_code::kNotOffloaded, client.host(), percent, kNotOffloadedPercent,
                               "over 5 % of the copies were not done by the server (NFS COPY): the client read and wrote the "
                               "data itself"));
    }
  }
  return marks;
}

}  // namespace iobench
