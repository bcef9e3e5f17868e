// The marks that belong to one client: its clock, its caches, its network's faults. Its load: load_marks.cc.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/marks.h"
#include "coordinator/analysis/phase_writes.h"

namespace iobench {
namespace {

constexpr double kClockErrorMs = 5.0;
constexpr double kClockErrorShare = 0.01;  // of the phase
constexpr double kCachedPercent = 5.0;
constexpr double kReachedPercent = 90.0;

// All that a lane read in its timed part, the warm-up included: the counters saw that too.
double ReadBytesOf(const v1::LaneResult& lane) {
  double read = 0, all = 0;
  for (const v1::KindResult& kind : lane.kinds()) {
    all += static_cast<double>(kind.bytes());
    if (kind.kind() == v1::OP_READ || kind.kind() == v1::OP_UPDATE) read += static_cast<double>(kind.bytes());
  }
  return all > 0 ? static_cast<double>(lane.region_bytes()) * read / all : 0;
}

bool UsesNullEngine(const PhaseView& view, uint32_t worker) {
  const v1::Assignment* assignment = AssignmentOf(view.phase.phase(), worker);
  return assignment != nullptr && assignment->operation().engine() == "null";
}

struct ReadShares {
  double by_application = 0;  // bytes
  double from_storage = 0;    // of those; read-ahead beyond them does not count
  bool any = false;

  void Add(double application_bytes, double storage_bytes) {
    if (application_bytes <= 0) return;
    by_application += application_bytes;
    from_storage += std::min(application_bytes, storage_bytes);
    any = true;
  }
};

// Where a client's reads came from, as far as its counters tell.
ReadShares ReadSharesOf(const PhaseView& view, const v1::HostDelta& host,
                        std::span<const AlignedLane* const> lanes) {
  ReadShares shares;
  std::set<std::string> seen_mounts;
  double local_bytes = 0;
  for (const AlignedLane* lane : lanes) {
    const double read_bytes = ReadBytesOf(*lane->result);
    if (read_bytes <= 0 || UsesNullEngine(view, lane->worker)) continue;
    uint32_t target_index = 0;
    const v1::TargetFacts* target = view.TargetOf(*lane, &target_index);
    if (target == nullptr) continue;
    if (ChargesItsProcesses(*target)) {
      local_bytes += read_bytes;
      continue;
    }
    if (!IsNfs(*target)) continue;  // nobody counts its reads: it has no share
    const std::string mount = MountOf(*target, target_index);
    const auto nfs = host.nfs().find(target_index);
    if (nfs == host.nfs().end() || !nfs->second.has_app_read_bytes() || !nfs->second.has_server_read_bytes())
      continue;
    if (!seen_mounts.insert(mount).second) continue;
    shares.Add(static_cast<double>(nfs->second.app_read_bytes()),
               static_cast<double>(nfs->second.server_read_bytes()));
  }
  if (host.has_disk_read_bytes()) shares.Add(local_bytes, static_cast<double>(host.disk_read_bytes()));
  return shares;
}

// The RPCs of which the server gets one at least for each op of a kind that a client may also answer from memory, in
// any version of NFS. Kinds that are not listed change something, and so always reach it.
std::span<const std::string_view> RequestsOf(v1::OpKind kind) {
  static constexpr std::string_view kStat[] = {"LOOKUP", "GETATTR"};
  static constexpr std::string_view kOpenClose[] = {"OPEN", "OPEN_NOATTR", "LOOKUP", "GETATTR", "ACCESS"};
  static constexpr std::string_view kReaddir[] = {"READDIR", "READDIRPLUS"};
  static constexpr std::string_view kGetXattr[] = {"GETXATTR"};
  switch (kind) {
    case v1::OP_STAT:
      return kStat;
    case v1::OP_OPEN_CLOSE:
      return kOpenClose;
    case v1::OP_READDIR:
      return kReaddir;
    case v1::OP_GET_XATTR:
      return kGetXattr;
    default:
      return {};
  }
}

struct AskedShare {
  double ops = 0;    // that a client could have answered from memory
  double asked = 0;  // requests that reached the server for them, at most as many
};

// How many of a client's ops on names reached the server, as far as its counters tell. REQUIRES: a metadata phase.
AskedShare AskedShareOf(const PhaseView& view, const v1::HostDelta& host,
                        std::span<const AlignedLane* const> lanes) {
  // Targets below one mount read the same counters.
  struct OnMount {
    uint32_t target = 0;
    double ops = 0;
    std::set<std::string_view> requests;
    bool changes = false;  // some ops change names, and their requests cannot be told from the others'
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

void AddClockMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                   std::span<const AlignedWorker* const> workers, std::vector<v1::Mark>& marks) {
  const double error_ms = client.clock_error_us() / 1e3;
  if (std::any_of(workers.begin(), workers.end(),
                  [](const AlignedWorker* worker) { return worker->clock_stepped; })) {
    marks.push_back(
        MakeMark("clock_step", client.host(), error_ms, 0,
                 "its clock was stepped during the phase, so its times rest on one burst of pings: keep "
                 "time services and VM migration still during a run, and repeat"));
  }
  const double phase_ms = 1e3 * view.figures.duration_s;
  const double threshold_ms =
      phase_ms > 0 ? std::min(kClockErrorMs, kClockErrorShare * phase_ms) : kClockErrorMs;
  if (error_ms > threshold_ms) {
    marks.push_back(
        MakeMark("clock_uncertain", client.host(), error_ms, threshold_ms,
                 "its clock is known too loosely for this phase: use a quieter or shorter network path to "
                 "the coordinator, or a longer phase"));
  }
}

void AddAbsorbed(const PhaseView& view, size_t client_index, std::vector<v1::Mark>& marks) {
  const std::optional<ClientWrites>& writes = view.writes->clients[client_index];
  if (!writes || !writes->reached_bytes || writes->more_may_follow) return;
  const double reached_percent =
      100 * static_cast<double>(*writes->reached_bytes) / static_cast<double>(writes->written_bytes);
  if (reached_percent >= kReachedPercent) return;
  marks.push_back(MakeMark(
      "absorbed", view.roster.NameOf(client_index), reached_percent, kReachedPercent,
      absl::StrCat("under 90 % of the bytes written reached the server or device; the rest were written over "
                   "in the client's memory before they left it: ",
                   view.traits.flush_in_region
                       ? "use -o or -I, or records that do not overlap"
                       : "add -e, which with --time flushes each pass, or use -o or -I")));
}

void AddRetransmits(const PhaseView& view, const v1::ClientPhaseReport& client,
                    std::vector<v1::Mark>& marks) {
  const size_t index = view.roster.ClientOf(client.workers(0).worker());
  const uint32_t first_worker = view.roster.WorkersOf(index).front();
  std::set<std::string> seen_mounts;
  uint64_t retransmissions = 0, timeouts = 0, errors = 0;
  for (const auto& [target_index, nfs] : client.host_delta().nfs()) {
    std::string mount = absl::StrCat("target ", target_index);
    if (static_cast<int>(first_worker) < view.run.targets_size()) {
      const v1::WorkerTargets& targets = view.run.targets(static_cast<int>(first_worker));
      if (static_cast<int>(target_index) < targets.targets_size() &&
          !targets.targets(static_cast<int>(target_index)).filesystem_id().empty()) {
        mount = targets.targets(static_cast<int>(target_index)).filesystem_id();
      }
    }
    if (!seen_mounts.insert(mount).second) continue;
    for (const char* name : {"READ", "WRITE", "COMMIT"}) {
      const auto op = nfs.ops().find(name);
      if (op == nfs.ops().end()) continue;
      // transmissions >= ops in the kernel's counters, but their deltas are not read at one instant.
      retransmissions += op->second.transmissions() - std::min(op->second.transmissions(), op->second.ops());
      timeouts += op->second.major_timeouts();
      errors += op->second.errors();
    }
  }
  if (retransmissions + timeouts + errors == 0) return;
  marks.push_back(MakeMark(
      "retransmits", client.host(), static_cast<double>(retransmissions + timeouts + errors), 0,
      absl::StrCat("READ, WRITE and COMMIT had ", retransmissions, " retransmissions, ", timeouts,
                   " timeouts, ", errors, " errors: look at network drops and at the server's load")));
}

}  // namespace

std::vector<v1::Mark> ClientMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  const ClientPart& part) {
  std::vector<v1::Mark> marks;
  AddClockMarks(view, client, part.workers, marks);
  if (view.traits.reads) {
    const ReadShares shares = ReadSharesOf(view, client.host_delta(), part.lanes);
    const double cached_percent = shares.any ? 100 * (1 - shares.from_storage / shares.by_application) : 0;
    if (cached_percent > kCachedPercent) {
      marks.push_back(
          MakeMark("cached", client.host(), cached_percent, kCachedPercent,
                   "over 5 % of the bytes read came from the client's own memory: add --drop-caches, "
                   "--rotate-clients or -I"));
    }
  }
  if (view.traits.metadata) {
    const AskedShare share = AskedShareOf(view, client.host_delta(), part.lanes);
    const double cached_percent = share.ops > 0 ? 100 * (1 - share.asked / share.ops) : 0;
    if (cached_percent > kCachedPercent) {
      marks.push_back(
          MakeMark("cached", client.host(), cached_percent, kCachedPercent,
                   "over 5 % of the ops were answered from the client's own memory and never reached "
                   "the server: add --rotate-clients, or --drop-caches as root"));
    }
  }
  AddAbsorbed(view, view.roster.ClientOf(client.workers(0).worker()), marks);
  if (std::optional<v1::Mark> stall = StallMark(view, client, part.lanes)) marks.push_back(*std::move(stall));
  AddLoadMarks(view, client, part.lanes, marks);
  AddRetransmits(view, client, marks);
  return marks;
}

}  // namespace iobench
