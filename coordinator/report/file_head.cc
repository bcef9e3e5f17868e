#include "coordinator/report/file_head.h"

#include "coordinator/files/files.h"
#include "coordinator/report/report_format.h"

namespace iobench {

std::optional<std::string> FileHead(const std::string& path) {
  return files::Head(path, ReportFormat::kHeadBytes);
}

}  // namespace iobench
