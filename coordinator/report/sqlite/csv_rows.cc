#include "coordinator/report/sqlite/csv_rows.h"

#include <vector>

#include "common/status_util.h"

namespace iobench {

absl::Status ForEachCsvRow(std::string_view csv,
                           absl::FunctionRef<absl::Status(std::span<const std::string> cells)> use) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (c == '"') {
      const bool is_doubled = quoted && i + 1 < csv.size() && csv[i + 1] == '"';
      if (is_doubled) {
        cells.back() += csv[++i];
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && c == ',') {
      cells.emplace_back();
    } else if (!quoted && c == '\n') {
      IOBENCH_RETURN_IF_ERROR(use(cells));
      cells.assign(1, std::string());
    } else {
      cells.back() += c;
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
