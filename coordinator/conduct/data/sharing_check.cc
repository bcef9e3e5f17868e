#include "coordinator/conduct/data/sharing_check.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/roster/filesystem.h"
#include "coordinator/analysis/marks/shared_target.h"

namespace iobench {
namespace {

TargetSight SightOf(const v1::Plan& plan, const Member& member, const v1::TargetFacts& seen,
                    uint32_t target) {
  return {member.facts.host(), seen, plan.targets(static_cast<int>(target)).path()};
}

// The views of the workers whose lanes use the target. With the user's own files, any lane may use any target.
std::vector<TargetSight> SightsOf(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                                  std::span<const v1::WorkerTargets> facts, uint32_t target) {
  std::vector<TargetSight> sights;
  const auto add = [&](const Member& member) {
    if (member.lost) return;
    sights.push_back(SightOf(plan, member, *SeenOf(facts[member.number], target), target));
  };
  if (plan.files().existing_files_size() > 0) {
    for (const Member& member : members) add(member);
  } else {
    for (const uint32_t worker : layout.WorkersOn(target)) add(members[worker]);
  }
  return sights;
}

}  // namespace

absl::Status CheckSharing(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                          std::span<const v1::WorkerTargets> facts, bool force,
                          std::vector<std::string>& notes) {
  for (int target = 0; target < plan.targets_size(); ++target) {
    const TargetSharing sharing =
        SharingAmong(SightsOf(plan, layout, members, facts, static_cast<uint32_t>(target)));
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
  struct FirstSight {
    const Member* member;
    const v1::TargetFacts* seen;
  };
  std::map<uint32_t, FirstSight> first_sights;  // by target
  for (const Member& member : members) {
    v1::WorkerTargets& targets = facts[member.number];
    for (int i = 0; i < targets.targets_size(); ++i) {
      const uint32_t target = NumberOfSeen(targets, i);
      v1::TargetFacts& seen = *targets.mutable_targets(i);
      const auto [first, is_first] = first_sights.emplace(target, FirstSight{&member, &seen});
      const FilesystemId of_first = FilesystemOf(*first->second.seen);
      if (is_first || FilesystemOf(seen) == of_first) continue;
      if (SharingOf(SightOf(plan, *first->second.member, *first->second.seen, target),
                    SightOf(plan, member, seen, target)) == Sharing::kSame) {
        SetFilesystem(of_first, seen);
      }
    }
  }
}

}  // namespace iobench
