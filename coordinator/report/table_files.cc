#include "coordinator/report/table_files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/tables/table_csv.h"
#include "coordinator/report/tables/table_list.h"

namespace iobench {
namespace {

std::string TablePath(const std::string& directory, const TableSource& source) {
  return absl::StrCat(directory, "/tables/", source.id, ".csv");
}

}  // namespace

std::vector<std::string> TablePaths(const std::string& directory) {
  std::vector<std::string> paths;
  for (const TableSource& source : TableSources()) {
    if (source.IsIn("CSV")) paths.push_back(TablePath(directory, source));
  }
  paths.push_back(absl::StrCat(directory, "/tables"));
  return paths;
}

absl::Status WriteTableFiles(const v1::RunReport& report, const std::string& directory) {
  const std::string place = TablePaths(directory).back();
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error) return ErrnoStatus(absl::StrCat("create directory ", place), error.value());
  for (const TableSource& source : TableSources()) {
    if (!source.IsIn("CSV")) continue;
    const std::string path = TablePath(directory, source);
    const Table table = TableOf(source, report);
    if (table.empty()) {
      if (::remove(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(absl::StrCat("remove ", path), errno);
      continue;
    }
    IOBENCH_RETURN_IF_ERROR(WriteFileAtomically(path, [&](std::ostream& out) {
      PrintTableCsv(table, out);
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

}  // namespace iobench
