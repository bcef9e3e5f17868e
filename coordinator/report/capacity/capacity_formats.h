// The formats in which a capacity measurement is written. They render finished messages and compute nothing.
#ifndef COORDINATOR_REPORT_CAPACITY_CAPACITY_FORMATS_H_
#define COORDINATOR_REPORT_CAPACITY_CAPACITY_FORMATS_H_

#include <ostream>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/report/console/console_report.h"
#include "iobench/v1/capacity.pb.h"

namespace iobench {

// `reports`: one, or several with different names, which are overlaid. `write` flushes `out`. DataLoss: not everything
// could be written. FailedPrecondition: this program was built without the format. `style` matters to text only.
struct CapacityFormat {
  const char* name = "";       // for --format
  const char* file_name = "";  // in the result directory, where every capacity run writes it; empty: it does not
  absl::Status (*write)(std::span<const v1::CapacityReport> reports, const ConsoleStyle& style,
                        std::ostream& out) = nullptr;
  bool binary = false;  // not readable on a terminal
  // Whether a file that begins like this is one of ours, which may be replaced; nullptr: every one of this name is.
  bool (*is_ours)(std::string_view head) = nullptr;
};

std::span<const CapacityFormat> CapacityFormats();
// InvalidArgument: there is none of this name; the message lists all.
absl::StatusOr<const CapacityFormat*> CapacityFormatNamed(std::string_view name);

// capacity_text.cc
absl::Status WriteCapacityText(std::span<const v1::CapacityReport> reports, const ConsoleStyle& style,
                               std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CAPACITY_CAPACITY_FORMATS_H_
