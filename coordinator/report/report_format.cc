#include "coordinator/report/report_format.h"

#include "common/status_util.h"

namespace iobench {

absl::Status WriteReport(const ReportFormat& format, const v1::RunReport& report, std::ostream& out) {
  if (format.write_titles != nullptr) IOBENCH_RETURN_IF_ERROR(format.write_titles(out));
  const WrittenPhases phases = {.any = !report.phases().empty(), .copy_to = [&](std::ostream& list) {
                                  PlaceInList place = PlaceInList::kFirst;
                                  for (const v1::PhaseReport& phase : report.phases()) {
                                    IOBENCH_RETURN_IF_ERROR(format.write_phase(report, phase, place, list));
                                    place = PlaceInList::kLater;
                                  }
                                  return absl::OkStatus();
                                }};
  return format.grows() ? phases.copy_to(out) : format.write_around(report, phases, out);
}

}  // namespace iobench
