// The formats in which comparisons and histories are written. They render finished messages and compute nothing.
#ifndef COORDINATOR_REPORT_COMPARE_COMPARE_FORMATS_H_
#define COORDINATOR_REPORT_COMPARE_COMPARE_FORMATS_H_

#include <ostream>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/report/console/console_report.h"
#include "iobench/v1/compare.pb.h"

namespace iobench {

// All functions flush `out`. DataLoss: not everything could be written. FailedPrecondition: this program was built
// without the format. `style` matters to text only.
struct CompareFormat {
  enum class Content { kText, kBinary };  // binary: not readable on a terminal

  const char* name = "";  // for --format
  absl::Status (*write_comparison)(const v1::CompareReport& report, const ConsoleStyle& style,
                                   std::ostream& out) = nullptr;
  absl::Status (*write_history)(const v1::HistoryReport& report, const ConsoleStyle& style,
                                std::ostream& out) = nullptr;
  Content content = Content::kText;
};

std::span<const CompareFormat> CompareFormats();
// InvalidArgument: there is none of this name; the message lists all.
absl::StatusOr<const CompareFormat*> CompareFormatNamed(std::string_view name);

// Each is defined in the file that writes it (compare_text.cc, compare_junit.cc, compare_markdown.cc, compare_page.cc); json
// in compare_formats.cc.
absl::Status WriteComparisonText(const v1::CompareReport& report, const ConsoleStyle& style,
                                 std::ostream& out);
absl::Status WriteHistoryText(const v1::HistoryReport& report, const ConsoleStyle& style, std::ostream& out);
absl::Status WriteComparisonJunit(const v1::CompareReport& report, const ConsoleStyle& style,
                                  std::ostream& out);
absl::Status WriteHistoryJunit(const v1::HistoryReport& report, const ConsoleStyle& style, std::ostream& out);
absl::Status WriteComparisonMarkdown(const v1::CompareReport& report, const ConsoleStyle& style,
                                     std::ostream& out);
absl::Status WriteHistoryMarkdown(const v1::HistoryReport& report, const ConsoleStyle& style,
                                  std::ostream& out);
absl::Status WriteComparisonPage(const v1::CompareReport& report, const ConsoleStyle& style,
                                 std::ostream& out);
absl::Status WriteHistoryPage(const v1::HistoryReport& report, const ConsoleStyle& style, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_COMPARE_COMPARE_FORMATS_H_
