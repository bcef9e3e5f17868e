// The tables of the report (coordinator/report/tables) in the workbook.
#ifndef COORDINATOR_REPORT_WORKBOOK_TABLE_SHEETS_H_
#define COORDINATOR_REPORT_WORKBOOK_TABLE_SHEETS_H_

#include "coordinator/report/tables/table_list.h"
#include "coordinator/report/workbook/book.h"
#include "coordinator/report/workbook/sheets.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Adds titles and rows from the current row on, and says how many rows there are if these are too many. Rates of data are
// in MiB/s. The first table of a sheet can be filtered; `headed` keeps its titles, and what is above them, in view.
enum class Headed { kNo, kYes };
void PrintTable(const Table& table, const Book& book, Sheet& sheet, Headed headed = Headed::kNo,
                int most_rows = kMaxClientRows);
// Makes the first column wide enough for names, and those after it for numbers.
void SetTableWidths(size_t columns, const Sheet& sheet);
// Adds a sheet for each table that has no other place in the workbook, named like its CSV file; tables of one chapter share
// a sheet, which is named like the chapter.
void AddTableSheets(const v1::RunReport& report, Book& book);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_WORKBOOK_TABLE_SHEETS_H_
