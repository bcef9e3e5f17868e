#include "coordinator/report/markdown/markdown_writer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/markdown/markdown_report.h"
#include "coordinator/report/markdown/markdown_text.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/criterion_text.h"

namespace iobench {
namespace {

void WriteTitle(const v1::RunReport& report, std::ostream& out) {
  const v1::RunInfo& run = report.run();
  out << "# "
      << (run.label().empty() ? absl::StrCat("Run ", MarkdownText(run.id())) : MarkdownText(run.label()))
      << "\n\nThroughput test with cluster-iobench " << MarkdownText(run.program_version()) << ", run "
      << MarkdownText(run.id()) << ", started at " << MarkdownText(run.started_at()) << " (UTC).\n\n";
}

void WriteVerdict(const v1::RunReport& report, std::ostream& out) {
  const v1::RunInfo& run = report.run();
  out << "## Verdict\n\n**"
      << (report.criteria().empty()
              ? "Not judged: no criteria were stated before the run, so this document only reports figures."
              : RunVerdictText(report))
      << "**\n\n";
  if (!run.finished()) out << "The run did not finish; the figures were measured before it ended.\n\n";
  const auto marked = std::count_if(report.phases().begin(), report.phases().end(),
                                    [](const v1::PhaseReport& phase) { return !MarksOf(phase).empty(); });
  if (marked > 0) {
    out << marked << " of " << Counted(report.phases_size(), "phase") << (marked == 1 ? " has" : " have")
        << " marks: [read what they mean](#marks) before using the figures.\n\n";
  } else if (!report.phases().empty()) {
    out << "No phase has a mark: nothing was found that puts its figures in doubt.\n\n";
  }
}

void WriteRepeating(const v1::RunReport& report, std::ostream& out) {
  const v1::RunInfo& run = report.run();
  out << "## How to repeat it\n\nThe command, as it was typed:\n\n" << CodeBlock(run.command()) << "\n";
  out << "The seed " << run.plan().seed()
      << " gives the same data and random orders (`--seed`). `result.json` holds the complete plan with all defaults, "
         "`raw/` the measured data from which every figure of this document was computed. To check that none of them "
         "has changed since, run this on the directory with the results:\n\n"
      << CodeBlock("cluster-iobench report DIR --verify") << "\n";
}

}  // namespace

absl::Status WriteMarkdown(const v1::RunReport& report, std::ostream& out) {
  WriteTitle(report, out);
  WriteVerdict(report, out);
  ChapterWriter chapters(report, out);
  for (const TableSource& source : TableSources()) {
    const std::string_view id = source.id;
    if (id == "clients") {
      WriteEnvironment(report, out);
      chapters.HasHeading("Environment");
    }
    if (id == "phases") WriteNotes(report, out);
    if (id == "each-path") WriteLegend(report, out);
    if (id == "files") {
      WriteErrors(report, out);
      WriteRepeating(report, out);
    }
    chapters.Write(source);
  }
  out << "The definition of each figure is in `docs/definitions.md` of the program, that of each mark in `docs/marks.md`, "
         "that of each term in `docs/glossary.md`.\n";
  return Flush(out, "Markdown");
}

}  // namespace iobench
