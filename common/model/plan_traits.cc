#include "common/model/plan_traits.h"

#include <algorithm>

#include "common/model/engine.h"

namespace iobench {

const OperationSpec* SpecOf(const v1::Operation& operation) {
  const auto found = FindOperation(operation.name());
  return found.ok() ? *found : nullptr;
}

bool IsMetadata(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->is_metadata();
}

bool IsMetadata(const v1::Phase& phase) {
  return !phase.assignments().empty() &&
         std::all_of(phase.assignments().begin(), phase.assignments().end(),
                     [](const v1::Assignment& assignment) { return IsMetadata(assignment.operation()); });
}

bool WritesThroughMemory(const v1::Operation& operation) {
  return !operation.direct() && !operation.sync() && !operation.dsync() && !operation.rsync();
}

bool IsUnmounted(const v1::Operation& operation) {
  const auto engine = FindEngine(operation.engine());
  return engine.ok() && (*engine)->uses_files && !(*engine)->mounted;
}

const v1::Assignment* AssignmentOf(const v1::Phase& phase, uint32_t worker) {
  for (const v1::Assignment& assignment : phase.assignments()) {
    const auto& chosen = assignment.who().workers();
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), worker) != chosen.end()) return &assignment;
  }
  return nullptr;
}

}  // namespace iobench
