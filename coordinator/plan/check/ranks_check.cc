#include "coordinator/plan/check/ranks_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/phase_check.h"
#include "common/model/phase_shape.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// What lets only some ranks do the phase, or each something else; null: all do the same.
const char* WhatSetsRanksApart(const v1::Plan& plan, const v1::Phase& phase) {
  if (plan.per_client() || phase.has_alone()) return "--per-client (per_client)";
  if (phase.background() || phase.has_interference()) return "--background (background)";
  if (phase.has_on_servers()) return "--server-path (server_path)";
  if (phase.has_spreading()) return "--mix (spreading)";
  if (phase.assignments_size() != 1) return "a phase with several assignments";
  if (!phase.assignments(0).who().workers().empty()) return "an assignment to some workers (who)";
  if (plan.targets_size() > 1 && phase.only_target() == 0) return "several paths (--path, targets)";
  return nullptr;
}

bool HasCollectivePhase(const v1::Plan& plan) {
  return std::any_of(plan.phases().begin(), plan.phases().end(), [](const v1::Phase& phase) {
    return std::any_of(phase.assignments().begin(), phase.assignments().end(),
                       [](const v1::Assignment& assignment) { return assignment.operation().mpi_io().collective(); });
  });
}

}  // namespace

absl::Status CheckRanksOf(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation) {
  const auto spec = FindOperation(operation.name());
  if (!spec.ok()) return absl::OkStatus();  // reported elsewhere
  const PhaseShape shape = ShapeOf(plan, phase);
  IOBENCH_RETURN_IF_ERROR(
      CheckMpiIo(**spec, operation, shape.files, phase.region(), phase.stop(), shape.lanes_per_worker));
  const char* const apart = operation.mpi_io().collective() ? WhatSetsRanksApart(plan, phase) : nullptr;
  if (apart == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--collective (mpi_io.collective): all ranks move the same records of one file together, which ", apart,
      " does not go with"));
}

// MPI's calls are of all ranks that it has started: those of a client that is left out would be waited for in vain.
absl::Status CheckAllRanksTakePart(const v1::Plan& plan, const std::vector<std::string>& left_out) {
  if (left_out.empty() || !HasCollectivePhase(plan)) return absl::OkStatus();
  const bool one = left_out.size() == 1;
  return absl::InvalidArgumentError(
      absl::StrCat("--collective (mpi_io.collective): all ranks take part, but --skip-bad would leave out ",
                   absl::StrJoin(left_out, ", "), ": start the run without ", one ? "this client" : "these clients",
                   ", or fix what is wrong there and omit --skip-bad"));
}

absl::Status CheckOneClientIfCollective(const v1::Plan& plan, uint32_t client_count) {
  if (client_count <= 1 || !HasCollectivePhase(plan)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--collective (mpi_io.collective): all ranks take part, but this command also measures some of the ", client_count,
      " clients alone: omit --collective, or start all ranks on one client"));
}

}  // namespace iobench
