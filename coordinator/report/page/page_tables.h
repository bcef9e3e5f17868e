// The tables of the report (coordinator/report/tables) as the page's program reads them (web/src/tables.js).
#ifndef COORDINATOR_REPORT_PAGE_PAGE_TABLES_H_
#define COORDINATOR_REPORT_PAGE_PAGE_TABLES_H_

#include "iobench/v1/result.pb.h"
#include "nlohmann/json.hpp"

namespace iobench {

// A list of {id, title, intro, columns: [{title, unit, range, machines}], joined, parts: [{name, phase, rows,
// totals, notes: [[label, text]]}]}. A cell is a text ("": nothing), a number (null: unknown), or {value} with more: "to",
// "ops" (a rate in ops/s), "unsure", "strong".
nlohmann::json PageTables(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PAGE_PAGE_TABLES_H_
