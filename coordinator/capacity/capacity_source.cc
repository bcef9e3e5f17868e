#include "coordinator/capacity/capacity_source.h"

#include <map>
#include <optional>
#include <utility>

#include "common/status_util.h"
#include "coordinator/capacity/capacity_phases.h"
#include "coordinator/capacity/step_figures.h"

namespace iobench {

std::vector<std::vector<uint32_t>> WorkersByClient(std::span<const Member> members) {
  std::map<uint32_t, std::vector<uint32_t>> clients;
  for (const Member& member : members) clients[member.client].push_back(member.number);
  std::vector<std::vector<uint32_t>> workers;
  workers.reserve(clients.size());
  for (auto& [client, its_workers] : clients) workers.push_back(std::move(its_workers));
  return workers;
}

absl::Status CapacitySource::Begin(std::span<const Member> members, CapacitySettings settings) {
  workers_of_client_ = WorkersByClient(members);
  if (max_duration_s_ > 0) IOBENCH_RETURN_IF_ERROR(FitInto(max_duration_s_, settings, notes_));
  search_ = std::make_unique<CapacitySearch>(settings);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<NextPhase>> CapacitySource::Next(const PhasesSoFar& so_far) {
  if (planned_count_ < 0) planned_count_ = so_far.plan.phases_size();
  const auto phase_count = static_cast<uint32_t>(so_far.plan.phases_size());
  if (next_place_ < planned_count_) {
    return NextPhase{.place = next_place_++, .added = {}, .phase_count = phase_count, .goes_on = true};
  }
  if (so_far.newest == nullptr) return std::nullopt;
  // The plan's own phase creates the files and is part of no figure.
  if (so_far.plan.phases_size() == 1) measuring_since_ = so_far.cluster.Now();
  if (so_far.plan.phases_size() > 1) search_->Note(FiguresOf(*so_far.newest, search_->settings().slo));
  const std::optional<CapacityStep> step = search_->Next();
  if (!step.has_value()) return std::nullopt;
  const double left_s = max_duration_s_ - SecondsFrom(so_far.cluster.Now() - measuring_since_);
  if (max_duration_s_ > 0 && left_s < step->seconds + search_->settings().warmup_s) {
    out_of_time_ = true;
    return std::nullopt;
  }
  return NextPhase{.added = PhaseOf(*step, so_far.plan.phases(0), workers_of_client_,
                                    static_cast<size_t>(so_far.plan.phases_size())),
                   .phase_count = phase_count + 1,
                   .goes_on = true};
}

}  // namespace iobench
