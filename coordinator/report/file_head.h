// The beginning of a file, which tells whether this program wrote it.
#ifndef COORDINATOR_REPORT_FILE_HEAD_H_
#define COORDINATOR_REPORT_FILE_HEAD_H_

#include <optional>
#include <string>

namespace iobench {

// Returns the first ReportFormat::kHeadBytes of the file, or all of a shorter one. nullopt: it cannot be read, or is no
// regular file (for example a FIFO, which is never waited for). Symbolic links are followed.
std::optional<std::string> FileHead(const std::string& path);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_FILE_HEAD_H_
