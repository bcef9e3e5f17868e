#include "coordinator/plan/suite.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/options/suite_files.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/plan/sweep.h"

namespace iobench {
namespace {

constexpr uint64_t kSizeUnit = 64_MiB;  // sizes derived from a host's memory are rounded

// -s, -r, -t replace the suite's defaults. Phases that are smaller on purpose stay so, but are never larger than the
// plan.
absl::Status ReplaceUsualValues(const GivenOptions& given, v1::Plan& plan) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<RecordShare> shares, RecordSharesOf(given));
  if (given.Has("record") && !plan.phases().empty() && !plan.phases(0).assignments().empty()) {
    const uint64_t default_record = plan.phases(0).assignments(0).operation().record_bytes();
    for (v1::Phase& phase : *plan.mutable_phases()) {
      for (v1::Assignment& assignment : *phase.mutable_assignments()) {
        if (assignment.operation().record_bytes() == default_record) {
          assignment.mutable_operation()->set_record_bytes(given.Number("record", default_record));
          if (!shares.empty()) SetRecordShares(shares, *assignment.mutable_operation());
        }
      }
    }
  }
  if (given.Has("size")) {
    const uint64_t bytes = given.Number("size", 0);
    plan.mutable_files()->set_bytes_per_lane(bytes);
    for (v1::Phase& phase : *plan.mutable_phases()) {
      if (phase.files().bytes_per_lane() <= bytes || phase.assignments().empty()) continue;
      const uint64_t record = std::max<uint64_t>(1, phase.assignments(0).operation().record_bytes());
      phase.mutable_files()->set_bytes_per_lane(std::max(bytes / record, uint64_t{1}) * record);
    }
  }
  if (given.Has("lanes")) {
    const auto lanes = static_cast<uint32_t>(given.Number("lanes", 1));
    plan.set_lanes_per_worker(lanes);
    for (v1::Phase& phase : *plan.mutable_phases()) {
      if (phase.lanes_per_worker() > lanes) phase.set_lanes_per_worker(lanes);
    }
  }
  return absl::OkStatus();
}

// Every phase needs at least one record.
absl::Status CheckSizeGiven(const GivenOptions& given, const v1::Plan& plan) {
  if (!given.Has("size")) return absl::OkStatus();
  for (const v1::Phase& phase : plan.phases()) {
    if (IsMetadata(phase) || phase.assignments().empty()) continue;
    const uint64_t record = phase.assignments(0).operation().record_bytes();
    if (record <= given.Number("size", 0)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "-s (--size) of ", FormatBytes(static_cast<double>(given.Number("size", 0))),
        " is less than one record of phase ", phase.name(), ", ", FormatBytes(static_cast<double>(record)),
        ": use a larger -s, or a smaller -r if the phase has the suite's default record size"));
  }
  return absl::OkStatus();
}

void SizeByMemory(const GivenOptions& given, const PlanContext& context, v1::Plan& plan) {
  uint64_t lanes = 1;  // lanes with their own files
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.assignments().empty() || phase.assignments(0).operation().first_lane_files()) continue;
    lanes = std::max<uint64_t>(lanes, ShapeOf(plan, phase).lanes_per_worker);
  }
  const uint64_t wanted = 2 * context.memory_bytes / lanes;
  if (!given.Has("size")) {
    plan.mutable_files()->set_bytes_per_lane((wanted + kSizeUnit - 1) / kSizeUnit * kSizeUnit);
  }
  if (plan.files().bytes_per_lane() >= wanted) return;
  plan.add_notes(absl::StrFormat(
      "a worker's files (%s) are smaller than twice this host's memory (%s): reads may be served "
      "from memory",
      FormatBytes(static_cast<double>(lanes * plan.files().bytes_per_lane())),
      FormatBytes(static_cast<double>(2 * context.memory_bytes))));
}

}  // namespace

absl::StatusOr<v1::Plan> LoadSuite(const GivenOptions& given, const PlanContext& context) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string file, SuiteFile(given.Text("suite")));
  IOBENCH_ASSIGN_OR_RETURN(v1::Plan plan, LoadPlan(file, context.drawn_seed));
  const bool by_memory = !plan.files().has_bytes_per_lane();
  IOBENCH_RETURN_IF_ERROR(ReplaceUsualValues(given, plan));
  IOBENCH_RETURN_IF_ERROR(CheckSizeGiven(given, plan));
  if (by_memory) SizeByMemory(given, context, plan);
  return plan;
}

}  // namespace iobench
