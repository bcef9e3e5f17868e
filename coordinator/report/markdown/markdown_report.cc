#include "coordinator/report/markdown/markdown_report.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "coordinator/report/markdown/markdown_text.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

using Align = MarkdownTable::Align;

constexpr int kMaxErrors = 20;

bool HasUnsurePercentile(const v1::RunReport& report) {
  return std::any_of(report.phases().begin(), report.phases().end(),
                     [](const v1::PhaseReport& phase) { return !phase.latency_us().unsure().empty(); });
}

std::string CellInMarkdown(const TableColumn& column, const TableCell& cell) {
  const bool is_text = cell.is == TableCell::Is::kText;
  const std::string text = is_text ? MarkdownText(cell.text) : CellText(column, cell);
  return cell.strong && !text.empty() ? absl::StrCat("**", text, "**") : text;
}

// Writes parts[first] and those after it, up to `end`, as one table.
void WriteParts(const Table& table, size_t first, size_t end, std::ostream& out) {
  std::vector<MarkdownTable::Column> columns;
  if (table.joined) columns.push_back({table.parts_are, Align::kLeft});
  std::vector<size_t> shown;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (column.readers == Readers::kMachines || column.readers == Readers::kNotDocuments) continue;
    if (column.unit == TableUnit::kRateUnit) continue;  // each cell has its own
    shown.push_back(i);
    const bool is_named = i == 0 && !table.joined && !table.parts_are.empty();
    columns.push_back({MarkdownText(is_named ? table.parts[first].name : column.title),
                       column.left ? Align::kLeft : Align::kRight});
  }
  MarkdownTable text(std::move(columns));
  for (size_t at = first; at < end; ++at) {
    const TablePart& part = table.parts[at];
    for (const std::vector<TableRow>* const rows : {&part.rows, &part.totals}) {
      for (const TableRow& row : *rows) {
        std::vector<std::string> cells;
        if (table.joined) cells.push_back(MarkdownText(part.name));
        for (const size_t i : shown) cells.push_back(CellInMarkdown(table.columns[i], row[i]));
        text.AddRow(std::move(cells));
      }
    }
  }
  text.Write(out);
  bool any = false;
  for (size_t at = first; at < end; ++at) {
    for (const TableNote& note : table.parts[at].notes) {
      if (note.console_only) continue;
      out << "- " << MarkdownText(note.label) << ": " << MarkdownText(note.text) << "\n";
      any = true;
    }
  }
  if (any) out << "\n";
}

}  // namespace

void ChapterWriter::Write(const TableSource& source) {
  if (!source.IsIn("Markdown")) return;
  const Table table = TableOf(source, report_);
  if (table.empty()) return;
  const std::string_view intro = source.intro;
  if (chapter_ != source.chapter) out_ << "## " << source.chapter << (intro.empty() ? "\n" : "\n\n");
  chapter_ = source.chapter;
  if (!intro.empty()) out_ << intro << "\n";
  if (table.columns.empty()) out_ << "\n";
  if (table.joined) {
    WriteParts(table, 0, table.parts.size(), out_);
  } else {
    for (size_t i = 0; i < table.parts.size(); ++i) WriteParts(table, i, i + 1, out_);
  }
}

void WriteEnvironment(const v1::RunReport& report, std::ostream& out) {
  const v1::RunInfo& run = report.run();
  out << "## Environment\n\n"
      << Counted(report.clients_size(), "client") << " with " << Counted(run.worker_count(), "worker")
      << " and " << Counted(run.lane_count(), "lane") << " (I/O threads), joined by "
      << MarkdownText(run.transport());
  if (!run.coordinator_host().empty())
    out << "; the coordinator ran on " << MarkdownText(run.coordinator_host());
  out << ".\n";
}

void WriteNotes(const v1::RunReport& report, std::ostream& out) {
  for (const std::string& note : report.notes()) out << "- " << MarkdownText(note) << "\n";
  if (!report.notes().empty()) out << "\n";
}

void WriteLegend(const v1::RunReport& report, std::ostream& out) {
  if (report.phases().empty()) out << "## Figures\n\nNo phase was measured.\n\n";
  if (HasUnsurePercentile(report)) out << "`~`: fewer than 100 ops lie beyond that percentile.\n\n";
}

void WriteErrors(const v1::RunReport& report, std::ostream& out) {
  std::vector<std::string> lines;
  for (const v1::ErrorReport& problem : report.run().problems())
    lines.push_back(MarkdownText(ErrorText(problem)));
  for (const v1::PhaseReport& phase : report.phases()) {
    const std::string name = absl::StrCat("**", MarkdownText(PhaseTitle(report, phase)), "**");
    if (!phase.not_whole().empty())
      lines.push_back(absl::StrCat(name, ": not whole: ", MarkdownText(phase.not_whole())));
    for (const std::string& text : ErrorTexts(phase.errors(), kMaxErrors)) {
      lines.push_back(absl::StrCat(name, ": ", MarkdownText(text)));
    }
  }
  if (lines.empty()) return;
  out << "## Errors\n\nThe totals exclude what failed.\n\n";
  for (const std::string& line : lines) out << "- " << line << "\n";
  out << "\n";
}

}  // namespace iobench
