// The marks of faults that the phase survived: the run was resumed before it, connections broke, the coordinator stood
// still, ops were retried.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"

namespace iobench {
namespace {

void AddResumed(const PhaseView& view, std::vector<v1::Mark>& marks) {
  const v1::Resumption* resumption = nullptr;
  bool is_again = false;
  for (const v1::Resumption& each : view.run.resumptions()) {
    const auto& again = each.measured_again();
    const bool is_first = each.first_phase() == view.phase.index();
    const bool measured_again = std::find(again.begin(), again.end(), view.phase.index()) != again.end();
    if (!is_first && !measured_again) continue;
    resumption = &each;  // the last one measured it
    is_again = measured_again;
  }
  if (resumption == nullptr) return;
  const std::string differences = absl::StrJoin(resumption->differences(), "; ");
  marks.push_back(
      MakeMark(mark_code::kResumed, "phase", view.run.resumptions_size(), 0,
               absl::StrCat(is_again ? "its saved results were missing, damaged or cut short, so it was measured again: "
                                     : "",
                            "the run was resumed at ", resumption->resumed_at(), " before this phase (",
                            resumption->ended_by(),
                            "), with data prepared anew: what earlier phases left in caches is gone",
                            differences.empty() ? "" : absl::StrCat("; since then: ", differences))));
}

void AddReconnected(const PhaseView& view, std::vector<v1::Mark>& marks) {
  uint64_t reconnects = 0, workers = 0;
  std::string first;
  for (const AlignedWorker& worker : view.aligned.workers) {
    if (worker.result->reconnects() == 0) continue;
    reconnects += worker.result->reconnects();
    if (++workers == 1) {
      first = absl::StrCat("worker ", worker.number, " on ",
                           view.roster.NameOf(view.roster.ClientOf(worker.number)));
    }
  }
  if (reconnects == 0) return;
  marks.push_back(MakeMark(
      mark_code::kReconnected, "phase", static_cast<double>(reconnects), 0,
      absl::StrCat(
          first, workers > 1 ? absl::StrCat(" and ", workers - 1, " more") : "", " reconnected ",
          Counted(reconnects, "time"),
          " to the coordinator: nothing was lost, but the network may have disturbed the storage, too")));
}

void AddRetriedOps(const v1::PhaseReport& report, std::vector<v1::Mark>& marks) {
  if (report.retried_ops().empty()) return;
  uint64_t count = 0;
  std::vector<std::string> kinds;
  for (const v1::FailedOps& retried : report.retried_ops()) {
    count += retried.count();
    kinds.push_back(absl::StrCat(retried.count(), " ", retried.operation(), " ", retried.error(), " in ",
                                 Counted(retried.lanes(), "lane")));
  }
  marks.push_back(MakeMark(mark_code::kRetriedOps, "phase", static_cast<double>(count), 0,
                           absl::StrCat("the server asked to try again later: ", absl::StrJoin(kinds, ", "),
                                        "; the waits are in the measured times")));
}

}  // namespace

std::optional<v1::Mark> CoordinatorStopped(const PhaseView& view) {
  double seconds = 0, suspended_s = 0;
  for (const v1::Standstill& standstill : view.phase.standstills()) {
    seconds += standstill.seconds();
    suspended_s += standstill.suspended_s();
  }
  if (seconds == 0) return std::nullopt;
  return MakeMark(
      mark_code::kCoordinatorStopped, "phase", seconds, 0,
      absl::StrCat("the coordinator ", suspended_s > seconds / 2 ? "was suspended for " : "stood still for ",
                   FormatSeconds(seconds),
                   ": workers worked on, but none was polled or told to stop; lanes in its own process stood still"));
}

std::vector<v1::Mark> FaultMarks(const PhaseView& view, const v1::PhaseReport& report) {
  std::vector<v1::Mark> marks;
  AddResumed(view, marks);
  AddReconnected(view, marks);
  AddRetriedOps(report, marks);
  return marks;
}

}  // namespace iobench
