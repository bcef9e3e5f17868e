// The one table of marks: it has what docs/marks.md has, and no code twice.
#include "coordinator/analysis/marks/mark_table.h"

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"

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

std::string RowOf(const MarkRow& row) {
  static const std::map<MarkMeans, std::string> kWords = {{MarkMeans::kNote, "note"},
                                                          {MarkMeans::kBrief, "brief"},
                                                          {MarkMeans::kUnsound, "unsound"},
                                                          {MarkMeans::kClientMemory, "client memory"},
                                                          {MarkMeans::kNotStorage, "not storage"}};
  return std::string(row.code) + ": " + kWords.at(row.means);
}

}  // namespace

TEST_CASE("the table of marks and the headings of docs/marks.md are the same") {
  std::vector<std::string> rows;
  std::set<std::string_view> codes;
  for (const MarkRow& row : AllMarks()) {
    rows.push_back(RowOf(row));
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

TEST_CASE("a phase has a meaning if one of its marks has it") {
  v1::PhaseReport report;
  report.add_marks()->set_code("too_short");
  CHECK_FALSE(HasMarkThatMeans(report, MarkMeans::kClientMemory));
  report.add_marks()->set_code("absorbed");
  CHECK(HasMarkThatMeans(report, MarkMeans::kClientMemory));
}

}  // namespace iobench
