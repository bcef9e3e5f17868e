// Comparisons and histories in every format, from fixed messages.
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>

#include "catch2/catch.hpp"
#include "coordinator/report/compare/compare_formats.h"
#include "coordinator/report/compare/compare_words.h"
#include "coordinator/report/page/page_writer.h"
#include "tests/unit/console_text.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

template <typename Report>
Report ReadGolden(const char* name) {
  Report report;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(FileText(GoldenPath(name)), &report));
  return report;
}

std::string Written(const CompareFormat& format, const v1::CompareReport& report) {
  std::ostringstream out;
  REQUIRE(format.write_comparison(report, ConsoleStyle{}, out).ok());
  return out.str();
}

std::string Written(const CompareFormat& format, const v1::HistoryReport& report) {
  std::ostringstream out;
  REQUIRE(format.write_history(report, ConsoleStyle{}, out).ok());
  return out.str();
}

const CompareFormat& Named(const char* name) {
  return **CompareFormatNamed(name);
}

// The page is left out of programs that were built without Node.js.
bool IsBuilt(const CompareFormat& format) {
  return kHasPage || format.name != std::string("html");
}

// Endings of the golden files, by format.
const std::initializer_list<std::tuple<const char*, std::string>> kEndings = {
    {"text", ".txt"}, {"json", ".json"}, {"junit", ".junit.xml"}, {"markdown", ".md"}};

TEST_CASE("the fixed comparison is as it was looked at, in every format") {
  const auto report = ReadGolden<v1::CompareReport>("compare.textproto");
  const auto [format, ending] = GENERATE(table<const char*, std::string>(kEndings));
  CheckGolden("compare" + ending, Written(Named(format), report));
}

TEST_CASE("the fixed history is as it was looked at, in every format") {
  const auto report = ReadGolden<v1::HistoryReport>("history.textproto");
  const auto [format, ending] = GENERATE(table<const char*, std::string>(kEndings));
  CheckGolden("history" + ending, Written(Named(format), report));
}

TEST_CASE("the first line says that plans are unlike") {
  auto report = ReadGolden<v1::CompareReport>("compare.textproto");
  CHECK(LinesOf(Written(Named("text"), report))[0].starts_with("UNLIKE PLANS: "));
  report.set_like_plans(true);
  CHECK(LinesOf(Written(Named("text"), report))[0] == "2 runs against A");
}

TEST_CASE("a full device is an error in every format") {
  const auto comparison = ReadGolden<v1::CompareReport>("compare.textproto");
  const auto history = ReadGolden<v1::HistoryReport>("history.textproto");
  for (const CompareFormat& format : CompareFormats()) {
    if (!IsBuilt(format)) continue;
    std::ostringstream out;
    out.setstate(std::ios::badbit);
    CHECK(absl::IsDataLoss(format.write_comparison(comparison, ConsoleStyle{}, out)));
    CHECK(absl::IsDataLoss(format.write_history(history, ConsoleStyle{}, out)));
  }
}

TEST_CASE("a format that does not exist is refused with those that do") {
  CHECK(CompareFormatNamed("pdf").status().message() ==
        "comparisons have no format \"pdf\": use text, json, junit, markdown, html");
}

TEST_CASE("no name of a run, label or phase moves the cursor or becomes markup") {
  auto report = ReadGolden<v1::CompareReport>("compare.textproto");
  for (v1::PhaseComparison& phase : *report.mutable_phases())
    phase.mutable_phase()->set_name("<img>\033[2J|`x`");
  for (const CompareFormat& format : CompareFormats()) {
    if (!IsBuilt(format)) continue;
    const std::string text = Written(format, report);
    INFO(format.name);
    CHECK(!Contains(text, "\033"));
    if (format.name == std::string("junit") || format.name == std::string("markdown"))
      CHECK(!Contains(text, "<img>"));
  }
  CHECK(!Contains(Written(Named("markdown"), report), "2J|`"));
}

TEST_CASE("a program without the page says how to get it, and writes nothing") {
  std::ostringstream out;
  const absl::Status status =
      Named("html").write_comparison(ReadGolden<v1::CompareReport>("compare.textproto"), ConsoleStyle{}, out);
  if (kHasPage) {
    CHECK(status.ok());
    CHECK(out.str().starts_with("<!doctype html>"));
    CHECK(Contains(out.str(), "</html>"));
  } else {
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(Contains(std::string(status.message()), "Node.js"));
    CHECK(out.str().empty());
  }
}

TEST_CASE("maps of one operation are told apart by what differs") {
  auto report = ReadGolden<v1::CompareReport>("compare.textproto");
  CHECK(MapTitle(report, report.maps(0)) == "write, 4 lanes, B/A");
  *report.add_maps() = report.maps(0);
  report.mutable_maps(0)->set_target("/mnt/a");
  report.mutable_maps(1)->set_target("/mnt/b");
  report.mutable_maps(1)->set_stride_records(4);
  CHECK(MapTitle(report, report.maps(1)) == "write, 4 lanes, stride 4, /mnt/b, B/A");
}

// Two runs against a baseline with 20 cells of a sweep, a metadata operation and a phase without a sweep.
v1::CompareReport SweepAndOthers() {
  auto report = ReadGolden<v1::CompareReport>("compare.textproto");
  const v1::PhaseComparison cell = report.phases(0), stat = report.phases(2);
  report.clear_phases();
  report.mutable_maps(0)->clear_cells();
  report.mutable_maps(0)->set_engine("posix");
  *report.add_maps() = report.maps(0);
  report.mutable_maps(1)->set_run(2);
  for (const uint32_t run : {1u, 2u}) {
    for (uint64_t record = 1024; record <= (uint64_t{1024} << 19); record *= 2) {
      v1::PhaseComparison& phase = *report.add_phases();
      phase = cell;
      phase.set_run(run);
      phase.mutable_phase()->set_record_bytes(record);
    }
    *report.add_phases() = stat;
    v1::PhaseComparison& alone = *report.add_phases();
    alone = cell;
    alone.mutable_phase()->set_name("read alone");
    alone.mutable_phase()->set_operation("read");
    for (int last : {1, 2}) report.mutable_phases(report.phases_size() - last)->set_run(run);
  }
  return report;
}

TEST_CASE("of a long comparison the text lists the phases that are in no map") {
  const std::string text = Written(Named("text"), SweepAndOthers());
  for (const char* const run : {"B against A", "C against A"}) {
    INFO(run);
    const size_t begin = text.find(run);
    REQUIRE(begin != std::string::npos);
    const std::string of_run = text.substr(begin, text.find("geometric mean", begin) - begin);
    CHECK(Contains(of_run, "\n  create, \"all\" "));
    CHECK(Contains(of_run, "\n  read alone "));
    CHECK(!Contains(of_run, "\n  write"));
  }
}

TEST_CASE("whether a comparison is long is decided for each run alone") {
  auto report = SweepAndOthers();
  for (const int at : {22 + 19, 22 + 18, 19, 18}) report.mutable_phases()->DeleteSubrange(at, 1);
  REQUIRE(report.phases_size() == 40);
  const std::string text = Written(Named("text"), report);
  size_t rows = 0;
  for (const std::string& line : LinesOf(text)) rows += line.starts_with("  write (1m/") ? 1 : 0;
  CHECK(rows == 2 * 18);
}

TEST_CASE("phases of one name are told apart by what differs") {
  PhaseLabels labels;
  v1::PhaseKey key;
  key.set_name("write");
  key.set_operation("write");
  key.set_bytes_per_lane(1 << 20);
  key.set_record_bytes(4096);
  key.set_lane_count(1);
  key.set_occurrence(1);
  labels.Add(key);
  CHECK(labels.Of(key) == "write");
  v1::PhaseKey other = key;
  other.set_record_bytes(65536);
  other.set_lane_count(8);
  labels.Add(other);
  CHECK(labels.Of(key) == "write (1m/4k, 1 lane)");
  CHECK(labels.Of(other) == "write (1m/64k, 8 lanes)");
}

TEST_CASE("phases of several record sizes are told apart by their shares") {
  PhaseLabels labels;
  v1::PhaseKey key;
  key.set_name("write");
  key.set_bytes_per_lane(1 << 20);
  key.set_record_bytes(65536);
  key.set_record_shares("4k:60,64k:40");
  v1::PhaseKey other = key;
  other.set_record_shares("4k:30,64k:70");
  labels.Add(key);
  CHECK(labels.Of(key) == "write");
  labels.Add(other);
  CHECK(labels.Of(key) == "write (1m/4k:60,64k:40)");
  CHECK(labels.Of(other) == "write (1m/4k:30,64k:70)");
}

TEST_CASE("numbers of any size and unknown ones have a text") {
  CHECK(RatioText(0.90649) == "0.906");
  CHECK(RatioText(123.456) == "123.5");
  CHECK(RatioText(NAN) == "-");
  CHECK(ProbabilityText(0.0004) == "< 0.001");
  CHECK(ProbabilityText(0.05) == "0.050");
  CHECK(ProbabilityText(NAN) == "-");
  CHECK(RunLetter(0) == "A");
  CHECK(RunLetter(25) == "Z");
  CHECK(RunLetter(26) == "run 27");
}

}  // namespace
}  // namespace iobench
