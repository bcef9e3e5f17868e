// sample_page rich|empty|soak|steady|many|large DIRECTORY: writes report.html and result.json of a report that was made up,
// and prints how long the page took in milliseconds. sample_page comparison|history|validation DIRECTORY MESSAGE: the same of a
// comparison, history or validation that is in the file MESSAGE as text.
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "coordinator/report/compare/compare_formats.h"
#include "coordinator/report/json_text.h"
#include "coordinator/report/page/page_writer.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/validate/validate_formats.h"
#include "google/protobuf/text_format.h"
#include "iobench/v1/compare.pb.h"
#include "iobench/v1/validate.pb.h"
#include "tests/web/sample_report.h"

namespace iobench {
namespace {

struct Written {
  absl::Status status;
  double page_ms = 0;
};

// Writes the page with `write`, and measures that.
template <typename Write>
Written WriteTimed(const std::string& directory, const Write& write) {
  std::ofstream page(directory + "/report.html", std::ios::binary);
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = write(page);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return {status, took.count()};
}

Written WriteRun(std::string_view kind, const std::string& directory) {
  const v1::RunReport report = kind == "rich"    ? RichReport()
                               : kind == "empty" ? EmptyReport()
                                 : kind == "soak"  ? SoakReport(60)
                                 : kind == "steady" ? SteadySample()
                                 : kind == "many"  ? LargeReport(1000, 1, 8, 120, 50)
                                                   : LargeReport(1000, 8, 20, 600, 0);
  Written written = WriteTimed(directory, [&](std::ostream& out) { return WritePage(report, out); });
  std::ofstream json(directory + "/result.json", std::ios::binary);
  if (kind != "large") written.status.Update(WriteReport(kJsonFormat, report, json));
  return written;
}

template <typename Report>
Written WriteMessage(const char* message, const std::string& directory,
                     absl::Status (*write)(const Report&, const ConsoleStyle&, std::ostream&)) {
  Report report;
  std::ifstream in(message);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!google::protobuf::TextFormat::ParseFromString(text, &report)) {
    return {absl::InvalidArgumentError(message)};
  }
  Written written =
      WriteTimed(directory, [&](std::ostream& out) { return write(report, ConsoleStyle{}, out); });
  std::ofstream json(directory + "/result.json", std::ios::binary);
  written.status.Update(WriteJsonText(report, json));
  return written;
}

Written Write(int argc, char** argv) {
  const std::string_view kind = argv[1];
  const std::string directory = argv[2];
  if (argc == 3) return WriteRun(kind, directory);
  if (kind == "validation") return WriteMessage(argv[3], directory, WriteValidatePage);
  return kind == "history" ? WriteMessage(argv[3], directory, WriteHistoryPage)
                           : WriteMessage(argv[3], directory, WriteComparisonPage);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const iobench::Written written = iobench::Write(argc, argv);
  if (!written.status.ok()) {
    std::cerr << written.status << '\n';
    return 1;
  }
  std::cout << written.page_ms << '\n';
  return 0;
}
