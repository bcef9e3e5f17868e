// Reads back what our CSV writers have written.
#ifndef COORDINATOR_REPORT_SQLITE_CSV_ROWS_H_
#define COORDINATOR_REPORT_SQLITE_CSV_ROWS_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace iobench {

// Calls `use` with the cells of each row of `csv` (RFC 4180 with line feeds, each row ended by one). Returns the first
// error of `use`.
absl::Status ForEachCsvRow(std::string_view csv,
                           absl::FunctionRef<absl::Status(std::span<const std::string> cells)> use);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_SQLITE_CSV_ROWS_H_
