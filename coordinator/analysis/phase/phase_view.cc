#include "coordinator/analysis/phase/phase_view.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/roster/filesystem.h"

namespace iobench {
namespace {

constexpr std::array<std::string_view, 13> kChargingFileSystems = {
    "ext2", "ext3", "ext4",  "xfs",   "btrfs",    "f2fs",   "bcachefs",
    "jfs",  "vfat", "exfat", "ntfs3", "reiserfs", "overlay"};

}  // namespace

int64_t PhaseView::WorstErrorNs(const ClockMap& clock) const {
  // If no lane did anything, the figures have no first op; then uses T.
  const CoordTime begin = figures.duration_s > 0 ? figures.first_op : CoordTime{phase.start_coord_ns()};
  const int64_t duration_ns = NanosFrom(figures.duration_s);
  int64_t worst_ns = std::max(clock.error_ns(begin), clock.error_ns(begin + duration_ns));
  const auto look_at = [&](int64_t after_ns) {
    if (after_ns > 0 && after_ns < duration_ns)
      worst_ns = std::max(worst_ns, clock.error_ns(begin + after_ns));
  };
  look_at(NanosFrom(traits.warmup_s));
  look_at(NanosFrom(traits.deadline_s));
  if (figures.first_to_end != nullptr) look_at(NanosFrom(figures.stonewall_at_s));
  return worst_ns;
}

uint32_t PhaseView::OwnerWorkerOf(const v1::LaneResult& lane) const {
  return lane.file_owner() / std::max<uint32_t>(1, run.plan().lanes_per_worker());
}

const v1::TargetFacts* PhaseView::TargetOf(const AlignedLane& lane, uint32_t* target_index) const {
  const uint32_t owner = OwnerWorkerOf(*lane.result);
  if (run.plan().targets().empty() || lane.worker >= static_cast<uint32_t>(run.targets_size()) ||
      owner >= roster.worker_count()) {
    return nullptr;
  }
  const uint32_t target = TargetInPhase(phase.phase(), roster.TargetOf(owner));
  // The record of a damaged run may name one that only the plan or only its worker has.
  if (target >= static_cast<uint32_t>(run.plan().targets_size())) return nullptr;
  const v1::TargetFacts* const seen =  // as its own client sees it
      SeenOf(run.targets(static_cast<int>(lane.worker)), target);
  if (seen != nullptr && target_index != nullptr) *target_index = target;
  return seen;
}

std::string MountOf(const v1::TargetFacts& target, uint32_t target_index) {
  if (target.device() != 0) return absl::StrCat("device ", target.device());
  const FilesystemId filesystem = FilesystemOf(target);
  return filesystem.empty() ? absl::StrCat("target ", target_index) : filesystem.name;
}

bool IsNfs(const v1::TargetFacts& target) {
  return target.filesystem().starts_with("nfs");
}

bool ChargesItsProcesses(const v1::TargetFacts& target) {
  // An overlay is charged if the file system that it writes to is.
  return !target.memory() && std::find(kChargingFileSystems.begin(), kChargingFileSystems.end(),
                                       target.filesystem()) != kChargingFileSystems.end();
}

double TimedBytesOf(const v1::LaneResult& lane, OpKinds kinds) {
  double wanted = 0, all = 0;
  for (const v1::KindResult& kind : lane.kinds()) {
    all += static_cast<double>(kind.bytes());
    if (kinds.Has(static_cast<OpKind>(kind.kind()))) wanted += static_cast<double>(kind.bytes());
  }
  return all > 0 ? static_cast<double>(lane.region_bytes()) * wanted / all : 0;
}

std::vector<ClientPart> ClientPartsOf(const PhaseView& view) {
  std::vector<ClientPart> parts(view.roster.client_count());
  for (const AlignedWorker& worker : view.aligned.workers)
    parts[view.roster.ClientOf(worker.number)].workers.push_back(&worker);
  for (const AlignedLane& lane : view.aligned.lanes)
    parts[view.roster.ClientOf(lane.worker)].lanes.push_back(&lane);
  return parts;
}

}  // namespace iobench
