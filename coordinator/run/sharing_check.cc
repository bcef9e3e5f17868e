#include "coordinator/run/sharing_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/marks/shared_target.h"

namespace iobench {
namespace {

TargetSight SightOf(const v1::Plan& plan, const Member& member, std::span<const v1::WorkerTargets> facts,
                    int target) {
  return {member.facts.host(), member.facts, facts[member.number].targets(target),
          plan.targets(target).path()};
}

// The views of the workers whose lanes use the target. With the user's own files, any lane may use any target.
std::vector<TargetSight> SightsOf(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                                  std::span<const v1::WorkerTargets> facts, int target) {
  std::vector<TargetSight> sights;
  const bool any_lane = plan.files().existing_files_size() > 0;
  for (const Member& member : members) {
    if (member.lost) continue;
    const std::vector<uint32_t>& used = layout.TargetsOf(member.number);
    if (!any_lane && std::find(used.begin(), used.end(), static_cast<uint32_t>(target)) == used.end())
      continue;
    sights.push_back(SightOf(plan, member, facts, target));
  }
  return sights;
}

}  // namespace

absl::Status CheckSharing(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                          std::span<const v1::WorkerTargets> facts, bool force,
                          std::vector<std::string>& notes) {
  for (int target = 0; target < plan.targets_size(); ++target) {
    const TargetSharing sharing = SharingAmong(SightsOf(plan, layout, members, facts, target));
    if (sharing.sharing == Sharing::kSame) continue;
    const std::string& path = plan.targets(target).path();
    if (sharing.sharing == Sharing::kPerhaps) {
      notes.push_back(absl::StrCat("whether the clients see the same file system at ", path,
                                   " cannot be determined (", sharing.who_sees_what, ")"));
      continue;
    }
    const std::string differ = absl::StrCat("the clients do not see the same file system at ", path, " (",
                                            sharing.who_sees_what, ")");
    if (!force) {
      return absl::FailedPreconditionError(absl::StrCat(
          differ,
          ", so the total would add up different storage: mount the same file system on all of them, leave "
          "clients out, or use --force, which marks the phases not_shared"));
    }
    notes.push_back(absl::StrCat(differ, ": their figures are added up anyway (--force)"));
  }
  return absl::OkStatus();
}

void JoinSameFilesystems(const v1::Plan& plan, std::span<const Member> members,
                         std::span<v1::WorkerTargets> facts) {
  for (int target = 0; target < plan.targets_size() && !members.empty(); ++target) {
    const std::string first_id = facts[members.front().number].targets(target).filesystem_id();
    for (const Member& member : members) {
      v1::TargetFacts& seen = *facts[member.number].mutable_targets(target);
      if (seen.filesystem_id() == first_id) continue;
      if (SharingOf(SightOf(plan, members.front(), facts, target), SightOf(plan, member, facts, target)) ==
          Sharing::kSame) {
        seen.set_filesystem_id(first_id);
      }
    }
  }
}

}  // namespace iobench
