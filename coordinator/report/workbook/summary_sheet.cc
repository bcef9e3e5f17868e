#include "absl/strings/str_cat.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/workbook/sheets.h"
#include "coordinator/report/workbook/table_sheets.h"

namespace iobench {

void AddSummarySheet(const v1::RunReport& report, Book& book) {
  Sheet sheet(book, book.NextName("summary"));
  SetTableWidths(20, sheet);
  const v1::RunInfo& run = report.run();
  sheet.Title(run.label().empty() ? absl::StrCat("cluster-iobench run ", run.id()) : run.label());
  sheet.Fact("run", run.id());
  sheet.Fact("started", run.started_at());
  sheet.Fact("command", run.command());
  sheet.Fact("clients", report.clients_size(), "");
  sheet.Fact("workers", run.worker_count(), "");
  sheet.Fact("lanes", run.lane_count(), "");
  sheet.Fact("ended", !run.finished()        ? "not finished"
                      : run.exit_code() == 0 ? "as planned"
                                             : absl::StrCat("with exit code ", run.exit_code()));
  for (const v1::ErrorReport& problem : run.problems()) sheet.Fact("problem", ErrorText(problem));
  if (report.has_score()) {
    sheet.Fact("score", report.score().value(), report.score().valid() ? "" : "INVALID");
    for (const std::string& problem : report.score().problems()) sheet.Fact("score INVALID", problem);
  }
  for (const v1::CriterionReport& criterion : report.criteria()) {
    sheet.Fact("criterion", absl::StrCat(criterion.criterion(), criterion.met() ? ": met" : ": not met"));
  }
  sheet.NextRow();
  if (!report.phases().empty()) PrintTable(TableOf(TableSourceNamed("phases"), report), book, sheet);
  if (report.phases().empty()) sheet.Note("no phase has ended");
  if (report.phases_size() > kMaxPhaseSheets) {
    sheet.Note(absl::StrCat("Only the first ", kMaxPhaseSheets, " of ", report.phases_size(),
                            " phases have sheets of their own; result.csv has them all."));
  }
  const Table marks = TableOf(TableSourceNamed("marks"), report);
  if (marks.empty()) return;
  sheet.NextRow();  // what each mark means, where the reader has just seen its code
  PrintTable(marks, book, sheet);
}

}  // namespace iobench
