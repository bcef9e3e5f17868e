#include "coordinator/conduct/data/client_steps.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

// Client -> the worker that does its steps.
std::map<uint32_t, uint32_t> Chosen(const Cluster& cluster,
                                    const std::function<bool(uint32_t worker)>& takes_part) {
  std::map<uint32_t, uint32_t> chosen;
  for (const Member& member : cluster.members()) {
    if (!member.lost && takes_part(member.number)) chosen.emplace(member.client, member.number);
  }
  return chosen;
}

// As in the verdict on --cold (coordinator/analysis/marks/cold_report.cc).
constexpr double kWarmShare = 0.05;

// Why dropping caches was not enough; empty: it was.
std::string WhyWarm(const v1::Coldness& cold) {
  if (cold.names() && !cold.system_dropped()) return "names cannot be dropped without it";
  if (cold.names()) return "";
  if (!cold.has_resident_bytes()) return cold.system_dropped() ? "" : "what is in memory is unknown";
  const auto resident = static_cast<double>(cold.resident_bytes());
  if (resident <= kWarmShare * static_cast<double>(cold.file_bytes())) return "";
  return absl::StrCat(FormatBytes(resident), " of the files were still in memory");
}

struct ColdRemount {
  uint32_t worker = 0;
  std::set<std::string> mount_points;
  std::string why;
};

// By client: what to remount. A client is warm if one of its workers says so.
std::map<uint32_t, ColdRemount> ColdRemountsOf(const Cluster& cluster, const ColdnessOfWorkers& coldness) {
  std::map<uint32_t, std::string> why;
  std::map<uint32_t, ColdRemount> remounts;
  for (const Member& member : cluster.members()) {
    const auto cold = coldness.find(member.number);
    if (member.lost || cold == coldness.end()) continue;
    if (std::string warm = WhyWarm(cold->second); !warm.empty()) why.emplace(member.client, std::move(warm));
    if (cold->second.remountable().empty()) continue;
    ColdRemount& remount =
        remounts.try_emplace(member.client, ColdRemount{member.number, {}, ""}).first->second;
    if (remount.worker != member.number) continue;
    remount.mount_points.insert(cold->second.remountable().begin(), cold->second.remountable().end());
  }
  for (const auto& [client, reason] : why) {
    if (const auto found = remounts.find(client); found != remounts.end()) found->second.why = reason;
  }
  std::erase_if(remounts, [](const auto& entry) { return entry.second.why.empty(); });
  return remounts;
}

// True if the mount is as it was.
bool LeftMounted(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsPermissionDenied(status) ||
         absl::IsInvalidArgument(status);
}

}  // namespace

bool IsClientStep(const v1::Step& step) {
  return step.has_remount() || step.has_eat_memory();
}

bool HasClientSteps(const v1::Phase& phase) {
  return std::any_of(phase.before().begin(), phase.before().end(), IsClientStep);
}

absl::Status RunClientSteps(Cluster& cluster, const v1::Phase& phase,
                            const std::function<bool(uint32_t worker)>& takes_part, StepsOfWorkers& done,
                            const Cluster::Patience& patience) {
  for (const v1::Step& step : phase.before()) {
    if (!IsClientStep(step)) continue;
    const std::map<uint32_t, uint32_t> chosen = Chosen(cluster, takes_part);
    IOBENCH_RETURN_IF_ERROR(cluster.CallAndCheck(
        [&](const Member& member) -> std::optional<v1::WorkerRequest> {
          const auto found = chosen.find(member.client);
          if (found == chosen.end() || found->second != member.number) return std::nullopt;
          v1::WorkerRequest request;
          *request.mutable_client_step()->mutable_step() = step;
          return request;
        },
        [&](const Member& member, const ReceivedEvent& received) {
          if (received.event.problem().code() != 0) return;
          done[member.number].push_back(received.event.client_step_done().step());
        },
        patience));
  }
  return absl::OkStatus();
}

bool AnyToRemount(const Cluster& cluster, const ColdnessOfWorkers& coldness) {
  return !ColdRemountsOf(cluster, coldness).empty();
}

absl::Status RemountForCold(Cluster& cluster, const ColdnessOfWorkers& coldness, StepsOfWorkers& done,
                            const Cluster::Patience& patience) {
  std::map<uint32_t, ColdRemount> left = ColdRemountsOf(cluster, coldness);
  while (!left.empty()) {  // one mount of each client at a time
    absl::Status first_problem;
    IOBENCH_RETURN_IF_ERROR(cluster.Call(
        [&](const Member& member) -> std::optional<v1::WorkerRequest> {
          const auto mine = left.find(member.client);
          if (mine == left.end() || mine->second.worker != member.number) return std::nullopt;
          v1::WorkerRequest request;
          request.mutable_client_step()->mutable_step()->mutable_remount()->set_mount_point(
              *mine->second.mount_points.begin());
          return request;
        },
        [&](const Member& member, const ReceivedEvent& received) {
          v1::StepResult step = received.event.client_step_done().step();
          const absl::Status problem = ToStatus(received.event.problem());
          if (!problem.ok() && !LeftMounted(problem)) first_problem.Update(ProblemOf(member, received));
          step.set_name(problem.ok() ? "cold-remount" : "no-remount");
          const std::string& why = left[member.client].why;
          step.set_outcome(problem.ok() ? absl::StrCat(step.outcome(), ": ", why)
                                        : absl::StrCat(why, ", and ", problem.message()));
          done[member.number].push_back(std::move(step));
        },
        patience));
    IOBENCH_RETURN_IF_ERROR(first_problem);
    for (auto& [client, remount] : left) remount.mount_points.erase(remount.mount_points.begin());
    std::erase_if(left, [](const auto& entry) { return entry.second.mount_points.empty(); });
  }
  return absl::OkStatus();
}

}  // namespace iobench
