#include "coordinator/preflight/preflight_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/terminal_width.h"
#include "common/text/units.h"
#include "coordinator/preflight/time_estimate.h"
#include "coordinator/report/text/text_table.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

// "1 fault", "2 faults", "no faults"
std::string CountOf(size_t count, const char* what) {
  return count == 0 ? absl::StrCat("no ", what, "s") : Counted(static_cast<int64_t>(count), what);
}

const char* WordFor(Severity severity) {
  return severity == Severity::kFault ? "fault" : "warning";
}

}  // namespace

std::string PreflightText(const PreflightReport& report, size_t width_columns) {
  std::string text =
      absl::StrCat("preflight: ", CountOf(report.client_count, "client"), ", ",
                   CountOf(report.worker_count, "worker"), ": ", CountOf(FaultCount(report), "fault"), ", ",
                   CountOf(report.findings.size() - FaultCount(report), "warning"), "\n");
  if (!report.findings.empty()) {
    using Align = TextTable::Align;
    TextTable table({{"", Align::kLeft},
                     {"client", Align::kLeft},
                     {"check", Align::kLeft},
                     {"what is wrong -> what to do", Align::kLeft}});
    for (const Finding& finding : report.findings) {
      table.AddRow({WordFor(finding.severity), finding.client.empty() ? "-" : Printable(finding.client),
                    NameOf(finding.check), Printable(finding.problem)});
      if (!finding.advice.empty()) {
        table.AddRow({"", "", "", absl::StrCat("-> ", Printable(finding.advice))});
      }
    }
    for (const std::string& line : table.Lines(width_columns - 2)) absl::StrAppend(&text, "  ", line, "\n");
  }
  absl::StrAppend(&text, FillText(report.fills));
  for (const std::string& skipped : report.not_checked)
    text += Hanging("not checked:", 13, Printable(skipped), width_columns);
  return text;
}

std::string FillText(std::span<const FillEstimate> fills) {
  std::string text;
  for (const FillEstimate& fill : fills) {
    absl::StrAppend(&text, "fill  ", Printable(fill.path), ": ");
    const double used_percent = UsedPercent(fill.space);
    if (!std::isfinite(used_percent)) {
      absl::StrAppend(&text, "the size of its file system is unknown, so nothing will be written\n");
      continue;
    }
    absl::StrAppend(&text, FormatBytes(static_cast<double>(fill.space.total_bytes())), ", ",
                    absl::StrFormat("%.1f %% in use", used_percent));
    if (fill.bytes == 0) {
      absl::StrAppend(&text, ": fuller than the ", fill.percent,
                      " % asked for, so nothing will be written\n");
      continue;
    }
    absl::StrAppend(&text, "; ", FormatBytes(static_cast<double>(fill.bytes)), " to reach ", fill.percent,
                    " %: ", FormatSeconds(static_cast<double>(fill.bytes) / kAssumedBytesPerSecond),
                    " if all clients together reach ", FormatBytesPerSecond(kAssumedBytesPerSecond), "\n");
  }
  return text;
}

std::string PreflightJson(const PreflightReport& report) {
  nlohmann::ordered_json json;
  json["schema"] = "cluster-iobench preflight 1";
  json["clients"] = report.client_count;
  json["workers"] = report.worker_count;
  json["ok"] = FaultCount(report) == 0;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : report.findings) {
    json["findings"].push_back({{"severity", WordFor(finding.severity)},
                                {"client", finding.client},
                                {"check", NameOf(finding.check)},
                                {"problem", finding.problem},
                                {"advice", finding.advice},
                                {"workers", finding.workers}});
  }
  if (!report.fills.empty()) json["fills"] = nlohmann::ordered_json::array();
  for (const FillEstimate& fill : report.fills) {
    json["fills"].push_back({{"path", fill.path},
                             {"percent", fill.percent},
                             {"bytes", fill.bytes},
                             {"total_bytes", fill.space.total_bytes()},
                             {"free_bytes", fill.space.free_bytes()},
                             {"available_bytes", fill.space.available_bytes()}});
  }
  json["not_checked"] = report.not_checked;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace iobench
