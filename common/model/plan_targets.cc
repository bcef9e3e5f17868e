#include "common/model/plan_targets.h"

#include <algorithm>
#include <set>

namespace iobench {

uint32_t TargetOfWorker(const v1::Plan& plan, uint32_t worker) {
  for (int i = 0; i < plan.targets_size(); ++i) {
    const auto& chosen = plan.targets(i).who().workers();
    if (std::find(chosen.begin(), chosen.end(), worker) != chosen.end()) return static_cast<uint32_t>(i);
  }
  return worker % static_cast<uint32_t>(plan.targets_size());
}

uint32_t TargetOfWorker(const v1::Plan& plan, const v1::Phase& phase, uint32_t worker) {
  return phase.only_target() > 0 ? phase.only_target() - 1 : TargetOfWorker(plan, worker);
}

std::vector<uint32_t> OnlyTargets(const v1::Plan& plan) {
  std::set<uint32_t> targets;
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.only_target() > 0) targets.insert(phase.only_target() - 1);
  }
  return {targets.begin(), targets.end()};
}

std::vector<uint32_t> TargetsOfWorker(const v1::Plan& plan, uint32_t worker) {
  std::vector<uint32_t> targets = OnlyTargets(plan);
  if (targets.empty()) targets.push_back(TargetOfWorker(plan, worker));
  return targets;
}

}  // namespace iobench
