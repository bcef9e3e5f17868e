// The sheets of the workbook, each a function that adds its own.
#ifndef COORDINATOR_REPORT_WORKBOOK_SHEETS_H_
#define COORDINATOR_REPORT_WORKBOOK_SHEETS_H_

#include "coordinator/report/workbook/book.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Sheets of more phases, and rows of more lanes or clients, are left out; the workbook says so where it happens.
inline constexpr int kMaxPhaseSheets = 100;
inline constexpr int kMaxLaneRows = 1000;
inline constexpr int kMaxClientRows = 10000;

// "summary" (summary_sheet.cc): what the run was, and one row per phase with its headline and marks.
void AddSummarySheet(const v1::RunReport& report, Book& book);
// "surface …" (surface_sheet.cc): one sheet per operation (and number of lanes) of a sweep over file or record sizes, in the layout of
// IOzone: file sizes by record sizes. None if the run has no such sweep.
void AddSurfaceSheets(const v1::RunReport& report, Book& book);
// "clients" (client_sheets.cc): facts of each client, and its rate in each phase.
void AddClientsSheet(const v1::RunReport& report, Book& book);
// One sheet per phase (phase_sheet.cc): its figures, its clients with a chart, its lanes.
void AddPhaseSheets(const v1::RunReport& report, Book& book);
// "facts" (client_sheets.cc): what is needed to judge and to repeat the run.
void AddFactsSheet(const v1::RunReport& report, Book& book);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_WORKBOOK_SHEETS_H_
