#include "coordinator/commands/dry_run.h"

#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/preflight_text.h"
#include "coordinator/preflight/time_estimate.h"

namespace iobench {

void PrintDryRun(const Conductor& conductor, double max_duration_s) {
  const v1::RunRecord& record = conductor.record();
  const v1::Plan& plan = record.plan();
  std::cout << "Nothing was written. This run would use\n";
  const auto targets = TargetsOfEachWorker(plan, static_cast<uint32_t>(record.workers_size()));
  for (int worker = 0; worker < record.workers_size(); ++worker) {
    const v1::WorkerFacts& facts = record.workers(worker);
    for (const uint32_t number : targets[static_cast<size_t>(worker)]) {
      const auto target = static_cast<int>(number);
      const v1::TargetFacts& seen = *SeenOf(record.targets(worker), number);
      std::cout << absl::StreamFormat("  worker %-4d %-20s %d %s  %s  %s%s  %s free\n", worker,
                                      Printable(facts.host()), plan.lanes_per_worker(),
                                      plan.lanes_per_worker() == 1 ? "lane" : "lanes",
                                      Printable(plan.targets(target).path()), Printable(seen.filesystem()),
                                      seen.network() ? absl::StrCat(" ", Printable(seen.mount_source())) : "",
                                      seen.has_free_bytes()
                                          ? FormatBytes(static_cast<double>(seen.free_bytes()))
                                          : std::string("an unknown amount"));
    }
  }
  std::cout << "space " << FormatBytes(static_cast<double>(conductor.decision().bytes_needed)) << " in all\n";
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Operation& operation = phase.assignments(0).operation();
    const PhaseShape shape = ShapeOf(plan, phase);
    uint64_t lanes = 0;
    for (const uint32_t workers : WorkersOfAssignments(phase, static_cast<uint32_t>(record.workers_size()))) {
      lanes += uint64_t{workers} * shape.lanes_per_worker;
    }
    if (phase.assignments_size() > 1) {
      std::cout << absl::StreamFormat(
          "  phase  %-24s %s%s\n", Printable(phase.name()),
          PartsText(plan, phase, static_cast<uint32_t>(record.workers_size())),
          plan.repetitions() > 1 ? absl::StrCat(", ", plan.repetitions(), " times") : "");
      continue;
    }
    if (IsMetadata(operation)) {
      const uint64_t items = lanes * operation.tree().items_per_lane();
      std::cout << absl::StreamFormat(
          "  phase  %-24s %d items per lane, %s%s\n", Printable(phase.name()),
          operation.tree().items_per_lane(),
          phase.stop().time_s() > 0 ? absl::StrCat("for ", FormatSeconds(phase.stop().time_s()))
                                    : absl::StrCat(items, " in all"),
          plan.repetitions() > 1 ? absl::StrCat(", ", plan.repetitions(), " times") : "");
      continue;
    }
    std::cout << absl::StreamFormat(
        "  phase  %-24s records of %s, %s", Printable(phase.name()),
        FormatBytes(static_cast<double>(operation.record_bytes())),
        phase.stop().time_s() > 0
            ? absl::StrCat("for ", FormatSeconds(phase.stop().time_s()))
            : absl::StrCat(FormatBytes(static_cast<double>(lanes * BytesOfLane(plan, phase, operation))),
                           " in all"));
    std::cout << (plan.repetitions() > 1 ? absl::StrCat(", ", plan.repetitions(), " times\n") : "\n");
  }
  std::cout << FillText(conductor.preflight().fills);
  if (plan.soak_s() > 0) {
    std::cout << SoakEstimateText(plan, static_cast<uint32_t>(record.workers_size())) << std::flush;
    return;
  }
  std::cout << EstimateText(EstimateTime(plan, static_cast<uint32_t>(record.workers_size()),
                                         conductor.decision().uses_kept_data),
                            max_duration_s)
            << std::flush;
}

}  // namespace iobench
