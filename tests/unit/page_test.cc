// The web page's file and its data. What the page shows is tested in a browser (tests/web).
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "coordinator/report/page/packed_columns.h"
#include "coordinator/report/page/page_data.h"
#include "coordinator/report/page/page_shell.h"
#include "coordinator/report/page/page_writer.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "nlohmann/json.hpp"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

using nlohmann::json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What the page's program reads.
struct Unpacked {
  json text;
  std::string columns;

  std::vector<double> Doubles(const json& column) const {
    REQUIRE(column["type"] == "f64");
    std::vector<double> values(column["count"].get<size_t>());
    REQUIRE(column["at"].get<size_t>() + values.size() * sizeof(double) <= columns.size());
    std::memcpy(values.data(), columns.data() + column["at"].get<size_t>(), values.size() * sizeof(double));
    return values;
  }
};

Unpacked Unpack(const std::string& data) {
  std::string compressed;
  REQUIRE(absl::Base64Unescape(data, &compressed));
  google::protobuf::io::ArrayInputStream source(compressed.data(), static_cast<int>(compressed.size()));
  google::protobuf::io::GzipInputStream gzip(&source);
  std::string bytes;
  const void* piece = nullptr;
  int size = 0;
  while (gzip.Next(&piece, &size)) bytes.append(static_cast<const char*>(piece), size);
  REQUIRE(bytes.size() >= 4);
  uint32_t length = 0;
  std::memcpy(&length, bytes.data(), 4);
  return {json::parse(bytes.substr(4, length)), bytes.substr((4 + length + 7) / 8 * 8)};
}

TEST_CASE("the page's data has the figures of result.json and the clients' exact rates") {
  const v1::RunReport report = GoldenReport();
  const Unpacked data = Unpack(*PageData(report));
  REQUIRE(data.text["result"]["phases"].size() == static_cast<size_t>(report.phases_size()));
  CHECK(data.text["result"]["phases"][0]["headline"]["bytes_per_s"] == 62914560);
  CHECK(data.text["result"]["phases"][0]["clients"].empty());
  CHECK(data.text["result"]["run"]["command"] == report.run().command());
  const json& clients = data.text["phases"][0]["clients"];
  CHECK(data.Doubles(clients["bytes_per_s"]) == std::vector<double>{33554432, 29360128});
  CHECK(data.text["hosts"][1] == report.clients(1).host());
  const std::vector<double> rates = data.Doubles(data.text["phases"][0]["lanes"]["rate"]);
  REQUIRE(rates.size() == 4);
  CHECK(rates[2] == 9000000);
  CHECK(std::isnan(rates[3]));
}

TEST_CASE("the page has what the table says of the marks that the report has, and of no others") {
  v1::RunReport report;
  v1::PhaseReport& phase = *report.add_phases();
  for (const char* code : {"maybe_cached", "unflushed", "of_a_later_version"})
    phase.add_marks()->set_code(code);
  const json marks = Unpack(*PageData(report)).text["marks"];
  CHECK(marks.size() == 2);
  CHECK(marks["maybe_cached"] == json{{"means", "client memory"},
                                      {"doc", "docs/marks.md#maybe_cached"},
                                      {"read_from_memory", true},
                                      {"severity", "doubtful"}});
  CHECK(marks["unflushed"]["read_from_memory"] == false);
}

TEST_CASE("names that are HTML cannot end the page's data") {
  v1::RunReport report = GoldenReport();
  const std::string name = "</script><script>alert(1)</script><!--";
  report.mutable_clients(0)->set_host(name);
  report.mutable_run()->set_label(name);
  CHECK(Unpack(*PageData(report)).text["result"]["run"]["label"] == name);
  CHECK_FALSE(absl::StrContains(*PageData(report), "<"));
}

TEST_CASE("the page is its shell around the data, or says that it was not built") {
  std::ostringstream out;
  const absl::Status status = WritePage(GoldenReport(), out);
  if (!kHasPage) {
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(absl::StrContains(status.message(), "npm"));
    return;
  }
  REQUIRE(status.ok());
  CHECK(out.str().size() == PageShell().size() - kDataPlace.size() + PageData(GoldenReport())->size());
  CHECK(out.str().rfind("<!doctype html>", 0) == 0);
  CHECK(absl::StrContains(out.str(), "Plotly, Inc"));  // the license of what is bundled
}

TEST_CASE("columns keep their values as precisely as they say") {
  const std::vector<double> values = {0, 1.5, 1234567.25, 3e9, kUnknown};
  PackedColumns columns;
  CHECK(columns.Add(values, Precision::kExact) == json{{"at", 0}, {"count", 5}, {"type", "f64"}});
  const json log = columns.Add(values, Precision::kThree);
  CHECK(log["at"] == 40);
  uint16_t codes[5];
  std::memcpy(codes, columns.bytes().data() + 40, sizeof codes);
  CHECK(codes[0] == 0);
  CHECK(codes[1] == 1);
  CHECK(codes[3] == 65534);
  CHECK(codes[4] == 65535);
  const double low = log["low"], high = log["high"];
  CHECK(low * std::pow(high / low, (codes[2] - 1) / 65533.0) == Approx(1234567.25).epsilon(0.0005));
  const json shade = columns.Add(values, Precision::kShade);
  CHECK(shade["at"] == 56);  // after padding
  CHECK(shade["max"] == 3e9);
  CHECK(static_cast<uint8_t>(columns.bytes()[56 + 3]) == 254);
  CHECK(static_cast<uint8_t>(columns.bytes()[56 + 4]) == 255);
}

TEST_CASE("a column of one value, of zeros or of nothing can be packed") {
  for (const std::vector<double>& values : {std::vector<double>{7}, {0, 0}, {}, {kUnknown}}) {
    for (const Precision precision :
         {Precision::kExact, Precision::kSingle, Precision::kThree, Precision::kShade}) {
      PackedColumns columns;
      CHECK(columns.Add(values, precision)["count"] == values.size());
    }
  }
}

TEST_CASE("many slices are joined to their mean, so that the page stays small") {
  v1::RunReport report;
  v1::PhaseCharts& charts = *report.add_phases()->mutable_charts();
  charts.set_slice_s(0.5);
  const int slices = static_cast<int>(kMaxCells) / 1000 * 2;
  for (int client = 0; client < 1000; ++client) {
    v1::ClientSeries& series = *charts.add_clients();
    for (int i = 0; i < slices; ++i) series.add_per_s(i % 2 == 0 ? 100 : 300);
  }
  const json matrix = Unpack(*PageData(report)).text["phases"][0]["charts"]["clients"];
  CHECK(matrix["slice_s"] == 1.0);
  CHECK(matrix["slice_count"] == slices / 2);
  CHECK(matrix["per_s"]["type"] == "shade8");
  CHECK(matrix["per_s"]["max"] == 200);
}

}  // namespace
}  // namespace iobench
