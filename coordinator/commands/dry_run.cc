#include "coordinator/commands/dry_run.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/terminal_width.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/preflight_text.h"
#include "coordinator/preflight/time_estimate.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {

namespace {

constexpr size_t kMaxWorkersListed = 40;

std::string Number(uint64_t count) {
  return FormatCount(static_cast<double>(count));
}

// A line for each worker and target.
std::vector<std::string> WorkerLines(const v1::RunRecord& record) {
  const v1::Plan& plan = record.plan();
  std::vector<std::string> lines;
  const auto targets = TargetsOfEachWorker(plan, static_cast<uint32_t>(record.workers_size()));
  for (int worker = 0; worker < record.workers_size(); ++worker) {
    const v1::WorkerFacts& facts = record.workers(worker);
    for (const uint32_t number : targets[static_cast<size_t>(worker)]) {
      const auto target = static_cast<int>(number);
      const v1::TargetFacts& seen = *SeenOf(record.targets(worker), number);
      lines.push_back(absl::StrFormat("  worker %-4d %-20s %s  %s  %s%s  %s free\n", worker, Printable(facts.host()),
                                      Counted(plan.lanes_per_worker(), "lane"),
                                      Printable(plan.targets(target).path()), Printable(seen.filesystem()),
                                      seen.network() ? absl::StrCat(" ", Printable(seen.mount_source())) : "",
                                      seen.has_free_bytes() ? FormatBytes(static_cast<double>(seen.free_bytes()))
                                                            : std::string("an unknown amount")));
    }
  }
  return lines;
}

// What a phase does: "records of 64 KiB, 16 MiB in all".
std::string WorkText(const v1::Plan& plan, const v1::Phase& phase, uint32_t worker_count) {
  const v1::Operation& operation = phase.assignments(0).operation();
  if (phase.assignments_size() > 1) return PartsText(plan, phase, worker_count);
  uint64_t lanes = 0;
  for (const uint32_t workers : WorkersOfAssignments(phase, worker_count)) {
    lanes += uint64_t{workers} * ShapeOf(plan, phase).lanes_per_worker;
  }
  const std::string how = IsMetadata(operation)
                              ? ItemsText(operation.name(), operation.tree())
                              : absl::StrCat("records of ", RecordSizesText(operation), AccessText(operation));
  if (phase.stop().time_s() > 0) return absl::StrCat(how, ", for ", FormatSeconds(phase.stop().time_s()));
  if (IsMetadata(operation) && !HasItemsPerLane(operation.name())) return how;
  const std::string all = IsMetadata(operation)
                              ? Number(lanes * operation.tree().items_per_lane())
                              : FormatBytes(static_cast<double>(lanes * BytesOfLane(plan, phase, operation)));
  return absl::StrCat(how, ", ", all, " in all");
}

}  // namespace

void PrintDryRun(const Conductor& conductor, double max_duration_s) {
  const v1::RunRecord& record = conductor.record();
  const v1::Plan& plan = record.plan();
  const auto worker_count = static_cast<uint32_t>(record.workers_size());
  std::string text = "Nothing was written. This run would use\n";
  const std::vector<std::string> workers = WorkerLines(record);
  for (size_t i = 0; i < std::min(workers.size(), kMaxWorkersListed); ++i) text += workers[i];
  if (workers.size() > kMaxWorkersListed)
    absl::StrAppend(&text, "  and ", Number(workers.size() - kMaxWorkersListed), " more\n");
  absl::StrAppend(&text, "space ", FormatBytes(static_cast<double>(conductor.decision().bytes_needed)), " in all\n");
  const std::string most = Number(MostRepetitions(plan));
  const std::string times = plan.has_until_steady()  ? absl::StrCat(", at most ", most, " times")
                            : plan.repetitions() > 1 ? absl::StrCat(", ", most, " times")
                                                     : "";
  for (const v1::Phase& phase : plan.phases()) {
    absl::StrAppend(&text, absl::StrFormat("  phase  %-24s ", Printable(phase.name())), WorkText(plan, phase, worker_count),
                    times, "\n");
  }
  if (plan.has_until_steady())
    absl::StrAppend(&text, "until  steady, after ", Number(plan.until_steady().window_rounds()), " to ", most,
                    " rounds; the times below are of ", most, "\n");
  text += FillText(conductor.preflight().fills);
  text += plan.soak_s() > 0
              ? SoakEstimateText(plan, worker_count)
              : EstimateText(EstimateTime(plan, worker_count, conductor.decision().uses_kept_data), max_duration_s);
  std::cout << LinesFor(STDOUT_FILENO, text) << std::flush;
}

}  // namespace iobench
