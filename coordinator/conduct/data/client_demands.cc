#include "coordinator/conduct/data/client_demands.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/offset_latency_file.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "coordinator/conduct/data/client_steps.h"

namespace iobench {
namespace {

// A client's first worker that takes part performs the steps for the whole client.
bool DoesClientSteps(const Member& member, const v1::Phase& phase, std::span<const Member> members) {
  return std::none_of(members.begin(), members.end(), [&](const Member& other) {
    return other.client == member.client && other.number < member.number && !other.lost &&
           AssignmentOf(phase, other.number) != nullptr;
  });
}

}  // namespace

v1::Demands DemandsOn(const Member& member, const v1::Plan& plan, const Layout& layout,
                      std::span<const Member> members, const RunPart& part) {
  std::set<std::string> engines, new_files, replaced_files, appended_files, remounts;
  // The index in the run of each phase's last repetition.
  uint64_t last_index = (MostRepetitions(plan) - 1) * static_cast<uint64_t>(plan.phases_size());
  const bool only_lane = IsOnlyLane(plan, members.size());
  std::map<std::string, uint64_t> replayed;  // by file: the smallest file size that its ops must not exceed
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Assignment* const assignment = AssignmentOf(phase, member.number);
    const uint64_t index = last_index++;
    const auto is_phase = [&](uint64_t other) { return (index - other) % static_cast<uint64_t>(plan.phases_size()) == 0; };
    const bool is_again = std::any_of(part.again.begin(), part.again.end(), is_phase);
    if ((index < part.first_phase && !is_again) || assignment == nullptr) continue;
    const bool may_exist = is_again || (part.begun_before && is_phase(part.first_phase));
    const v1::Operation& operation = assignment->operation();
    engines.insert(operation.engine());
    const PhaseShape shape = ShapeOf(plan, phase);
    if (const std::string& file = operation.trace().read_file(); !file.empty()) {
      const uint64_t bytes = shape.files.bytes_per_lane() / std::max(1u, shape.files.files_per_lane());
      uint64_t& least = replayed.emplace(file, bytes).first->second;
      least = std::min(least, bytes);
    }
    if (const std::string& file = operation.trace().write_file(); !file.empty()) {
      for (const v1::LanePlan& lane : layout.LanesOf(member.number, operation, shape)) {
        (may_exist ? replaced_files : new_files).insert(absl::StrCat(file, ".", lane.lane()));
      }
    }
    if (operation.trace().offset_latency()) {
      for (const v1::LanePlan& lane : layout.LanesOf(member.number, operation, shape)) {
        appended_files.insert(OffsetLatencyFile(operation.name(), lane.lane(), only_lane));
      }
    }
    if (!HasClientSteps(phase) || !DoesClientSteps(member, phase, members)) continue;
    for (const v1::Step& step : phase.before()) {
      if (step.has_remount()) remounts.insert(step.remount().mount_point());
    }
  }
  v1::Demands demands;
  demands.mutable_engines()->Assign(engines.begin(), engines.end());
  demands.mutable_new_files()->Assign(new_files.begin(), new_files.end());
  demands.mutable_replaced_files()->Assign(replaced_files.begin(), replaced_files.end());
  demands.mutable_appended_files()->Assign(appended_files.begin(), appended_files.end());
  demands.mutable_remounts()->Assign(remounts.begin(), remounts.end());
  for (const auto& [file, bytes] : replayed) {
    v1::ReplayedTrace& trace = *demands.add_replayed_traces();
    trace.set_file(file);
    trace.set_file_bytes(bytes);
  }
  *demands.mutable_binding() = plan.binding();
  if (plan.has_stripe()) *demands.mutable_stripe() = plan.stripe();
  return demands;
}

std::set<uint32_t> TargetsToInspect(const Member& member, const v1::Plan& plan, const Layout& layout,
                                    const v1::Demands& demands, std::span<const Member> members) {
  std::set<uint32_t> targets;
  if (plan.files().existing_files_size() > 0) {
    for (int i = 0; i < plan.targets_size(); ++i) targets.insert(static_cast<uint32_t>(i));
    return targets;
  }
  const auto add_those_of = [&](uint32_t worker) {
    const std::vector<uint32_t>& own = layout.TargetsOf(worker);
    targets.insert(own.begin(), own.end());
  };
  add_those_of(member.number);
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Assignment* const assignment = AssignmentOf(phase, member.number);
    if (assignment != nullptr && assignment->operation().rotate_clients()) {
      add_those_of(layout.RotatedOwner(member.number));
    }
  }
  if (demands.remounts().empty()) return targets;
  // A mount counts as tested if any worker of the client has its target there, or, by its name, any other worker.
  for (const Member& other : members) {
    if (other.client == member.client) add_those_of(other.number);
  }
  for (const std::string& mount_point : demands.remounts()) {
    const auto on_it =
        std::find_if(plan.targets().begin(), plan.targets().end(), [&mount_point](const v1::Target& target) {
          return target.path() == mount_point || target.path().starts_with(absl::StrCat(mount_point, "/"));
        });
    if (on_it != plan.targets().end()) targets.insert(static_cast<uint32_t>(on_it - plan.targets().begin()));
  }
  return targets;
}

std::vector<absl::Status> UnmetBy(const Member& member, const v1::Inspected& seen) {
  std::vector<absl::Status> unmet;
  for (const v1::Problem& problem : seen.problems()) {
    unmet.push_back(absl::InvalidArgumentError(absl::StrCat(member.facts.host(), ": ", problem.message())));
  }
  return unmet;
}

absl::Status CheckRemountsHoldTargets(const Member& member, const v1::Plan& plan, const v1::Demands& demands,
                                      const v1::WorkerTargets& seen) {
  for (const std::string& mount_point : demands.remounts()) {
    std::string others;
    bool holds_one = false;
    for (int i = 0; i < seen.targets_size(); ++i) {
      const std::string& where = seen.targets(i).mount_point();
      holds_one |= where == mount_point;
      absl::StrAppend(&others, others.empty() ? "" : ", ",
                      plan.targets(static_cast<int>(NumberOfSeen(seen, i))).path(), " is ",
                      where.empty() ? "not on any mount it sees" : absl::StrCat("on ", where));
    }
    if (holds_one) continue;
    return absl::InvalidArgumentError(absl::StrCat(member.facts.host(), ": -U ", mount_point,
                                                   ": no --path is on that mount (", others,
                                                   "): give the mount point of a tested directory"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
