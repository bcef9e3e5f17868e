// Flushes a report's output and checks for errors.
#ifndef COORDINATOR_REPORT_FLUSH_REPORT_H_
#define COORDINATOR_REPORT_FLUSH_REPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace iobench {

// DataLoss: not everything was written, for example because the disk is full. `format`: such as "JSON".
inline absl::Status Flush(std::ostream& out, const std::string& format) {
  out.flush();
  return out.good() ? absl::OkStatus()
                    : absl::DataLossError(absl::StrCat("the ", format, " report could not be written"));
}

}  // namespace iobench

#endif  // COORDINATOR_REPORT_FLUSH_REPORT_H_
