#include "coordinator/analysis/across/phase_facts.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "common/model/operation.h"
#include "common/not_a_number.h"

namespace iobench {

double HeadlineRate(const v1::PhaseReport& phase) {
  return phase.headline_in_ops() ? phase.headline().ops_per_s() : phase.headline().bytes_per_s();
}

uint64_t FileBytesPerLane(const v1::PhaseReport& phase) {
  return phase.grown_bytes_per_lane() > 0 ? phase.grown_bytes_per_lane() : phase.bytes_per_lane();
}

uint32_t WorkerCount(const v1::PhaseReport& phase) {
  int count = 0;
  for (const v1::ClientPhaseReport& client : phase.clients()) count += client.workers_size();
  return static_cast<uint32_t>(count);
}

double LinkShare(const v1::ServerNic& nic) {
  if (nic.link_bytes_per_s() == 0) return kNaN;
  return std::max(nic.receive_bytes_per_s(), nic.send_bytes_per_s()) / static_cast<double>(nic.link_bytes_per_s());
}

std::string OnlyTargetPath(const v1::Plan& plan, const v1::Phase& phase) {
  const uint32_t only = phase.only_target();
  if (only == 0 || only > static_cast<uint32_t>(plan.targets_size())) return "";
  return plan.targets(static_cast<int>(only - 1)).path();
}

uint32_t StrideOf(const v1::Phase& phase) {
  for (const v1::Assignment& assignment : phase.assignments()) {
    const absl::StatusOr<const OperationSpec*> operation = FindOperation(assignment.operation().name());
    if (operation.ok() && (*operation)->pattern == Pattern::kStride)
      return assignment.operation().stride_records();
  }
  return 0;
}

const v1::Operation& FirstOperationOf(const v1::Phase& phase) {
  return phase.assignments().empty() ? v1::Operation::default_instance() : phase.assignments(0).operation();
}

}  // namespace iobench
