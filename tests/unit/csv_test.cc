#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/report/report_format.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

std::string CsvText(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteReport(kLanesCsvFormat, report, out).ok());
  return out.str();
}

// A reader after RFC 4180, written apart from the writer.
std::vector<std::vector<std::string>> ReadCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.emplace_back(1);
    } else {
      rows.back().back() += c;
    }
  }
  REQUIRE(!quoted);
  rows.pop_back();
  return rows;
}

std::vector<std::map<std::string, std::string>> Records(const v1::RunReport& report) {
  const auto rows = ReadCsv(CsvText(report));
  std::vector<std::map<std::string, std::string>> records;
  for (size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].size() == rows[0].size());
    auto& record = records.emplace_back();
    for (size_t column = 0; column < rows[0].size(); ++column) record[rows[0][column]] = rows[i][column];
  }
  return records;
}

TEST_CASE("the CSV of the fixed result is as it was looked at") {
  CheckGolden("result.csv", CsvText(GoldenReport()));
}

TEST_CASE("the CSV of the fixed result's clients is as it was looked at") {
  std::ostringstream out;
  REQUIRE(WriteReport(kClientsCsvFormat, GoldenReport(), out).ok());
  CheckGolden("clients.csv", out.str());
}

TEST_CASE("the CSV has one row per phase, client and lane, and one for a lost worker without lanes") {
  const auto records = Records(GoldenReport());
  REQUIRE(records.size() == 5 + 4 + 2);
  CHECK(records[0].at("lane") == "0");
  CHECK(records[4].at("worker") == "2");
  CHECK(records[4].at("lane").empty());
  CHECK(records[4].at("state") == "lost");
  CHECK(records[4].at("bytes").empty());
}

TEST_CASE("a host name with a comma, a quote and a line break comes back whole, without codes for terminals") {
  CHECK(Records(GoldenReport())[2].at("client") == "n\303\266rd, \"zwei\"\n\\x1b[31m");
}

TEST_CASE("no cell of another host is a formula") {
  const std::pair<const char*, const char*> cells[] = {
      {"=1+1", "'=1+1"}, {"+cmd|'/c calc'!A1", "'+cmd|'/c calc'!A1"}, {"-2+3", "'-2+3"}, {"@SUM(A1)", "'@SUM(A1)"},
      {"\t=1", "'\t=1"}, {"\r=1", "'\r=1"}, {"-5", "-5"}, {"+1e3", "+1e3"}, {"-", "-"}, {"a=1", "a=1"}, {"", ""},
      {"bell\a", "bell\\x07"}, {"del\177", "del\\x7f"}};
  for (const auto& [name, cell] : cells) {
    v1::RunReport report = GoldenReport();
    report.mutable_phases(0)->mutable_clients(0)->set_host(name);
    INFO(name);
    CHECK(Records(report)[0].at("client") == cell);
  }
}

TEST_CASE("each character that needs quotes gets them by itself") {
  for (const std::string name : {"a,b", "a\"b", "a\nb", "a\rb", " a", "a ", "\""}) {
    v1::RunReport report = GoldenReport();
    report.mutable_phases(0)->mutable_clients(0)->set_host(name);
    INFO(name);
    CHECK(Records(report)[0].at("client") == name);
    CHECK(CsvText(report).find(",\"" + std::string(name == "\"" ? "\"\"" : name.substr(0, 1))) !=
          std::string::npos);
  }
}

TEST_CASE("a figure that is not known is an empty cell, a zero is 0") {
  const auto records = Records(GoldenReport());
  CHECK(records[0].at("full_bytes_per_s").empty());
  CHECK(records[3].at("bytes_per_s").empty());
  CHECK(records[0].at("start_us") == "0");
  v1::RunReport report = GoldenReport();
  report.mutable_phases(0)->clear_stonewall();
  CHECK(Records(report)[0].at("stonewall_at_s").empty());
}

TEST_CASE("metadata operations have no size of files and no rate of data, unless they moved some") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_metadata(true);
  phase.set_headline_in_ops(true);
  phase.set_bytes_per_lane(4 << 20);
  for (const uint64_t bytes : {0, 3901}) {
    phase.set_bytes(bytes);
    const auto record = Records(report)[0];
    CHECK(record.at("bytes_per_lane").empty());
    for (const char* name : {"bytes_per_s", "client_bytes_per_s", "headline_bytes_per_s",
                             "stonewalled_bytes_per_s", "children_bytes_per_s"}) {
      INFO(name);
      CHECK(record.at(name).empty() == (bytes == 0));
    }
  }
}

TEST_CASE("a row names the operation of its lane and phases.csv those of the phase") {
  v1::RunReport report = GoldenReport();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_operation("write+random-read");
  phase.mutable_clients(0)->mutable_workers(0)->mutable_lanes(1)->set_operation("random-read");
  const auto records = Records(report);
  CHECK(records[0].at("operation") == "write");
  CHECK(records[1].at("operation") == "random-read");
  CHECK(records[4].at("operation") == "write+random-read");  // of a lost worker without lanes
  std::ostringstream phases;
  REQUIRE(WriteReport(kPhasesCsvFormat, report, phases).ok());
  const auto rows = ReadCsv(phases.str());
  const auto column = std::find(rows[0].begin(), rows[0].end(), "operation") - rows[0].begin();
  CHECK(rows[1][static_cast<size_t>(column)] == "write+random-read");
}

TEST_CASE("states of lanes and codes of marks are words") {
  const auto records = Records(GoldenReport());
  CHECK(records[0].at("state") == "done");
  CHECK(records[1].at("state") == "stopped");
  CHECK(records[3].at("state") == "failed");
  CHECK(records[8].at("state") == "sat_out");
  CHECK(records[0].at("marks") == "partial too_short retransmits");
  CHECK(records[0].at("client_marks").empty());
  CHECK(records[2].at("client_marks") == "retransmits");
}

TEST_CASE("numbers are the shortest that read back the same") {
  v1::RunReport report = GoldenReport();
  report.mutable_phases(0)->mutable_clients(0)->mutable_workers(0)->mutable_lanes(0)->set_bytes_per_s(0.1);
  report.mutable_phases(0)->mutable_clients(0)->mutable_workers(0)->mutable_lanes(0)->set_bytes(
      18446744073709551615u);
  const auto records = Records(report);
  CHECK(records[0].at("bytes_per_s") == "0.1");
  CHECK(records[1].at("bytes_per_s") == "21000000");
  CHECK(records[1].at("open_s") == "0.0008");
  CHECK(records[0].at("bytes") == "18446744073709551615");
}

std::string PhasesText(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteReport(kPhasesCsvFormat, report, out).ok());
  return out.str();
}

TEST_CASE("phases.csv has one row per phase, so that its figures may be added up") {
  const v1::RunReport report = GoldenReport();
  const auto rows = ReadCsv(PhasesText(report));
  REQUIRE(rows.size() == 1 + 3);
  uint64_t bytes = 0;
  const auto column = [&rows](const std::string& name) {
    return static_cast<size_t>(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  for (size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].size() == rows[0].size());
    bytes += std::stoull(rows[i][column("phase_bytes")]);
  }
  CHECK(bytes == report.phases(0).bytes() + report.phases(1).bytes() + report.phases(2).bytes());
  CHECK(rows[1][column("operation")] == "write");
  CHECK(rows[1][column("full_bytes_per_s")].empty());
  CHECK(rows[1][column("clients")] == "2");
  CHECK(rows[1][column("workers")] == "3");
  CHECK(rows[1][column("workers_lost")] == "1");
  CHECK(rows[3][column("clients")] == "1");
}

TEST_CASE("phases.csv and result.csv say the same of a phase, in columns of the same names") {
  const auto lanes = ReadCsv(CsvText(GoldenReport())), phases = ReadCsv(PhasesText(GoldenReport()));
  size_t shared = 0;
  for (size_t i = 0; i < phases[0].size(); ++i) {
    const auto found = std::find(lanes[0].begin(), lanes[0].end(), phases[0][i]);
    if (found == lanes[0].end()) continue;
    INFO(phases[0][i]);
    CHECK(lanes[1][static_cast<size_t>(found - lanes[0].begin())] == phases[1][i]);
    ++shared;
  }
  CHECK(shared > 40);
}

TEST_CASE("a stream that failed is an error of the CSV writer") {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  CHECK(WriteReport(kLanesCsvFormat, GoldenReport(), out).code() == absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace iobench
