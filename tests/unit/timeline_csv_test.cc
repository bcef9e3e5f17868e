// timeline.csv: a row per phase, client and slice.
#include <limits>
#include <sstream>
#include <string>

#include "catch2/catch.hpp"
#include "coordinator/report/timeline/timeline_writer.h"

namespace iobench {
namespace {

constexpr char kTitles[] =
    "run_id,phase_index,repetition,phase,operation,scope,client,time_s,slice_s,bytes_per_s,ops_per_s\n";

std::string TimelineOf(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteTimelineCsv(report, out).ok());
  return out.str();
}

v1::RunReport ReportOfTwoClients() {
  v1::RunReport report;
  report.mutable_run()->set_id("r1");
  v1::PhaseReport& phase = *report.add_phases();
  phase.set_index(3);
  phase.set_repetition(1);
  phase.set_name("write");
  phase.set_operation("write");
  phase.set_bytes(1);
  phase.add_clients()->set_host("node01");
  phase.add_clients()->set_host("a,\"b\"");
  v1::PhaseCharts& charts = *phase.mutable_charts();
  charts.set_slice_s(0.1);
  for (const double rate : {300.0, 100.0, 50.0, 0.5}) charts.add_bytes_per_s(rate);
  for (const double rate : {3.0, 1.0}) charts.add_ops_per_s(rate);
  charts.add_clients()->add_per_s(0.1F);
  charts.add_clients()->add_per_s(200);
  charts.mutable_clients(1)->add_per_s(std::numeric_limits<float>::quiet_NaN());
  return report;
}

TEST_CASE("rows of all clients come first, then those of each client; unknown rates are empty") {
  CHECK(TimelineOf(ReportOfTwoClients()) == std::string(kTitles) +
                                                "r1,3,1,write,write,all,,0,0.1,300,3\n"
                                                "r1,3,1,write,write,all,,0.1,0.1,100,1\n"
                                                "r1,3,1,write,write,all,,0.2,0.1,50,\n"
                                                "r1,3,1,write,write,all,,0.3,0.1,0.5,\n"
                                                "r1,3,1,write,write,client,node01,0,0.1,0.1,\n"
                                                "r1,3,1,write,write,client,\"a,\"\"b\"\"\",0,0.1,200,\n"
                                                "r1,3,1,write,write,client,\"a,\"\"b\"\"\",0.1,0.1,,\n");
}

TEST_CASE("metadata operations have ops per second, and no bytes unless they write files") {
  v1::RunReport report = ReportOfTwoClients();
  v1::PhaseReport& phase = *report.mutable_phases(0);
  phase.set_metadata(true);
  phase.set_headline_in_ops(true);
  phase.set_bytes(0);
  phase.mutable_charts()->mutable_clients()->RemoveLast();
  CHECK(TimelineOf(report) == std::string(kTitles) +
                                  "r1,3,1,write,write,all,,0,0.1,,3\n"
                                  "r1,3,1,write,write,all,,0.1,0.1,,1\n"
                                  "r1,3,1,write,write,all,,0.2,0.1,,\n"
                                  "r1,3,1,write,write,all,,0.3,0.1,,\n"
                                  "r1,3,1,write,write,client,node01,0,0.1,,0.1\n");
}

TEST_CASE("a report without charts has only titles") {
  v1::RunReport report;
  report.add_phases()->set_name("write");
  CHECK(TimelineOf(report) == kTitles);
}

}  // namespace
}  // namespace iobench
