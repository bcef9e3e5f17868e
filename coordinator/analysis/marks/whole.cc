#include "coordinator/analysis/marks/whole.h"

#include <string_view>

#include "absl/strings/str_cat.h"

namespace iobench {

Missing MissingFrom(const PhaseView& view, const v1::PhaseReport& report) {
  size_t refused = 0, without_result = 0;
  for (const AlignedWorker& worker : view.aligned.workers) {
    refused += worker.result->refused_reason().empty() ? 0 : 1;
    if (worker.missing_reason.empty() && worker.result->lanes().empty() &&
        view.assignments.Of(worker.number) != nullptr) {
      ++without_result;
    }
  }
  const struct {
    size_t count;
    std::string_view noun, what;
  } kAll[] = {{report.workers_lost() - refused, "worker", "lost"},
              {refused, "worker", "refused"},
              {without_result, "worker", "without a result"},
              {report.lanes_failed(), "lane", "failed"},
              {report.lanes_sat_out(), "lane", "sat out"}};
  Missing missing;
  for (const auto& each : kAll) {
    if (each.count == 0) continue;
    missing.count += each.count;
    absl::StrAppend(&missing.text, missing.text.empty() ? "" : ", ", each.count, " ", std::string(each.noun),
                    each.count == 1 ? " " : "s ", std::string(each.what));
  }
  return missing;
}

void FillWhole(const PhaseView& view, v1::PhaseReport& report) {
  const Missing missing = MissingFrom(view, report);
  const bool both = report.interrupted() && missing.count > 0;
  report.set_not_whole(
      absl::StrCat(report.interrupted() ? "interrupted" : "", both ? ", " : "", missing.text));
}

}  // namespace iobench
