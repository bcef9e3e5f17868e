#include "coordinator/selftest/selftest_report.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <string>

namespace iobench {
namespace {

v1::RunReport TwoClients() {
  v1::RunReport report;
  report.mutable_run()->set_transport("grpc");
  report.mutable_run()->set_worker_count(4);
  report.mutable_run()->set_lane_count(4);
  for (const char* host : {"c1", "c2"}) {
    v1::ClientReport& client = *report.add_clients();
    client.set_host(host);
    client.set_worker_count(2);
    client.set_clock("tsc");
    client.set_clock_read_ns(10);
    client.set_loop_ns(20);
  }
  report.mutable_clients(0)->set_same_clock(true);
  report.mutable_clients(1)->set_clock_offset_ns(-3e6);
  report.mutable_clients(1)->set_clock_error_ns(45'000);
  v1::PhaseReport& phase = *report.add_phases();
  phase.mutable_start()->set_skew_us(7);
  phase.mutable_start()->set_attempts(2);
  return report;
}

// 1 ms for the first part, 2 ms for the second … 8 ms for the last: 36 ms.
PhaseCost OneToEight() {
  return {.prepare_s = 0.001,
          .clocks_s = 0.002,
          .arm_s = 0.003,
          .wait_s = 0.004,
          .collect_s = 0.005,
          .check_s = 0.006,
          .analyse_s = 0.007,
          .save_s = 0.008,
          .cpu_s = 0.0004};
}

std::string Printed(const SelftestFigures& figures) {
  std::ostringstream out;
  PrintSelftest(figures, out);
  return out.str();
}

bool Holds(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a selftest shows the fixed cost and its parts, and CPU per worker and phase") {
  const v1::RunReport report = TwoClients();
  const std::string text = Printed(
      {.version = "1", .report = report, .costs = {OneToEight()}, .join_s = 0.25, .silence_count = 3});
  CHECK(Holds(text, "fixed cost of a phase   median 36.00 ms, max 36.00 ms"));
  CHECK(Holds(
      text,
      "prepare 1.00, clocks 2.00, arm 3.00, wait 4.00, collect 5.00, check 6.00, analyse 7.00, save 8.00 ms"));
  CHECK(Holds(text, "100 us of CPU per worker and phase,"));  // 400 us for four workers
  CHECK(Holds(text, "join                    250 ms"));
  CHECK(Holds(text, "silent workers          3"));
  CHECK(Holds(text, "median 7 us, max 7 us; 2 starts for 1 phases"));
}

TEST_CASE("the table has one row for each client, with its clock's bounds") {
  const v1::RunReport report = TwoClients();
  const std::string text = Printed({.version = "1", .report = report, .costs = {}});
  CHECK(Holds(text, "the same"));
  CHECK(Holds(text, "-3000"));
  CHECK(Holds(text, "45.0"));
  CHECK_FALSE(Holds(text, "RTT"));  // not measured
  CHECK(Holds(text, "1 other than the coordinator's, known to median 45.0 us"));
}

TEST_CASE("the network's figures stand beside the client that they belong to") {
  const v1::RunReport report = TwoClients();
  NetFigures second{};
  second.host = "c2";
  second.round_trip_median_us = 123.4;
  second.round_trip_p99_us = 567.8;
  second.to_bytes_per_s = 100.0 * (1 << 20);
  second.from_bytes_per_s = 50.0 * (1 << 20);
  second.all_to_bytes_per_s = second.all_from_bytes_per_s = NAN;
  const std::string text = Printed({.version = "1", .report = report, .costs = {}, .network = {second}});
  std::istringstream lines(text);
  std::string line, of_second;
  while (std::getline(lines, line)) {
    if (line.find("  c2 ") == 0) of_second = line;
  }
  CHECK(Holds(of_second, "123.4"));
  CHECK(Holds(of_second, "567.8"));
  CHECK(Holds(of_second, "100.0"));
  CHECK(Holds(of_second, "50.0"));
}

TEST_CASE("of simulated workers, neither starts nor clients are shown") {
  const v1::RunReport report = TwoClients();
  const std::string text = Printed({.version = "1", .report = report, .costs = {}, .simulated = true});
  CHECK(Holds(text, "4 simulated workers on 2 clients"));
  CHECK(Holds(text, "start skew              not measured"));
  CHECK_FALSE(Holds(text, "per client"));
}

TEST_CASE(
    "the median of an even number of values is between the two in the middle, and unknown ones do not count") {
  CHECK(MedianOfFinite({4, NAN, 1, 3, 2}) == 2.5);
  CHECK(MedianOfFinite({7, 1, 3}) == 3);
  CHECK(std::isnan(MedianOfFinite({NAN})));
  CHECK(LargestOf({1, NAN, 5}) == 5);
}

}  // namespace
}  // namespace iobench
