#include "coordinator/report/result_files.h"

#include <set>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

TEST_CASE("result files have names of their own, and raw data comes last") {
  std::set<std::string> names;
  for (const ResultFile& file : ResultFiles()) {
    CHECK(names.insert(file.name).second);
    CHECK((file.format == nullptr) == (std::string(file.name) == kRawFiles));
    CHECK(absl::StartsWith(file.main_file, file.name));
  }
  CHECK(std::string(ResultFiles().back().name) == kRawFiles);
}

TEST_CASE("every result file is documented, with what it holds") {
  const std::string documentation = FileText(SourcePath("docs/reports.md"));
  for (const ResultFile& file : ResultFiles()) {
    INFO(file.name);
    const size_t row = documentation.find(absl::StrCat("\n| `", file.main_file, "`"));
    REQUIRE(row != std::string::npos);
    const std::string line = documentation.substr(row + 1, documentation.find('\n', row + 1) - row - 1);
    CHECK(absl::StrContains(line, absl::StrCat(" | ", file.holds)));
  }
}

TEST_CASE("a report file is recognised by its first bytes, and a file of another program is not") {
  for (const ResultFile& file : ResultFiles()) {
    if (file.format == nullptr) continue;
    INFO(file.name);
    std::ostringstream out;
    REQUIRE(WriteReport(*file.format, GoldenReport(), out).ok());
    CHECK(file.format->is_ours(out.str().substr(0, ReportFormat::kHeadBytes)));
    CHECK_FALSE(file.format->is_ours("{\"fio version\": \"fio-3.33\"}"));
    CHECK_FALSE(file.format->is_ours("phase,host\n"));
    CHECK_FALSE(file.format->is_ours(""));
  }
}

TEST_CASE("a report written phase by phase is the one written at once") {
  const v1::RunReport report = GoldenReport();
  REQUIRE(report.phases_size() > 1);
  for (const ResultFile& file : ResultFiles()) {
    if (file.format == nullptr) continue;
    INFO(file.name);
    v1::RunReport run = report;
    run.clear_phases();
    std::ostringstream phases, whole, pieces;
    if (file.format->write_titles != nullptr) REQUIRE(file.format->write_titles(pieces).ok());
    for (const v1::PhaseReport& phase : report.phases()) {
      const PlaceInList place = &phase == &report.phases(0) ? PlaceInList::kFirst : PlaceInList::kLater;
      REQUIRE(file.format->write_phase(run, phase, place, phases).ok());
    }
    if (file.format->grows()) {
      pieces << phases.str();
    } else {
      const auto copy = [&](std::ostream& out) { return out << phases.str(), absl::OkStatus(); };
      REQUIRE(file.format->write_around(run, {.any = true, .copy_to = copy}, pieces).ok());
    }
    REQUIRE(WriteReport(*file.format, report, whole).ok());
    CHECK(pieces.str() == whole.str());
  }
}

}  // namespace
}  // namespace iobench
