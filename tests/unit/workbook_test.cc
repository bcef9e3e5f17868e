// report.xlsx: names of sheets, and what does not depend on a spreadsheet program. tests/cluster opens whole workbooks.
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
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

// Two phases that differ in their record size: a sweep, if both are phases of all clients.
v1::RunReport TwoRecordSizes() {
  v1::RunReport report = GoldenReport();
  const v1::PhaseReport cell = report.phases(0);
  const v1::Phase planned = report.run().plan().phases(0);
  report.clear_phases();
  report.mutable_run()->mutable_plan()->clear_phases();
  for (const uint32_t index : {0u, 1u}) {
    *report.mutable_run()->mutable_plan()->add_phases() = planned;
    v1::PhaseReport& phase = *report.add_phases();
    phase = cell;
    phase.set_index(index);
    phase.set_record_bytes(uint64_t{4096} << index);
  }
  return report;
}

// `count` sweeps over both sizes, each a surface.
v1::RunReport Surfaces(uint32_t count) {
  v1::RunReport report = TwoRecordSizes();
  const v1::PhaseReport cell = report.phases(0);
  const v1::Phase planned = report.run().plan().phases(0);
  report.clear_phases();
  report.mutable_run()->mutable_plan()->clear_phases();
  for (uint32_t index = 0; index < 4 * count; ++index) {
    *report.mutable_run()->mutable_plan()->add_phases() = planned;
    v1::PhaseReport& phase = *report.add_phases();
    phase = cell;
    phase.set_index(index);
    phase.set_operation(absl::StrCat("operation-", index / 4));
    phase.set_record_bytes(uint64_t{4096} << (index % 2));
    phase.set_bytes_per_lane(uint64_t{65536} << (index / 2 % 2));
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

TEST_CASE("phases of one client or of servers or beside a load are no cells of a surface") {
  const size_t with_surface = SheetCount(TwoRecordSizes());
  v1::RunReport alone = TwoRecordSizes(), on_servers = alone, beside = alone;
  alone.mutable_run()->mutable_plan()->mutable_phases(1)->mutable_alone()->set_client("c01");
  on_servers.mutable_run()->mutable_plan()->mutable_phases(1)->mutable_on_servers()->set_servers(1);
  beside.mutable_run()->mutable_plan()->mutable_phases(1)->mutable_interference()->set_others(1);
  for (const v1::RunReport& report : {alone, on_servers, beside})
    CHECK(SheetCount(report) + 1 == with_surface);
}

}  // namespace
}  // namespace iobench
