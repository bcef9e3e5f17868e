// A table as CSV: one line per row, exact numbers, RFC 4180.
#ifndef COORDINATOR_REPORT_TABLES_TABLE_CSV_H_
#define COORDINATOR_REPORT_TABLES_TABLE_CSV_H_

#include <ostream>

#include "coordinator/report/tables/table.h"

namespace iobench {

// A number that is unknown is an empty cell.
void PrintTableCsv(const Table& table, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TABLES_TABLE_CSV_H_
