// The complete console report, the answer first, assembled from the parts that are printed during a run.
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/phase_files.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/across/surfaces.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/console/console_sweep.h"
#include "coordinator/report/console/console_table.h"
#include "coordinator/report/console/console_tables.h"
#include "coordinator/report/console/console_verdict.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {

namespace {

// Considers only percentiles that are shown.
bool HasUnsurePercentile(const v1::RunReport& report, Detail detail) {
  return std::any_of(report.phases().begin(), report.phases().end(), [detail](const v1::PhaseReport& phase) {
    const v1::Latency& latency = phase.latency_us();
    return detail == Detail::kFull ? !latency.unsure().empty()
                                   : IsUnsure(latency, "p50") || IsUnsure(latency, "p95") || IsUnsure(latency, "p99");
  });
}

// The figures of all phases in one table, or in those of a sweep; repetitions are one row.
void PrintFigures(const v1::RunReport& report, bool is_sweep, ConsolePage& page) {
  // A single phase is shown in full, unless it is the first of repetitions; a table would only repeat it.
  const bool has_page = report.phases_size() == 1 && PagesFor(report.run().plan()) != Pages::kRepeated;
  if (report.phases().empty() || has_page || RunsInRounds(report.run().plan())) return;
  page.Blank();
  if (is_sweep) {
    PrintSweep(report, page);
    if (!report.repetitions().empty() && !IsLongSweep(report.run().plan())) {
      page.Blank();
      PrintTableOfRun("repetitions", report, page);
    }
  } else {
    page.Line({{"summary", Tone::kStrong}});
    PrintTableOfRun("repetitions", report, page);
    WriteSummary(report, page);
  }
  page.Blank();
}

}  // namespace

std::string ConsoleFooter(const v1::RunReport& report, const ConsoleStyle& style) {
  ConsolePage page(style);
  page.Blank();
  PrintVerdict(report, page);
  const v1::Plan& plan = report.run().plan();
  const bool is_sweep = report.phases_size() > 1 && !RunsInRounds(plan) && IsSweep(plan);
  PrintFigures(report, is_sweep, page);
  // A sweep's tables have letters for its marks, and with all details each phase has the texts of its own.
  if (!is_sweep && style.detail == Detail::kBrief && !IsOfOnePhase(plan)) PrintMarksOfRun(report, page);
  PrintPaths(report, page);
  PrintTablesOfRun(report, page);
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
  const bool shows_percentiles = style.detail == Detail::kFull || PagesFor(plan) == Pages::kAll;
  if (shows_percentiles && HasUnsurePercentile(report, style.detail) && !(is_sweep && IsLongSweep(plan)) &&
      !RunsInRounds(plan))
    page.Labelled("~", "fewer than 100 ops lie beyond that percentile", Tone::kQuiet);
  std::string text = page.Take();
  // A part without content leaves no blank lines.
  while (text == "\n" || text.ends_with("\n\n")) text.pop_back();
  return text;
}

absl::Status WriteConsole(const v1::RunReport& report, const ConsoleStyle& style, std::ostream& out) {
  out << ConsoleHeader(report, style) << ConsoleFooter(report, style);
  const Pages pages = PagesFor(report.run().plan());
  for (const auto& phase : report.phases()) out << ConsolePhase(report, phase, style, pages);
  out.flush();
  return out.good() ? absl::OkStatus() : absl::DataLossError("the report could not be printed");
}

}  // namespace iobench
