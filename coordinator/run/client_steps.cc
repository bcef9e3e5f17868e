#include "coordinator/run/client_steps.h"

#include <algorithm>
#include <optional>

#include "common/status_util.h"

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

}  // namespace iobench
