// Renders reports of random records in every text format.
#ifndef TESTS_FUZZ_RENDERED_H_
#define TESTS_FUZZ_RENDERED_H_

#include <algorithm>
#include <sstream>
#include <string>

#include "coordinator/report/console/console_report.h"
#include "coordinator/report/result_files.h"
#include "tests/fuzz/fuzz_target.h"

namespace iobench {

// Formats are numbered: the console's first, then those that a run saves.
inline size_t FormatCount() {
  return 1 + static_cast<size_t>(std::ranges::count_if(
                 ResultFiles(), [](const ResultFile& file) { return file.format != nullptr; }));
}

// Ends the process if the format, an index below FormatCount(), fails.
inline void RenderAs(size_t format, const v1::RunReport& report) {
  std::ostringstream text;
  if (format == 0) {
    const absl::Status shown = WriteConsole(report, {}, text);
    Require(shown.ok(), "a report can be shown: " + shown.ToString());
  }
  size_t index = 0;
  for (const ResultFile& file : ResultFiles()) {
    if (file.format == nullptr || ++index != format) continue;
    const absl::Status written = WriteReport(*file.format, report, text);
    Require(written.ok(), std::string(file.name) + " can be written: " + written.ToString());
  }
  Require(!text.str().empty(), "a report is not empty");
}

inline void Render(const v1::RunReport& report) {
  for (size_t format = 0; format < FormatCount(); ++format) RenderAs(format, report);
}

}  // namespace iobench

#endif  // TESTS_FUZZ_RENDERED_H_
