#include "coordinator/report/capacity/saved_capacity.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/files/files.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/capacity/capacity_formats.h"
#include "coordinator/report/file_head.h"
#include "coordinator/report/raw_files.h"

namespace iobench {
namespace {

constexpr char kRawCapacityFile[] = "raw/capacity.pb";  // JSON has no NaN

std::string RawFileIn(const std::string& directory) {
  return absl::StrCat(directory, "/", kRawCapacityFile);
}

absl::Status SaveAs(const CapacityFormat& format, const v1::CapacityReport& report, const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", format.file_name);
  const std::optional<std::string> head = FileHead(path);
  if (format.is_ours != nullptr && files::Exists(path) && !(head.has_value() && format.is_ours(*head))) {
    return absl::AlreadyExistsError(
        absl::StrCat(path,
                     " is not a cluster-iobench report and is left alone: move it, then write the report with "
                     "`cluster-iobench report DIR --format ",
                     format.name, "`"));
  }
  const v1::CapacityReport* const one = &report;
  return WriteFileAtomically(path,
                             [&](std::ostream& out) { return format.write({one, 1}, ConsoleStyle(), out); });
}

}  // namespace

bool HasSavedCapacity(const std::string& directory) {
  return files::Exists(RawFileIn(directory));
}

absl::StatusOr<v1::CapacityReport> ReadSavedCapacity(const std::string& directory) {
  const std::string file = RawFileIn(directory);
  const auto bytes = files::ReadWhole("saved result", file, kLongestResultBytes);
  if (!bytes.ok()) {
    IOBENCH_RETURN_IF_ERROR(files::UnansweredCall(file, ErrnoOf(bytes.status())));
    return absl::NotFoundError(absl::StrCat(file, " cannot be read"));
  }
  v1::CapacityReport report;
  if (!report.ParseFromString(*bytes) || report.schema().empty())
    return absl::DataLossError(absl::StrCat(file, " is damaged"));
  return report;
}

absl::Status SaveCapacity(const v1::CapacityReport& report, const std::string& directory) {
  absl::Status saved = WriteFileAtomically(RawFileIn(directory), [&](std::ostream& out) {
    report.SerializeToOstream(&out);
    return absl::OkStatus();
  });
  for (const CapacityFormat& format : CapacityFormats()) {
    if (*format.file_name != '\0') saved.Update(SaveAs(format, report, directory));
  }
  return saved;
}

std::vector<std::string> CapacityFileNames() {
  std::vector<std::string> names;
  for (const CapacityFormat& format : CapacityFormats()) {
    if (*format.file_name != '\0') names.insert(names.begin(), format.file_name);
  }
  return names;
}

}  // namespace iobench
