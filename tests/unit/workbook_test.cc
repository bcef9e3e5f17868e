// report.xlsx: names of sheets, and what does not depend on a spreadsheet program. tests/cluster opens whole workbooks.
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "coordinator/report/tables/table_list.h"
#include "coordinator/report/workbook/sheet_names.h"
#include "coordinator/report/workbook/surface_chart.h"
#include "coordinator/report/workbook/workbook_writer.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

TEST_CASE("names of sheets have no character that spreadsheet programs refuse") {
  SheetNames names;
  CHECK(names.Next("0 write") == "0 write");
  CHECK(names.Next("[a]:b*c?d/e\\f'g") == "_a__b_c_d_e_f_g");
  CHECK(names.Next("a\nb\x1b") == "a_b_");
  CHECK(names.Next("") == "sheet");
  CHECK(names.Next("History") == "History_");
}

TEST_CASE("names of sheets differ without regard to case, and have at most 31 characters") {
  SheetNames names;
  CHECK(names.Next("write") == "write");
  CHECK(names.Next("Write") == "Write (2)");
  CHECK(names.Next("WRITE") == "WRITE (3)");
  const std::string long_name(40, 'x');
  CHECK(names.Next(long_name) == std::string(31, 'x'));
  CHECK(names.Next(long_name) == std::string(27, 'x') + " (2)");
  // Characters, not bytes; one beyond the basic plane counts twice.
  CHECK(names.Next("\xc3\xb6" + long_name) == "\xc3\xb6" + std::string(30, 'x'));
  CHECK(names.Next(std::string(30, 'y') + "\xf0\x9f\x98\x80") == std::string(30, 'y'));
}

TEST_CASE("equal reports give equal workbooks") {
  std::ostringstream first, second;
  REQUIRE(WriteWorkbook(GoldenReport(), first).ok());
  REQUIRE(WriteWorkbook(GoldenReport(), second).ok());
  CHECK(absl::StartsWith(first.str(), "PK"));
  CHECK(first.str() == second.str());
}

TEST_CASE("a surface chart refers to the cells of its sheet, whatever the sheet's name") {
  const std::string xml = SurfaceChartXml(
      {.sheet = "a & b's", .titles_row = 1, .last_row = 3, .last_column = 2, .unit = "KiB/s"});
  CHECK(absl::StrContains(xml, "<c:surface3DChart>"));
  CHECK(absl::StrContains(xml, "<c:f>'a &amp; b''s'!$B$2:$C$2</c:f>"));  // record sizes
  CHECK(absl::StrContains(xml, "<c:f>'a &amp; b''s'!$A$4</c:f>"));       // the last file size
  CHECK(absl::StrContains(xml, "<c:f>'a &amp; b''s'!$B$4:$C$4</c:f>"));
  CHECK_FALSE(absl::StrContains(xml, "$5"));
}

TEST_CASE("surface charts are put into nothing but workbooks with as many places for them") {
  CHECK(WithSurfaceCharts("no archive", {}).value() == "no archive");
  CHECK(absl::IsInternal(WithSurfaceCharts("no archive", {SurfaceChart{}}).status()));
  std::ostringstream workbook;
  REQUIRE(WriteWorkbook(GoldenReport(), workbook).ok());
  CHECK(WithSurfaceCharts(workbook.str(), {SurfaceChart{}}).status().message() ==
        "the workbook has 0 area charts instead of 1");
}

// `count` sweeps over both sizes, each a surface.
v1::RunReport Surfaces(uint32_t count) {
  v1::RunReport report = GoldenReport();
  for (uint32_t index = 0; index < count; ++index) {
    v1::SurfaceReport& surface = *report.add_surfaces();
    surface.set_operation(absl::StrCat("operation-", index));
    for (const uint64_t bytes : {65536, 131072}) {
      surface.add_bytes_per_lane(bytes);
      surface.add_record_bytes(bytes / 16);
      for (const uint64_t record_bytes : {4096, 8192}) {
        v1::SurfaceCell& cell = *surface.add_cells();
        cell.set_bytes_per_lane(bytes);
        cell.set_record_bytes(record_bytes);
        cell.set_rate(1e6 * static_cast<double>(record_bytes));
      }
    }
  }
  return report;
}

TEST_CASE("surfaces may stand anywhere in a workbook") {
  // The parts before the first chart that changes are under half of the archive, or more than half.
  for (const uint32_t count : {1u, 2u, 5u, 20u}) {
    std::ostringstream first, second;
    REQUIRE(WriteWorkbook(Surfaces(count), first).ok());
    REQUIRE(WriteWorkbook(Surfaces(count), second).ok());
    CHECK(first.str() == second.str());
    CHECK(first.str().find("xl/charts/chart") != std::string::npos);
  }
}

// The names of an archive's files are not compressed; each is there twice.
size_t SheetCount(const v1::RunReport& report) {
  std::ostringstream workbook;
  REQUIRE(WriteWorkbook(report, workbook).ok());
  const std::string bytes = workbook.str();
  const std::string name = "xl/worksheets/sheet";
  size_t count = 0;
  for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1)) ++count;
  return count / 2;
}

TEST_CASE("each chapter of tables has a sheet, beside those of the run and of each phase") {
  v1::RunReport report = GoldenReport();
  report.add_layers()->add_rows()->set_layer("disk");
  report.add_interference()->add_rows()->set_background("write");
  report.mutable_soak()->add_rounds()->set_round(1);
  report.mutable_score()->set_value(3);
  std::set<std::string> chapters;
  for (const NamedTable& table : TablesOf(report, "workbook")) chapters.insert(table.source->chapter);
  CHECK(chapters.size() > 5);
  CHECK(SheetCount(report) == 3 + static_cast<size_t>(report.phases_size()) + chapters.size());
}

TEST_CASE("a sweep over sizes has a sheet, one over lanes or names has none") {
  const size_t without = SheetCount(GoldenReport());
  CHECK(SheetCount(Surfaces(2)) == without + 2);
  v1::RunReport of_names = Surfaces(1), of_lanes = of_names;
  of_names.mutable_surfaces(0)->set_metadata(true);
  CHECK(SheetCount(of_names) == without);
  v1::SurfaceReport& single = *of_lanes.mutable_surfaces(0);
  single.mutable_cells()->DeleteSubrange(1, 3);
  single.mutable_bytes_per_lane()->Truncate(1);
  single.mutable_record_bytes()->Truncate(1);
  CHECK(SheetCount(of_lanes) == without);
}

}  // namespace
}  // namespace iobench
