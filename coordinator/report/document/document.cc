#include "coordinator/report/document/document.h"

#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "coordinator/options/format_names.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/bonnie/bonnie_report.h"
#include "coordinator/report/fio/fio_json.h"
#include "coordinator/report/hlog/hlog_writer.h"
#include "coordinator/report/ior/ior_report.h"
#include "coordinator/report/iozone/iozone_report.h"
#include "coordinator/report/junit/criteria_junit.h"
#include "coordinator/report/markdown/markdown_writer.h"
#include "coordinator/report/openmetrics/openmetrics_writer.h"
#include "coordinator/report/page/page_writer.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/sqlite/sqlite_writer.h"
#include "coordinator/report/timeline/timeline_writer.h"
#include "coordinator/report/workbook/workbook_writer.h"

namespace iobench {
namespace {

template <const ReportFormat& format>
absl::Status WriteWhole(const v1::RunReport& report, std::ostream& out) {
  return WriteReport(format, report, out);
}

constexpr Document kDocuments[] = {
    {.name = "json",
     .file_name = kResultJson,
     .holds = "every figure, for programs",
     .write = WriteWhole<kJsonFormat>},
    {.name = "csv",
     .file_name = kPhasesCsv,
     .holds = "one row per phase",
     .write = WriteWhole<kPhasesCsvFormat>},
    {.name = "clients-csv",
     .file_name = kClientsCsv,
     .holds = "one row per phase and client",
     .write = WriteWhole<kClientsCsvFormat>},
    {.name = "lanes-csv",
     .file_name = kResultCsv,
     .holds = "one row per phase, client and lane",
     .write = WriteWhole<kLanesCsvFormat>},
    {.name = "timeline-csv",
     .file_name = "timeline.csv",
     .holds = "throughput over time: one row per phase, client and slice",
     .shows_charts = true,
     .write = WriteTimelineCsv},
    {.name = "openmetrics",
     .file_name = "metrics.txt",
     .holds = "figures of each phase and client as OpenMetrics text, for Prometheus and others",
     .write = WriteOpenMetrics},
    {.name = "hlog",
     .file_name = "latency.hlog",
     .holds = "latencies of each phase as an HdrHistogram log",
     .shows_charts = true,
     .write = WriteHlog},
    {.name = "workbook",
     .file_name = "report.xlsx",
     .holds = "a workbook for spreadsheet programs, with charts",
     .content = Document::Content::kBinary,
     .is_built = WorkbookIsBuilt,
     .write = WriteWorkbook},
    {.name = "iozone",
     .file_name = "report.iozone.txt",
     .holds = "IOzone's text: banner, table or throughput lines",
     .write = WriteIozoneReport},
    {.name = "html",
     .file_name = "report.html",
     .holds = "charts and tables of every figure, for a browser",
     .content = Document::Content::kBinary,  // text, but not readable on a terminal
     .written = kHasPage ? Document::Written::kAtEndOfRun : Document::Written::kOnRequest,
     .shows_charts = true,
     .is_ours = IsOurPage,
     .write = WritePage},
    {.name = "bonnie",
     .file_name = "report.bonnie.txt",
     .holds = "Bonnie++ 2.00a's text",
     .shows_some = true,
     .write = WriteBonnieText},
    {.name = "bonnie-csv",
     .file_name = "bonnie.csv",
     .holds = "Bonnie++ 2.00a's CSV, for bon_csv2html and bon_csv2txt",
     .shows_some = true,
     .write = WriteBonnieCsv},
    {.name = "bonnie-csv-1.96",
     .file_name = "bonnie-1.96.csv",
     .holds = "Bonnie++ 1.96's CSV",
     .shows_some = true,
     .write = WriteBonnieCsv196},
    {.name = "markdown",
     .file_name = "report.md",
     .holds = "a document to hand over: verdict, criteria, environment, figures, marks, hashes",
     .write = WriteMarkdown},
    {.name = "sqlite",
     .file_name = "report.sqlite",
     .holds = "an SQLite database: phases, clients, lanes, timeline and all other tables",
     .content = Document::Content::kBinary,
     .shows_charts = true,
     .is_built = SqliteIsBuilt,
     .write = WriteSqlite},
    {.name = "junit",
     .file_name = "criteria.junit.xml",
     .holds = "JUnit XML: the run and each criterion of `--require` as a test case, for CI servers",
     .write = WriteCriteriaJunit},
    {.name = "bonnie-1",
     .file_name = "report.bonnie-1.txt",
     .holds = "the table of the first Bonnie",
     .shows_some = true,
     .write = WriteBonnie1Text},
    {.name = "fio-json",
     .file_name = "report.fio.json",
     .holds = "fio's JSON, of what fio-plot and notebooks read",
     .shows_charts = true,
     .shows_some = true,
     .write = WriteFioJson},
    {.name = "ior",
     .file_name = "report.ior.txt",
     .holds = "IOR 4.0's text: a row per repetition, and the summary",
     .shows_some = true,
     .write = WriteIorText},
    {.name = "mdtest",
     .file_name = "report.mdtest.txt",
     .holds = "mdtest 3.3's text: the summary of the rates",
     .shows_some = true,
     .write = WriteMdtestText},
};

constexpr bool EveryNameHasARow() {
  if (std::size(kFormatNames) != std::size(kDocuments)) return false;
  for (size_t i = 0; i < std::size(kDocuments); ++i) {
    if (kFormatNames[i] != std::string_view(kDocuments[i].name)) return false;
  }
  return true;
}
static_assert(EveryNameHasARow(),
              "list the format in coordinator/options/format_names.h too, in the same order");

}  // namespace

std::span<const Document> Documents() {
  return kDocuments;
}

absl::StatusOr<const Document*> DocumentNamed(std::string_view name) {
  for (const Document& document : Documents()) {
    if (name == document.name) return &document;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no report format \"", std::string(name), "\": use ", DocumentNames(", ")));
}

std::string DocumentNames(const char* separator) {
  std::vector<std::string> names;
  for (const Document& document : Documents()) names.push_back(document.name);
  return absl::StrJoin(names, separator);
}

absl::Status SaveDocument(const Document& document, const v1::RunReport& report, const std::string& path,
                          bool replace) {
  IOBENCH_RETURN_IF_ERROR(CheckOutputFile(path, replace));
  return WriteFileAtomically(path, [&](std::ostream& out) { return document.write(report, out); });
}

}  // namespace iobench
