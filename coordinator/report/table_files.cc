#include "coordinator/report/table_files.h"

#include <cerrno>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/files/files.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/tables/table_csv.h"
#include "coordinator/report/tables/table_list.h"

namespace iobench {
namespace {

std::string TableFileName(const TableSource& source) {
  return absl::StrCat("tables/", source.id, ".csv");
}

}  // namespace

std::vector<std::string> TablePaths(const std::string& directory) {
  std::vector<std::string> paths;
  for (const TableSource& source : TableSources()) {
    if (source.IsIn("CSV")) paths.push_back(absl::StrCat(directory, "/", TableFileName(source)));
  }
  paths.push_back(absl::StrCat(directory, "/tables"));
  return paths;
}

absl::Status ForEachTableFile(const v1::RunReport& report,
                              absl::FunctionRef<absl::Status(const std::string& name, const Table& table)> use) {
  for (const TableSource& source : TableSources()) {
    if (!source.IsIn("CSV")) continue;
    const Table table = TableOf(source, report);
    if (!table.empty()) IOBENCH_RETURN_IF_ERROR(use(TableFileName(source), table));
  }
  return absl::OkStatus();
}

absl::Status WriteTableFiles(const v1::RunReport& report, const std::string& directory) {
  std::vector<std::string> left = TablePaths(directory);
  const std::string place = left.back();
  left.pop_back();
  IOBENCH_RETURN_IF_ERROR(files::MakeDirectories(place));
  IOBENCH_RETURN_IF_ERROR(ForEachTableFile(report, [&](const std::string& name, const Table& table) {
    const std::string path = absl::StrCat(directory, "/", name);
    std::erase(left, path);
    return WriteFileAtomically(path, [&](std::ostream& out) {
      PrintTableCsv(table, out);
      return absl::OkStatus();
    });
  }));
  for (const std::string& path : left) {
    if (files::Remove(path) != 0 && errno != ENOENT) return ErrnoStatus(absl::StrCat("remove ", path), errno);
  }
  return absl::OkStatus();
}

}  // namespace iobench
