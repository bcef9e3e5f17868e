// tables/ID.csv of a result directory: a file for each table of the report (coordinator/report/tables) that is not empty.
#ifndef COORDINATOR_REPORT_TABLE_FILES_H_
#define COORDINATOR_REPORT_TABLE_FILES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordinator/report/tables/table.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Where the file of each table would be, and the directory that holds them, which comes last.
std::vector<std::string> TablePaths(const std::string& directory);

// Calls `use` with the name ("tables/layers.csv") and the table of each file that the report has, one after the other, since
// all together can be large. Returns the first error of `use`.
absl::Status ForEachTableFile(const v1::RunReport& report,
                              absl::FunctionRef<absl::Status(const std::string& name, const Table& table)> use);

// Writes the files, and removes those of tables that the report does not have.
absl::Status WriteTableFiles(const v1::RunReport& report, const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TABLE_FILES_H_
