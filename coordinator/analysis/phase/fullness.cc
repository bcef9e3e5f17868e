#include "coordinator/analysis/phase/fullness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/roster/filesystem.h"

namespace iobench {
namespace {

// What one file system's first worker saw.
struct SeenSpace {
  uint32_t worker = 0;
  v1::Space space;
};

// By target, then by file system. A worker without facts about its targets counts as seeing a file system of its own.
std::map<uint32_t, std::map<FilesystemId, SeenSpace>> SpacesOf(const PhaseView& view) {
  std::map<uint32_t, std::map<FilesystemId, SeenSpace>> seen;
  for (const AlignedWorker& worker : view.aligned.workers) {
    const uint32_t number = worker.result->worker();
    for (const auto& [target, space] : worker.result->host().spaces()) {
      if (target >= static_cast<uint32_t>(view.run.plan().targets_size())) continue;
      if (!std::isfinite(UsedPercent(space))) continue;
      FilesystemId filesystem{.name = absl::StrCat("worker ", number)};
      if (number < static_cast<uint32_t>(view.run.targets_size())) {
        const v1::TargetFacts* const facts = SeenOf(view.run.targets(static_cast<int>(number)), target);
        if (facts != nullptr) {
          filesystem = FilesystemOf(*facts);
          if (filesystem.empty()) filesystem.name = absl::StrCat("target ", target);
        }
      }
      seen[target].try_emplace(filesystem, SeenSpace{.worker = number, .space = space});
    }
  }
  return seen;
}

}  // namespace

void FillFullness(const PhaseView& view, v1::PhaseReport& report) {
  for (const auto& [target, filesystems] : SpacesOf(view)) {
    const auto emptier = [](const auto& a, const auto& b) {
      return UsedPercent(a.second.space) < UsedPercent(b.second.space);
    };
    const auto [least, fullest] = std::minmax_element(filesystems.begin(), filesystems.end(), emptier);
    const v1::Space& space = fullest->second.space;
    v1::FullnessReport& entry = *report.add_fullness();
    entry.set_path(view.run.plan().targets(static_cast<int>(target)).path());
    entry.set_filesystem_count(static_cast<uint32_t>(filesystems.size()));
    const uint32_t worker = fullest->second.worker;
    if (filesystems.size() > 1 && worker < static_cast<uint32_t>(view.run.workers_size())) {
      entry.set_client(view.run.workers(static_cast<int>(worker)).host());
    }
    entry.set_total_bytes(space.total_bytes());
    entry.set_used_bytes(space.total_bytes() - std::min(space.total_bytes(), space.free_bytes()));
    entry.set_percent(UsedPercent(space));
    entry.set_least_percent(UsedPercent(least->second.space));
  }
}

}  // namespace iobench
