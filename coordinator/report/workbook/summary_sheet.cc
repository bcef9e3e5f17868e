#include "absl/strings/str_cat.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/workbook/sheets.h"

namespace iobench {
namespace {

struct SummaryRow {
  const v1::RunReport& report;
  const v1::PhaseReport& phase;
};

std::string MarkCodes(const v1::PhaseReport& phase) {
  std::string codes;
  for (const GroupedMark& mark : MarksOf(phase)) {
    // Grouped by code and text: one code may come with several texts.
    if (absl::StrCat(" ", codes, " ").find(absl::StrCat(" ", mark.code, " ")) != std::string::npos) continue;
    absl::StrAppend(&codes, codes.empty() ? "" : " ", mark.code);
  }
  return codes;
}

constexpr SheetColumn<SummaryRow> kSummaryColumns[] = {
    {"phase", 14,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) { sheet.Whole(column, row.phase.index()); }},
    {"name", 26,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Text(column, PhaseNameAlone(row.report, row.phase));
     }},
    {"headline", 17,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Whole(column, HeadlineRate(row.phase));
     }},
    {"unit", 9,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Text(column, row.phase.headline_in_ops() ? "ops/s" : "bytes/s");
     }},
    {"rounded", 14,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Text(column, RateText(row.phase.headline_in_ops(), row.phase.headline().bytes_per_s(),
                                   row.phase.headline().ops_per_s()));
     }},
    {"marks", 26,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) { sheet.Text(column, MarkCodes(row.phase)); }},
    {"limited by", 24,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Text(column, row.phase.limited_by());
     }},
    {"ops/s", 13,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Whole(column, row.phase.headline().ops_per_s());
     }},
    {"window", 12,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Text(column, row.phase.headline().name());
     }},
    {"timed region", 15,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Text(column, row.phase.headline().region());
     }},
    {"duration (s)", 11,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Decimal(column, row.phase.duration_s());
     }},
    {"p50 (us)", 11,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       if (row.phase.has_latency_us()) sheet.Decimal(column, row.phase.latency_us().p50());
     }},
    {"p99 (us)", 11,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       if (row.phase.has_latency_us()) sheet.Decimal(column, row.phase.latency_us().p99());
     }},
    {"max (us)", 11,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       if (row.phase.has_latency_us()) sheet.Decimal(column, row.phase.latency_us().max());
     }},
    {"operation", 16,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) { sheet.Text(column, row.phase.operation()); }},
    {"record (bytes)", 12,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Whole(column, row.phase.record_bytes());
     }},
    {"per lane (bytes)", 15,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       if (!row.phase.metadata()) sheet.Whole(column, row.phase.bytes_per_lane());
     }},
    {"lanes", 8,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Whole(column, row.phase.lane_count());
     }},
    {"clients", 8,
     [](Sheet& sheet, uint16_t column, const SummaryRow& row) {
       sheet.Whole(column, row.phase.clients_size());
     }},
};

// What each mark means, where the reader has just seen its code.
void PrintMarks(const v1::RunReport& report, const Book& book, Sheet& sheet) {
  bool any = false;
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const GroupedMark& mark : MarksOf(phase)) {
      if (!any) {
        sheet.NextRow();
        sheet.Text(0, "phase", book.formats().header);
        sheet.Text(1, "mark", book.formats().header);
        sheet.Text(2, "meaning", book.formats().header);
        sheet.NextRow();
        any = true;
      }
      sheet.Whole(0, phase.index());
      sheet.Text(1, mark.code);
      std::string who;
      for (size_t i = 0; i < mark.subjects.size() && i < 5; ++i)
        absl::StrAppend(&who, i == 0 ? "" : ", ", mark.subjects[i]);
      if (mark.subjects.size() > 5) absl::StrAppend(&who, " and ", mark.subjects.size() - 5, " more");
      sheet.Text(2, absl::StrCat(who, who.empty() ? "" : ": ", mark.text));
      sheet.NextRow();
    }
  }
}

}  // namespace

void AddSummarySheet(const v1::RunReport& report, Book& book) {
  Sheet sheet(book, book.NextName("summary"));
  SetWidths(sheet, kSummaryColumns);
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
  PrintTitles(sheet, kSummaryColumns, book.formats().header);
  for (const v1::PhaseReport& phase : report.phases())
    WriteRow(sheet, kSummaryColumns, SummaryRow{report, phase});
  if (report.phases().empty()) sheet.Note("no phase has ended");
  if (report.phases_size() > kMaxPhaseSheets) {
    sheet.Note(absl::StrCat("Only the first ", kMaxPhaseSheets, " of ", report.phases_size(),
                            " phases have sheets of their own; result.csv has them all."));
  }
  PrintMarks(report, book, sheet);
}

}  // namespace iobench
