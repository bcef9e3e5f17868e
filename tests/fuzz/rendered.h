// Renders reports of random records in every text format.
#ifndef TESTS_FUZZ_RENDERED_H_
#define TESTS_FUZZ_RENDERED_H_

#include <sstream>
#include <string>

#include "coordinator/report/console/console_report.h"
#include "coordinator/report/result_files.h"
#include "tests/fuzz/fuzz_target.h"

namespace iobench {

// The console's and all that a run saves. Ends the process if a format fails.
inline void Render(const v1::RunReport& report) {
  std::ostringstream console, files;
  const absl::Status shown = WriteConsole(report, {}, console);
  Require(shown.ok(), "a report can be shown: " + shown.ToString());
  for (const ResultFile& file : ResultFiles()) {
    if (file.format == nullptr) continue;
    const absl::Status written = WriteReport(*file.format, report, files);
    Require(written.ok(), std::string(file.name) + " can be written: " + written.ToString());
  }
  Require(!console.str().empty() && !files.str().empty(), "a report is not empty");
}

}  // namespace iobench

#endif  // TESTS_FUZZ_RENDERED_H_
