// The one table of marks: it has what docs/marks.md has, and no code twice.
#include "coordinator/analysis/marks/mark_table.h"

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/analysis/marks/marks.h"

namespace iobench {
namespace {

// "code: means" of each mark: a heading "## code", and the first words of its text, "**means**".
std::vector<std::string> RowsOfDocs() {
  std::ifstream docs(std::string(IOBENCH_SOURCE_DIR) + "/docs/marks.md");
  std::vector<std::string> rows;
  bool after_code = false;
  for (std::string line; std::getline(docs, line);) {
    if (line.starts_with("## ")) {
      rows.push_back(line.substr(3) + ": ");
      after_code = true;
    } else if (after_code && line.starts_with("**")) {
      rows.back() += line.substr(2, line.find("**", 2) - 2);
      after_code = false;
    }
  }
  return rows;
}

std::string LineOf(const MarkRow& row) {
  return std::string(row.code) + ": " + std::string(WordOf(row.means));
}

}  // namespace

TEST_CASE("the table of marks and the headings of docs/marks.md are the same") {
  std::vector<std::string> rows;
  std::set<std::string_view> codes;
  for (const MarkRow& row : AllMarks()) {
    rows.push_back(LineOf(row));
    codes.insert(row.code);
  }
  CHECK(rows == RowsOfDocs());
  CHECK(codes.size() == rows.size());
}

TEST_CASE("a mark spoils the figures unless it only notes what happened, and a code of later versions notes") {
  CHECK(SpoilsFigures("cached"));
  CHECK(SpoilsFigures("too_short"));
  CHECK(SpoilsFigures("partial"));
  CHECK_FALSE(SpoilsFigures("network_bound"));
  CHECK_FALSE(SpoilsFigures("of_a_later_version"));
}

TEST_CASE("a mark of the client's memory says what the memory did, and no other mark does") {
  for (const MarkRow& row : AllMarks()) {
    INFO(row.code);
    CHECK((row.means == MarkMeans::kClientMemory) == (row.memory != MemoryPart::kNothing));
  }
}

TEST_CASE("a mark's rule is at the heading of its code, and a code of a later version has none") {
  CHECK(DocOf("maybe_cached") == "docs/marks.md#maybe_cached");
  CHECK(DocOf("of_a_later_version").empty());
  CHECK(RowOf("of_a_later_version").advice.empty());
}

TEST_CASE("the table's advice, or that of the phase, follows what is wrong") {
  CHECK(MakeMark("clock_step", "node1", 1, 0, "its clock was stepped").text() ==
        "its clock was stepped: stop time services and VM migration during a run, and repeat");
  CHECK(MakeMark("partial", "phase", 1, 0, "1 lane failed: totals exclude it").text() ==
        "1 lane failed: totals exclude it; fix the errors listed, and repeat");
  CHECK(MakeMark("memory_fs", "phase", 1, 0, "/mnt (tmpfs: 1) is memory").text() ==
        "/mnt (tmpfs: 1) is memory: set --path to the file system to test");
  CHECK(MakeMark("too_short", "phase", 1, 0, "too short", "use a larger -s").text() == "too short: use a larger -s");
  CHECK(MakeMark("resumed", "phase", 1, 0, "it was resumed").text() == "it was resumed");
}

TEST_CASE("a phase says whether a client had nothing left, and what memory did") {
  v1::PhaseReport report;
  report.add_marks()->set_code("cpu_quota");
  CHECK(HasMarkOfFullClient(report));
  CHECK_FALSE(HasMarkOfMemory(report, MemoryPart::kFiles));
  report.mutable_marks(0)->set_code("memory_fs");
  CHECK(HasMarkOfMemory(report, MemoryPart::kFiles));
  CHECK_FALSE(HasMarkOfFullClient(report));
}

TEST_CASE("a phase has a meaning if one of its marks has it") {
  v1::PhaseReport report;
  report.add_marks()->set_code("too_short");
  CHECK_FALSE(HasMarkThatMeans(report, MarkMeans::kClientMemory));
  report.add_marks()->set_code("absorbed");
  CHECK(HasMarkThatMeans(report, MarkMeans::kClientMemory));
}

}  // namespace iobench
