// Every table of a report. A new group of figures is a row of this list and a function that fills its table; console,
// Markdown, CSV, page and workbook then have it.
#ifndef COORDINATOR_REPORT_TABLES_TABLE_LIST_H_
#define COORDINATOR_REPORT_TABLES_TABLE_LIST_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/report/tables/table.h"

namespace iobench {

struct TableSource {
  const char* id;       // stable: the name of its CSV file, "soak-trends"
  const char* shows;    // the fields of RunReport that it shows: "soak.trends", "phases.parts"
  const char* chapter;  // the heading in documents; tables in succession share it
  const char* intro;    // what the table shows, in one or two sentences
  // Exactly one is there. of_phase: what a phase adds, so that the console can show a phase by itself.
  Table (*of_run)(const v1::RunReport& report) = nullptr;
  Table (*of_phase)(const v1::RunReport& report, const v1::PhaseReport& phase) = nullptr;
  // The line above the table on the console, where it follows the phases. nullptr: not_in says where it is.
  const char* console_heading = nullptr;
  // Formats that have the same in another form, and which: "CSV: phases.csv". Separated by ";".
  const char* not_in = "";

  // "Console", "Markdown", "CSV", "page" or "workbook".
  bool IsIn(std::string_view format) const;
};

// In the order of documents.
std::span<const TableSource> TableSources();
// REQUIRES: there is one.
const TableSource& TableSourceNamed(std::string_view id);

// The table; empty if the report has nothing for it.
Table TableOf(const TableSource& source, const v1::RunReport& report);

struct NamedTable {
  const TableSource* source;
  Table table;
};
// The tables of a report that this format has and that are not empty.
std::vector<NamedTable> TablesOf(const v1::RunReport& report, std::string_view format);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TABLES_TABLE_LIST_H_
