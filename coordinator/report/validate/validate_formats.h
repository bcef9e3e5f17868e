// The formats in which a validation is written. They render the finished message and compute nothing.
#ifndef COORDINATOR_REPORT_VALIDATE_VALIDATE_FORMATS_H_
#define COORDINATOR_REPORT_VALIDATE_VALIDATE_FORMATS_H_

#include <ostream>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/report/console/console_report.h"
#include "iobench/v1/validate.pb.h"

namespace iobench {

// `write` flushes `out`. DataLoss: not everything could be written. FailedPrecondition: this program was built without
// the format. `style` matters to text only.
struct ValidateFormat {
  enum class Content { kText, kBinary };  // binary: not readable on a terminal

  const char* name = "";  // for --format
  absl::Status (*write)(const v1::ValidateReport& report, const ConsoleStyle& style,
                        std::ostream& out) = nullptr;
  Content content = Content::kText;
};

std::span<const ValidateFormat> ValidateFormats();
// InvalidArgument: there is none of this name; the message lists all.
absl::StatusOr<const ValidateFormat*> ValidateFormatNamed(std::string_view name);

// Each is defined in the file that writes it (validate_text.cc, validate_junit.cc, validate_page.cc); json in
// validate_formats.cc.
absl::Status WriteValidateText(const v1::ValidateReport& report, const ConsoleStyle& style,
                               std::ostream& out);
absl::Status WriteValidateJunit(const v1::ValidateReport& report, const ConsoleStyle& style,
                                std::ostream& out);
absl::Status WriteValidatePage(const v1::ValidateReport& report, const ConsoleStyle& style,
                               std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_VALIDATE_VALIDATE_FORMATS_H_
