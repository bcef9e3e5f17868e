#include "common/model/plan_targets.h"

#include <algorithm>

namespace iobench {

uint32_t TargetOfWorker(const v1::Plan& plan, uint32_t worker) {
  for (int i = 0; i < plan.targets_size(); ++i) {
    const auto& chosen = plan.targets(i).who().workers();
    if (std::find(chosen.begin(), chosen.end(), worker) != chosen.end()) return static_cast<uint32_t>(i);
  }
  return worker % static_cast<uint32_t>(plan.targets_size());
}

}  // namespace iobench
