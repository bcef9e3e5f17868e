// The complete console report, assembled from the parts that are printed during a run.
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/across/surfaces.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/console/console_sweep.h"
#include "coordinator/report/console/console_table.h"
#include "coordinator/report/console/console_tables.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {

namespace {

// Considers only percentiles that are shown.
bool HasUnsurePercentile(const v1::RunReport& report, Detail detail) {
  return std::any_of(report.phases().begin(), report.phases().end(), [detail](const v1::PhaseReport& phase) {
    const v1::Latency& latency = phase.latency_us();
    return detail == Detail::kFull ? !latency.unsure().empty()
                                   : IsUnsure(latency, "p50") || IsUnsure(latency, "p99");
  });
}

}  // namespace

std::string ConsoleFooter(const v1::RunReport& report, const ConsoleStyle& style) {
  ConsolePage page(style);
  page.Blank();
  // A single phase has just been printed in full; a summary would only repeat it.
  const v1::Plan& plan = report.run().plan();
  const bool is_sweep = report.phases_size() > 1 && !report.has_soak() && IsSweep(plan);
  if (is_sweep) {
    PrintSweep(report, page);
    page.Blank();
  } else if (report.phases_size() > 1 && !report.has_soak()) {
    page.Line({{"summary", Tone::kStrong}});
    WriteSummary(report, page);
    page.Blank();
  }
  PrintPaths(report, page);
  PrintTablesOfRun(report, /*has_repetitions=*/!(is_sweep && IsLongSweep(plan)), page);
  std::string label = "problems";
  for (const auto& problem : report.run().problems()) {
    page.Labelled(label, ErrorText(problem), Tone::kError);
    label.clear();
  }
  if (!report.run().finished()) {
    page.Labelled("unfinished", "the run did not finish; the figures above were measured before it ended",
                  Tone::kError);
  }
  label = "notes";
  for (const auto& note : report.notes()) {
    page.Labelled(label, Printable(note));
    label.clear();
  }
  if (HasUnsurePercentile(report, style.detail) && !(is_sweep && IsLongSweep(plan)) && !report.has_soak())
    page.Labelled("~", "fewer than 100 ops lie beyond that percentile", Tone::kQuiet);
  std::string text = page.Take();
  // A part without content leaves no blank lines.
  while (text == "\n" || text.ends_with("\n\n")) text.pop_back();
  return text;
}

absl::Status WriteConsole(const v1::RunReport& report, const ConsoleStyle& style, std::ostream& out) {
  out << ConsoleHeader(report, style);
  const Pages pages = PagesFor(report.run().plan());
  for (const auto& phase : report.phases()) out << ConsolePhase(report, phase, style, pages);
  out << ConsoleFooter(report, style);
  out.flush();
  return out.good() ? absl::OkStatus() : absl::DataLossError("the report could not be printed");
}

}  // namespace iobench
