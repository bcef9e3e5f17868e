#include "coordinator/preflight/preflight_text.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/text/units.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

PreflightReport Report() {
  PreflightReport report;
  report.client_count = 3;
  report.worker_count = 3;
  report.findings.push_back({.severity = Severity::kFault,
                             .check = PreflightCheck::kPath,
                             .client = "node2",
                             .workers = {1},
                             .problem = "/mnt/\x1b[2J does not exist",
                             .advice = "mount it",
                             .of_client = true,
                             .alone = {}});
  report.findings.push_back({.severity = Severity::kWarning,
                             .check = PreflightCheck::kMemory,
                             .client = "",
                             .workers = {},
                             .problem = "little is free",
                             .advice = "",
                             .of_client = true,
                             .alone = {}});
  report.not_checked.push_back("same storage: there is only one worker");
  return report;
}

TEST_CASE("the table has a row for each finding, with what to do below what is wrong") {
  CHECK(PreflightText(Report(), 120) ==
        "preflight: 3 clients, 3 workers: 1 fault, 1 warning\n"
        "           client  check   what is wrong -> what to do\n"
        "  fault    node2   path    /mnt/?[2J does not exist\n"
        "                           -> mount it\n"
        "  warning  -       memory  little is free\n"
        "not checked: same storage: there is only one worker\n");
}

TEST_CASE("without findings, a line says so") {
  PreflightReport report;
  report.client_count = report.worker_count = 1;
  CHECK(PreflightText(report, 120) == "preflight: 1 client, 1 worker: no faults, no warnings\n");
}

TEST_CASE("what --fill writes is said for each file system, with the time that it takes at least") {
  std::vector<FillEstimate> fills(3);
  for (FillEstimate& fill : fills) {
    fill.path = "/mnt";
    fill.percent = 80;
    fill.space.set_total_bytes(100_GiB);
  }
  fills[0].space.set_free_bytes(60_GiB);
  fills[0].space.set_available_bytes(60_GiB);
  fills[0].bytes = 40_GiB;
  fills[1].space.set_free_bytes(10_GiB);
  fills[1].space.set_available_bytes(10_GiB);
  fills[2].space.Clear();
  CHECK(
      FillText(fills) ==
      "fill  /mnt: 100 GiB, 40.0 % in use; 40 GiB to reach 80 %: 40 s if all clients together reach 1 GiB/s\n"
      "fill  /mnt: 100 GiB, 90.0 % in use: fuller than the 80 % asked for, so nothing will be written\n"
      "fill  /mnt: the size of its file system is unknown, so nothing will be written\n");
  PreflightReport report = Report();
  report.fills = fills;
  CHECK(nlohmann::json::parse(PreflightJson(report))["fills"][0]["bytes"] == 40_GiB);
}

TEST_CASE("the JSON has the same findings") {
  const auto json = nlohmann::json::parse(PreflightJson(Report()));
  CHECK(json["schema"] == "cluster-iobench preflight 1");
  CHECK(json["ok"] == false);
  CHECK(json["clients"] == 3);
  REQUIRE(json["findings"].size() == 2);
  CHECK(json["findings"][0]["severity"] == "fault");
  CHECK(json["findings"][0]["check"] == "path");
  CHECK(json["findings"][0]["workers"] == nlohmann::json::array({1}));
  CHECK(json["findings"][0]["advice"] == "mount it");
  CHECK(json["not_checked"].size() == 1);
}

}  // namespace
}  // namespace iobench
