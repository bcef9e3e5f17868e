// Reports that are written as a whole: their table, their files, and how they are saved.
#include "coordinator/report/document/document.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "tests/support/temp_dir.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

// The page is written by every run, unless the program was built without Node.js.
bool IsLeftOut(const Document& document) {
  return std::string(document.name) == "html" && document.written == Document::Written::kOnRequest;
}

// With phases for every document: on records, and on names.
v1::RunReport ReportOfAll() {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.add_phases();
  phase.set_index(static_cast<uint32_t>(report.phases_size() - 1));
  phase.set_name("create");
  phase.set_operation("create");
  phase.set_title("create files");
  phase.set_metadata(true);
  phase.set_headline_in_ops(true);
  phase.mutable_headline()->set_ops_per_s(1234.5);
  phase.set_lane_count(4);
  return report;
}

TEST_CASE("documents have names and files of their own, found by their names") {
  std::set<std::string> names, files;
  for (const Document& document : Documents()) {
    CHECK(names.insert(document.name).second);
    CHECK(files.insert(document.file_name).second);
    CHECK(*DocumentNamed(document.name) == &document);
  }
  const absl::Status unknown = DocumentNamed("xml").status();
  CHECK(absl::IsInvalidArgument(unknown));
  for (const std::string& name : names) CHECK(absl::StrContains(unknown.message(), name));
}

TEST_CASE("every document is documented, with what it holds") {
  const std::string documentation = FileText(SourcePath("docs/reports.md"));
  for (const Document& document : Documents()) {
    INFO(document.name);
    const size_t row =
        documentation.find(absl::StrCat("\n| `", document.name, "` | `", document.file_name, "`"));
    REQUIRE(row != std::string::npos);
    const std::string line = documentation.substr(row + 1, documentation.find('\n', row + 1) - row - 1);
    CHECK(absl::StrContains(line, absl::StrCat(" | ", document.holds)));
  }
}

TEST_CASE("every document can be written of a report without phases, and of one with") {
  v1::RunReport empty;
  for (const Document& document : Documents()) {
    INFO(document.name);
    if (IsLeftOut(document)) continue;
    std::ostringstream of_golden, of_empty;
    CHECK(document.write(ReportOfAll(), of_golden).ok());
    CHECK_FALSE(of_golden.str().empty());
    const absl::Status status = document.write(empty, of_empty);
    CHECK((status.ok() || absl::IsFailedPrecondition(status)));
  }
}

TEST_CASE("documents that show charts say so, because the others get none") {
  v1::RunReport with = ReportOfAll();
  v1::Histogram& latencies = *with.mutable_phases(0)->mutable_charts()->mutable_latency_histogram();
  latencies.add_index_gaps(100);  // five ops of 100 ns
  latencies.add_counts(5);
  latencies.set_count(5);
  latencies.set_min_ns(100);
  latencies.set_max_ns(100);
  latencies.set_sum_ns(500);
  latencies.set_sum_squares_ns2(50'000);
  v1::RunReport without = with;
  REQUIRE(with.phases(0).charts().bytes_per_s_size() > 0);
  for (v1::PhaseReport& phase : *without.mutable_phases()) phase.clear_charts();
  for (const Document& document : Documents()) {
    INFO(document.name);
    if (std::string(document.name) == "workbook") continue;  // has the time at which it is written
    std::ostringstream of_charts, of_none;
    REQUIRE(document.write(with, of_charts).ok());
    REQUIRE(document.write(without, of_none).ok());
    CHECK((of_charts.str() != of_none.str()) == document.shows_charts);
  }
}

// Sets a percentile of the ops, or of fdatasync, in every place that has it, with the others known.
v1::RunReport WithPercentile(bool of_call, void (v1::Latency::*set)(double), double us) {
  v1::RunReport report = ReportOfAll();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.clear_charts();  // tests of each format cover what it shows of histograms
  v1::Latency known;
  known.set_count(1'000'000);
  known.set_min(1);
  known.set_max(9999);
  for (const auto each : {&v1::Latency::set_mean, &v1::Latency::set_p50, &v1::Latency::set_p90, &v1::Latency::set_p95,
                          &v1::Latency::set_p99, &v1::Latency::set_p99_9, &v1::Latency::set_p99_99})
    (known.*each)(1000);
  phase.clear_by_kind();
  v1::KindReport& call = (*phase.mutable_by_kind())["fdatasync"];
  call.set_ops(known.count());
  *call.mutable_latency_us() = known;
  *phase.mutable_latency_us() = known;
  *(*phase.mutable_by_kind())["write"].mutable_latency_us() = known;
  if (of_call) (call.mutable_latency_us()->*set)(us);
  if (!of_call) (phase.mutable_latency_us()->*set)(us);
  if (!of_call) ((*phase.mutable_by_kind())["write"].mutable_latency_us()->*set)(us);
  return report;
}

// Formats that show percentiles of ops, but none of flush calls, and why.
constexpr std::pair<std::string_view, const char*> kWithoutCalls[] = {
    {"csv", "a row has a fixed number of columns: tables/flush-calls.csv has them"},
    {"lanes-csv", "the same"},
};

TEST_CASE("what shows a percentile of the ops shows that of the flush calls too") {
  const auto& [name, set] = GENERATE(table<std::string, void (v1::Latency::*)(double)>(
      {{"p50", &v1::Latency::set_p50}, {"p90", &v1::Latency::set_p90}, {"p95", &v1::Latency::set_p95},
       {"p99", &v1::Latency::set_p99}, {"p99.9", &v1::Latency::set_p99_9}, {"p99.99", &v1::Latency::set_p99_99}}));
  int shown = 0;
  for (const Document& document : Documents()) {
    INFO(document.name << ", " << name);
    if (std::string(document.name) == "workbook") continue;  // compressed; its tables are those of Markdown
    std::ostringstream before;
    REQUIRE(document.write(WithPercentile(true, set, 1000), before).ok());
    const auto is_shown = [&, set = set](bool of_call) {
      std::ostringstream after;
      REQUIRE(document.write(WithPercentile(of_call, set, 5000), after).ok());
      return before.str() != after.str();
    };
    const bool excepted = std::any_of(std::begin(kWithoutCalls), std::end(kWithoutCalls),
                                      [&](const auto& each) { return each.first == document.name; });
    const bool of_calls = is_shown(true);
    if (is_shown(false)) CHECK(of_calls != excepted);
    shown += of_calls;
  }
  CHECK(shown >= 6);  // result.json, metrics.txt, the page, Markdown, SQLite, fio's JSON
}

TEST_CASE("a document that cannot be written completely is an error") {
  for (const Document& document : Documents()) {
    INFO(document.name);
    std::ostream nowhere(nullptr);
    CHECK_FALSE(document.write(ReportOfAll(), nowhere).ok());
  }
}

TEST_CASE("the texts of fio, IOR, mdtest and Bonnie are the reviewed ones") {
  const std::string name = GENERATE("fio-json", "ior", "mdtest", "bonnie-1");
  const Document& document = **DocumentNamed(name);
  std::ostringstream text;
  REQUIRE(document.write(ReportOfAll(), text).ok());
  CheckGolden(document.file_name, text.str());
}

TEST_CASE("an existing file is replaced only if the user says so") {
  const TempDir directory;
  const std::string path = directory / "report.json";
  const Document& json = *DocumentNamed("json").value();
  REQUIRE(SaveDocument(json, GoldenReport(), path, false).ok());
  const absl::Status again = SaveDocument(json, GoldenReport(), path, false);
  CHECK(absl::IsAlreadyExists(again));
  CHECK(absl::StrContains(again.message(), path));
  CHECK(SaveDocument(json, GoldenReport(), path, true).ok());
  CHECK(absl::StrContains(FileText(path), "cluster-iobench result"));
}

}  // namespace
}  // namespace iobench
