#include "coordinator/analysis/marks/maybe_cached.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/model/metadata_operation.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/analysis/phase/phase_reads.h"

namespace iobench {
namespace {

constexpr double kMaybeCachedPercent = 5.0;
// If this share came from disks or the network, it is not taken to be from memory.
constexpr double kDelivered = 0.95;
// What a name and its attributes take in a kernel's memory, about: a dentry and the inode of ext4 or XFS.
constexpr double kBytesOfName = 1024;

// File systems of which a client keeps file data in its page cache and nowhere else. What mincore(2) does not show is
// then not in its memory, and O_DIRECT reads past it. ZFS, FUSE daemons, GPFS … have memory of their own.
constexpr std::string_view kKeepOnlyPages[] = {"cifs", "smb3", "9p",  "ceph",  "lustre",
                                               "afs",  "kafs", "gfs2", "ocfs2", "virtiofs"};

bool KeepsOnlyPages(const v1::TargetFacts& target) {
  return IsNfs(target) || ChargesItsProcesses(target) ||
         std::find(std::begin(kKeepOnlyPages), std::end(kKeepOnlyPages), target.filesystem()) !=
             std::end(kKeepOnlyPages);
}

// Mounted so that the client keeps nothing; 9p keeps nothing unless it is asked to.
bool IsMountedUncached(const v1::TargetFacts& target) {
  const std::string options = absl::StrCat(",", target.mount_options(), ",");
  if (absl::StrContains(options, ",cache=none,")) return true;
  return target.filesystem() == "9p" && !absl::StrContains(options, ",cache=");
}

// True for what /proc/sys/vm/drop_caches does not empty as a whole.
bool SurvivesDrop(const v1::TargetFacts* target) {
  return target != nullptr && target->filesystem() == "zfs";
}

double TimedReads(const AlignedLane& lane) {
  return TimedBytesOf(*lane.result, {OpKind::kRead, OpKind::kUpdate});
}

// Which files, or trees of names, a lane uses.
struct Used {
  uint32_t target = 0;
  bool by_rotation = false;  // those of another worker
  bool names = false;
  auto operator<=>(const Used&) const = default;
};

// What earlier phases of the run used, and where caches were dropped since.
class History {
 public:
  History(const PhaseView& view, const ClientPart& part) : view_(view), part_(part) {
    for (const AlignedWorker* worker : part.workers) {
      const auto& steps = worker->result->steps();
      const bool drops = std::any_of(steps.begin(), steps.end(),
                                     [](const v1::StepResult& step) { return step.system_caches(); });
      dropped_ &= drops || worker->result->lanes().empty();
      any_dropped_ |= drops;
    }
  }

  // True if the lane's client has just written or read these files or names, as far as the run knows.
  bool JustUsed(const AlignedLane& lane, const v1::TargetFacts* target) {
    if (dropped_ && any_dropped_ && !SurvivesDrop(target)) return false;
    const uint32_t owner = view_.OwnerWorkerOf(*lane.result);
    // The record of a damaged run may have neither.
    if (owner >= view_.roster.worker_count() || view_.run.plan().targets().empty()) return false;
    const bool on_own_client = view_.roster.ClientOf(owner) == view_.roster.ClientOf(lane.worker);
    if (on_own_client && WasPrepared(owner)) return true;
    const uint32_t own_target = view_.roster.TargetOf(owner);
    const Used used = {.target = TargetInPhase(view_.phase.phase(), own_target),
                       .by_rotation = !on_own_client,
                       .names = view_.traits.metadata};
    const auto [known, is_new] = used_before_.try_emplace(used, false);
    if (is_new) known->second = UsedBefore(used, own_target);
    return known->second;
  }

 private:
  // In this phase, by a worker of this client.
  bool WasPrepared(uint32_t owner) const {
    return std::any_of(part_.workers.begin(), part_.workers.end(), [&](const AlignedWorker* worker) {
      if (worker->number != owner) return false;
      const auto& steps = worker->result->steps();
      return std::any_of(steps.begin(), steps.end(), [](const v1::StepResult& step) {
        return (step.name() == "prefill" && step.bytes() > 0) || step.name() == "prepare-tree";
      });
    });
  }

  bool UsedBefore(const Used& used, uint32_t own_target) const {
    const v1::Plan& plan = view_.run.plan();
    const auto phases = static_cast<uint32_t>(plan.phases_size());
    if (phases == 0) return false;
    for (uint32_t back = 1; back <= std::min(view_.phase.index(), phases); ++back) {
      const v1::Phase& earlier = plan.phases(static_cast<int>((view_.phase.index() - back) % phases));
      if (TargetInPhase(earlier, own_target) != used.target || IsMetadata(earlier) != used.names) continue;
      for (const v1::Assignment& each : earlier.assignments()) {
        // Without rotation, each client uses its own.
        if (!MovesNothing(each.operation()) && each.operation().rotate_clients() == used.by_rotation) return true;
      }
    }
    return false;
  }

  const PhaseView& view_;
  const ClientPart& part_;
  bool dropped_ = true, any_dropped_ = false;
  std::map<Used, bool> used_before_;
};

// What the client's disks and network delivered besides what is counted already.
double DeliveredBytes(const v1::ClientPhaseReport& client) {
  const v1::HostDelta& host = client.host_delta();
  const v1::ReadSources& counted = client.read_sources();
  const auto beyond = [](uint64_t all, uint64_t part) { return static_cast<double>(all - std::min(all, part)); };
  return beyond(host.nic_rx_bytes(), counted.server_bytes()) +
         beyond(host.all_disks_read_bytes(), counted.disk_bytes());
}

double MemoryBytesOf(const PhaseView& view, const ClientPart& part) {
  if (part.workers.empty()) return 0;
  return static_cast<double>(
      view.run.workers(static_cast<int>(part.workers.front()->number)).memory_bytes());
}

// Of what was asked for a second time: the share that may still have been in memory.
double ShareKept(double held, double memory) {
  return memory > 0 && held > memory ? memory / held : 1;
}

v1::Mark MaybeMark(const v1::ClientPhaseReport& client, double percent, std::string_view what,
                   std::string_view advice) {
  return MakeMark(mark_code::kMaybeCached, client.host(), percent, kMaybeCachedPercent, what, advice);
}

// Ops of these kinds change nothing, so that a client may answer them from memory.
double OpsFromMemory(const v1::LaneResult& lane) {
  double from_memory = 0, all = 0;
  for (const v1::KindResult& kind : lane.kinds()) {
    const MetadataSpec* const spec = FindMetadataSpec(static_cast<OpKind>(kind.kind()));
    all += static_cast<double>(kind.ops());
    if (spec != nullptr && (!spec->requests.empty() || spec->finds_items)) from_memory += static_cast<double>(kind.ops());
  }
  return all > 0 ? static_cast<double>(lane.region_ops()) * from_memory / all : 0;
}

}  // namespace

std::optional<v1::Mark> MaybeCachedReads(const PhaseView& view, const v1::ClientPhaseReport& client,
                                         const ClientPart& part) {
  const std::vector<const AlignedLane*> lanes = UncountedReaders(view, client.host_delta(), part);
  if (lanes.empty()) return std::nullopt;
  const double memory = MemoryBytesOf(view, part);
  const auto held = static_cast<double>(FileBytesOf(view, lanes));
  const auto lane_bytes = static_cast<double>(ShapeOf(view.run.plan(), view.phase.phase()).files.bytes_per_lane());
  const bool fits = !(memory > 0) || held <= memory;
  History history(view, part);
  double asked = 0, maybe = 0;
  bool direct_helps = true;
  for (const AlignedLane* lane : lanes) {
    const v1::TargetFacts* const target = view.TargetOf(*lane);
    const v1::Assignment* const assignment = view.assignments.Of(lane->worker);
    const bool only_pages = target != nullptr && KeepsOnlyPages(*target);
    const bool direct = assignment != nullptr && assignment->operation().direct();
    const double read = TimedReads(*lane);
    const double written_share =
        lane_bytes > 0 ? 1 - std::min(1.0, static_cast<double>(lane->result->hole_bytes()) / lane_bytes) : 1;
    asked += read * written_share;
    if ((only_pages && direct) || (target != nullptr && IsMountedUncached(*target))) continue;
    // The first read of each byte, and the others, which the pages dropped before each pass cannot serve.
    const double first = lane_bytes > 0 ? std::min(read, lane_bytes) : read;
    const double again = only_pages && view.traits.drops_caches ? 0 : read - first;
    double first_share = fits && history.JustUsed(*lane, target) ? 1 : 0;
    if (only_pages && lane->result->has_resident_bytes() && lane_bytes > 0) {
      first_share = std::min(1.0, static_cast<double>(lane->result->resident_bytes()) / lane_bytes);
    }
    direct_helps &= only_pages;
    maybe += written_share * (first * first_share + again * ShareKept(held, memory));
  }
  const double all = static_cast<double>(client.read_sources().asked_bytes());
  const double percent = all > 0 ? 100 * maybe / all : 0;
  if (!(percent > kMaybeCachedPercent) || DeliveredBytes(client) >= kDelivered * asked) return std::nullopt;
  return MaybeMark(client, percent,
                   direct_helps ? "no counter shows where the bytes came from, and over 5 % of them may be from the client's "
                                  "own memory"
                                : "no counter of this file system shows where the bytes came from, and over 5 % of them may be "
                                  "from the client's own memory",
                   AdviceFor(direct_helps ? "use {-I|--drop-caches|files larger than its memory (-s 2xram)}"
                                          : "use {files larger than its memory (-s 2xram)|--drop-caches with workers of root}",
                             view.phase.phase()));
}

std::optional<v1::Mark> MaybeCachedNames(const PhaseView& view, const v1::ClientPhaseReport& client,
                                         const ClientPart& part,
                                         std::span<const AlignedLane* const> judged) {
  const double memory = MemoryBytesOf(view, part);
  const auto items = static_cast<double>(view.traits.tree.items_per_lane());
  const double held = items * static_cast<double>(part.lanes.size());
  const bool fits = !(memory > 0) || held * kBytesOfName <= memory;
  History history(view, part);
  double all = 0, maybe = 0;
  for (const AlignedLane* lane : part.lanes) {
    all += static_cast<double>(lane->result->region_ops());
    const v1::Assignment* const assignment = view.assignments.Of(lane->worker);
    const v1::TargetFacts* const target = view.TargetOf(*lane);
    if (std::find(judged.begin(), judged.end(), lane) != judged.end()) continue;
    if (assignment != nullptr && (MovesNothing(assignment->operation()) || IsUnmounted(assignment->operation())))
      continue;
    if (target != nullptr && (target->memory() || IsMountedUncached(*target))) continue;
    const double ops = OpsFromMemory(*lane->result);
    const double first = items > 0 ? std::min(ops, items) : ops;
    const double first_share = fits && history.JustUsed(*lane, target) ? 1 : 0;
    maybe += first * first_share + (ops - first) * ShareKept(held * kBytesOfName, memory);
  }
  const double percent = all > 0 ? 100 * maybe / all : 0;
  if (!(percent > kMaybeCachedPercent)) return std::nullopt;
  return MaybeMark(client, percent,
                   "over 5 % of the ops may have been answered from the client's own memory, which has names that it has just "
                   "used, and no counter of this file system shows it",
                   AdviceFor("use {--drop-caches with workers of root|--rotate-clients on a shared file system}",
                             view.phase.phase()));
}

}  // namespace iobench
