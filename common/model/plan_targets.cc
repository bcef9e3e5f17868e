#include "common/model/plan_targets.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace iobench {

std::vector<v1::Target> TargetsOf(std::span<const std::string> paths) {
  std::vector<v1::Target> targets;
  std::map<std::string_view, size_t> target_of_path;
  for (uint32_t worker = 0; worker < paths.size(); ++worker) {
    const auto [found, is_new] = target_of_path.emplace(paths[worker], targets.size());
    if (is_new) targets.emplace_back().set_path(paths[worker]);
    targets[found->second].mutable_who()->add_workers(worker);
  }
  if (targets.size() == 1) targets[0].clear_who();
  return targets;
}

std::vector<uint32_t> TargetOfEachWorker(const v1::Plan& plan, uint32_t worker_count) {
  const auto target_count = static_cast<uint32_t>(plan.targets_size());
  std::vector<uint32_t> targets(worker_count);
  for (uint32_t worker = 0; worker < worker_count; ++worker) targets[worker] = worker % target_count;
  // The first target that selects a worker comes last, and stays.
  for (uint32_t target = target_count; target-- > 0;) {
    for (const uint32_t worker : plan.targets(static_cast<int>(target)).who().workers()) {
      if (worker < worker_count) targets[worker] = target;
    }
  }
  return targets;
}

uint32_t TargetInPhase(const v1::Phase& phase, uint32_t own_target) {
  return phase.only_target() > 0 ? phase.only_target() - 1 : own_target;
}

std::vector<uint32_t> OnlyTargets(const v1::Plan& plan) {
  std::set<uint32_t> targets;
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.only_target() > 0) targets.insert(phase.only_target() - 1);
  }
  return {targets.begin(), targets.end()};
}

std::vector<std::vector<uint32_t>> TargetsOfEachWorker(const v1::Plan& plan, uint32_t worker_count) {
  const std::vector<uint32_t> together = OnlyTargets(plan);
  if (!together.empty()) return std::vector<std::vector<uint32_t>>(worker_count, together);
  std::vector<std::vector<uint32_t>> targets;
  targets.reserve(worker_count);
  for (const uint32_t own : TargetOfEachWorker(plan, worker_count)) targets.push_back({own});
  return targets;
}

uint32_t NumberOfSeen(const v1::WorkerTargets& seen, int index) {
  if (seen.numbers().empty()) return static_cast<uint32_t>(index);
  return index < seen.numbers_size() ? seen.numbers(index) : UINT32_MAX;
}

const v1::TargetFacts* SeenOf(const v1::WorkerTargets& seen, uint32_t target) {
  uint64_t index = target;
  if (!seen.numbers().empty()) {
    const auto found = std::lower_bound(seen.numbers().begin(), seen.numbers().end(), target);
    if (found == seen.numbers().end() || *found != target) return nullptr;
    index = static_cast<uint64_t>(found - seen.numbers().begin());
  }
  return index < static_cast<uint64_t>(seen.targets_size()) ? &seen.targets(static_cast<int>(index))
                                                            : nullptr;
}

v1::TargetFacts* MutableSeenOf(v1::WorkerTargets& seen, uint32_t target) {
  return const_cast<v1::TargetFacts*>(SeenOf(seen, target));
}

v1::TargetFacts& AddSeen(v1::WorkerTargets& seen, uint32_t target) {
  int index = seen.targets_size();
  seen.add_targets();
  const bool numbers_needed = !seen.numbers().empty() || target != static_cast<uint32_t>(index);
  if (!numbers_needed) return *seen.mutable_targets(index);
  while (seen.numbers_size() < index) seen.add_numbers(static_cast<uint32_t>(seen.numbers_size()));
  seen.add_numbers(target);
  for (; index > 0 && seen.numbers(index - 1) > target; --index) {
    seen.mutable_targets()->SwapElements(index - 1, index);
    seen.mutable_numbers()->SwapElements(index - 1, index);
  }
  return *seen.mutable_targets(index);
}

}  // namespace iobench
