#include "coordinator/report/iozone/iozone_report.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/iozone/iozone_banner.h"
#include "coordinator/report/iozone/iozone_figures.h"
#include "coordinator/report/iozone/iozone_table.h"
#include "coordinator/report/iozone/iozone_throughput.h"

namespace iobench {
namespace {

std::string TablesText(const v1::RunReport& report) {
  std::string text;
  for (const IozoneTable& table : IozoneTablesOf(report)) {
    text += TableTitle(report, table);
    if (!table.rows.empty()) text += TableText(report, table);
    for (const v1::PhaseReport* const phase : table.others) text += ThroughputText(report, *phase);
  }
  return text;
}

std::string AllExcelText(const v1::RunReport& report) {
  if (!HasTable(report)) return ThroughputExcelText(report);
  const v1::IozoneOutput& output = report.run().iozone();
  std::string text = output.excel() ? "\nExcel output is below:\n" : "";
  for (const IozoneTable& table : IozoneTablesOf(report)) {
    absl::StrAppend(&text, TableTitle(report, table), "\n", output.excel() ? ExcelText(report, table) : "",
                    output.cpu() ? CpuExcelText(table) : "");
  }
  return text;
}

std::string BannerAndFigures(const v1::RunReport& report) {
  const bool has_table = HasTable(report);
  std::string text =
      absl::StrCat(IozoneBanner(report), has_table ? TablesText(report) : ThroughputsText(report));
  if (!has_table && report.run().transport() != "local" && !report.run().plan().keep_data())
    text += "\n\tTest cleanup:\n";
  if (!has_table) text += "\n\n";
  const v1::IozoneOutput& output = report.run().iozone();
  // With a table, the CPU utilization has no other place than these blocks.
  if (output.excel() || (output.cpu() && has_table)) text += AllExcelText(report);
  return text;
}

std::string ClosingLine(const v1::RunReport& report) {
  const v1::RunInfo& run = report.run();
  if (run.finished() && run.exit_code() == 0) return "\niozone test complete.\n";
  return absl::StrCat("\niozone test NOT complete: ",
                      run.finished() ? absl::StrCat("exit code ", run.exit_code()) : "the run has not ended",
                      ".\n");
}

}  // namespace

std::string IozoneDoubts(const v1::RunReport& report) {
  struct Marked {
    int phases = 0;
    std::string example;
  };
  std::map<std::string, Marked> marked;
  std::string text;
  const auto add_error = [&text](const std::string& where, const std::string& message) {
    absl::StrAppend(&text, "\tError: ", Printable(where), where.empty() ? "" : ": ", Printable(message),
                    "\n");
  };
  for (const v1::ErrorReport& problem : report.run().problems())
    add_error(problem.client(), problem.message());
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const v1::ErrorReport& error : phase.errors()) {
      add_error(absl::StrCat(phase.name(), " on ", error.client()), error.message());
    }
    std::map<std::string, std::string> of_phase;
    for (const v1::Mark& mark : phase.marks()) of_phase.emplace(mark.code(), mark.text());
    for (const v1::ClientPhaseReport& client : phase.clients()) {
      for (const v1::Mark& mark : client.marks()) of_phase.emplace(mark.code(), mark.text());
    }
    for (auto& [code, example] : of_phase) {
      Marked& mark = marked[code];
      if (mark.phases++ == 0) mark.example = example;
    }
  }
  for (const auto& [code, mark] : marked) {
    absl::StrAppend(&text, "\tMark ", code, " in ", mark.phases,
                    mark.phases == 1 ? " phase: " : " phases, first: ", Printable(mark.example), "\n");
  }
  return text.empty() ? "" : absl::StrCat("\n", text);
}

absl::Status WriteIozoneReport(const v1::RunReport& report, std::ostream& out) {
  out << BannerAndFigures(report) << IozoneDoubts(report) << ClosingLine(report);
  return Flush(out, "IOzone");
}

absl::Status WriteIozoneFigures(const v1::RunReport& report, std::ostream& out) {
  out << BannerAndFigures(report) << ClosingLine(report);
  return Flush(out, "IOzone");
}

absl::Status WriteIozoneExcel(const v1::RunReport& report, std::ostream& out) {
  out << AllExcelText(report);
  return Flush(out, "IOzone");
}

}  // namespace iobench
