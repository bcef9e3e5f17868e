// report.sqlite: all tables of a result in one database.
#ifndef COORDINATOR_REPORT_SQLITE_SQLITE_WRITER_H_
#define COORDINATOR_REPORT_SQLITE_SQLITE_WRITER_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// OK if this build can write databases; otherwise FailedPrecondition, which says how to get a build that can.
absl::Status SqliteIsBuilt();

// Writes an SQLite 3 database. Its tables `phases`, `clients`, `lanes` and `timeline` have the rows and columns of
// phases.csv, clients.csv, result.csv and timeline.csv; `report_ID` those of tables/ID.csv, with _ for -; `run` one row,
// and `columns` the unit and meaning of each column of the first four. What is unknown is NULL. Equal reports give equal
// files. DataLoss: not everything was written. FailedPrecondition: see SqliteIsBuilt.
absl::Status WriteSqlite(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_SQLITE_SQLITE_WRITER_H_
