// Draws the tables of the report (coordinator/report/tables) on the console.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_TABLE_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_TABLE_H_

#include <string_view>

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Adds what a phase has for the table with this id (table_list.h); nothing if it has nothing.
void PrintTableOfPhase(std::string_view id, const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page);

// Adds the table of the run with this id; nothing if it has nothing.
void PrintTableOfRun(std::string_view id, const v1::RunReport& report, ConsolePage& page);

// Adds the tables of the whole run, each under its heading, the criteria last. Repetitions are in the summary.
void PrintTablesOfRun(const v1::RunReport& report, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_TABLE_H_
