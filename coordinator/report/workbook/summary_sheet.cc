#include "absl/strings/str_cat.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/criterion_text.h"
#include "coordinator/report/workbook/sheets.h"
#include "coordinator/report/workbook/table_sheets.h"

namespace iobench {
namespace {

// What a reader must know before any figure.
std::string EndOf(const v1::RunReport& report) {
  const v1::RunInfo& run = report.run();
  std::string text = !run.finished()        ? "The run did not finish."
                     : run.exit_code() == 0 ? "The run ended as planned."
                                            : absl::StrCat("The run ended with exit code ", run.exit_code(), ".");
  const std::string verdict = RunVerdictText(report);
  if (!verdict.empty()) absl::StrAppend(&text, " ", verdict);
  if (report.has_score() && !report.score().valid()) absl::StrAppend(&text, " The score is INVALID.");
  if (report.phases().empty()) absl::StrAppend(&text, " No phase has ended.");
  return text;
}

}  // namespace

void AddSummarySheet(const v1::RunReport& report, Book& book) {
  Sheet sheet(book, book.NextName("summary"));
  SetTableWidths(20, sheet);
  const v1::RunInfo& run = report.run();
  sheet.Title(run.label().empty() ? absl::StrCat("cluster-iobench run ", run.id()) : run.label());
  sheet.Note(EndOf(report));
  if (!report.phases().empty()) PrintTable(TableOf(TableSourceNamed("phases"), report), book, sheet, Headed::kYes);
  if (report.phases_size() > kMaxPhaseSheets) {
    sheet.Note(absl::StrCat("Only the first ", kMaxPhaseSheets, " of ", report.phases_size(),
                            " phases have sheets of their own; result.csv has them all."));
  }
  const Table marks = TableOf(TableSourceNamed("marks"), report);
  if (!marks.empty()) {
    sheet.NextRow();  // what each mark means, where the reader has just seen its code
    PrintTable(marks, book, sheet);
  }
  sheet.NextRow();
  sheet.Fact("run", run.id());
  sheet.TimeFact("started", run.started_at());
  sheet.Fact("command", run.command());
  sheet.Fact("clients", report.clients_size(), "");
  sheet.Fact("workers", run.worker_count(), "");
  sheet.Fact("lanes", run.lane_count(), "");
  for (const v1::ErrorReport& problem : run.problems()) sheet.Fact("problem", ErrorText(problem));
  if (report.has_score()) {
    sheet.Fact("score", report.score().value(), report.score().valid() ? "" : "INVALID");
    for (const std::string& problem : report.score().problems()) sheet.Fact("score INVALID", problem);
  }
  for (const v1::CriterionReport& criterion : report.criteria()) {
    sheet.Fact("criterion", absl::StrCat(criterion.criterion(), ": ", VerdictText(criterion)));
  }
}

}  // namespace iobench
