#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "coordinator/analysis/summarize.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

TEST_CASE("a lost worker is left out of the totals and told of") {
  PhaseScript script = TwoLanes();
  script.Lane(2).Moves(99_GiB).EndsAt(1_s);
  script.Worker(2).IsLost("connection reset").RunsOn("node9", "boot9");
  const v1::PhaseReport report = script.Report();
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.bytes() == 15_GiB);
  CHECK(report.workers_lost() == 1);
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).client() == "node9");
  CHECK(report.errors(0).worker() == 2);
  CHECK(report.errors(0).lane() == -1);
  CHECK(report.errors(0).message() == "lost: connection reset");
  REQUIRE(report.clients_size() == 2);
  const v1::ClientPhaseReport& lost = report.clients(1);
  CHECK(std::isnan(lost.bytes_per_s()));
  CHECK(lost.bytes() == 0);
  CHECK(lost.workers(0).lost());
  CHECK(lost.workers(0).bytes() == 123);
  CHECK(report.clients(0).share_of_mean() == Approx(1));
}

TEST_CASE("a failed lane is left out of the totals and its error listed") {
  PhaseScript script = TwoLanes();
  script.Lane(2).Moves(1_GiB).EndsAt(1_s).FailsWith(28);
  script.Lane(3).SitsOut();
  const v1::PhaseReport report = script.Report();
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.stonewall().first_lane() == "node1 worker 0 lane 0");
  CHECK(report.lanes_failed() == 1);
  CHECK(report.lanes_sat_out() == 1);
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).client() == "node1");
  CHECK(report.errors(0).worker() == 2);
  CHECK(report.errors(0).lane() == 2);
  CHECK(report.errors(0).errno_value() == 28);
  CHECK(report.errors(0).file() == "lane2");
  CHECK(report.errors(0).offset() == 4096);
  CHECK(report.lanes_bytes_per_s().min() == Approx(kGiB));  // the failed one is not in the spread
  const v1::LanePhaseReport& failed = report.clients(0).workers(2).lanes(0);
  CHECK(failed.failed());
  CHECK(failed.bytes() == 1_GiB);
  CHECK(failed.measured_bytes() == 0);
  CHECK(std::isnan(failed.bytes_per_s()));
}

TEST_CASE("failed ops are summed by kind and errno, and lanes that went on after them count") {
  const PhaseScript script = TwoLanes();
  v1::PhaseRecord record = script.Record();
  const auto fails = [&record](int worker, v1::OpKind kind, int errno_value, uint64_t count) {
    v1::ErrorCount& error = *record.mutable_workers(worker)->mutable_lanes(0)->add_errors();
    error.set_kind(kind);
    error.set_errno_value(errno_value);
    error.set_count(count);
  };
  fails(0, v1::OP_READ, 5, 3);
  fails(1, v1::OP_READ, 5, 4);
  fails(1, v1::OP_READ, 0, 1);
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.lanes_failed() == 0);
  REQUIRE(report.failed_ops_size() == 2);
  CHECK(report.failed_ops(0).operation() == "read");
  CHECK(report.failed_ops(0).error() == "EIO");
  CHECK(report.failed_ops(0).count() == 7);
  CHECK(report.failed_ops(0).lanes() == 2);
  CHECK(report.failed_ops(1).error() == "short");
  CHECK(report.clients(0).workers(1).lanes(0).failed_ops() == 5);
  const auto& marks = report.marks();
  CHECK(std::count_if(marks.begin(), marks.end(), [](const v1::Mark& mark) {
          return mark.code() == "failed_ops" && mark.value() == 8;
        }) == 1);
}

TEST_CASE("a lane that did nothing counts as 0 in the spread") {
  PhaseScript script = TwoLanes();
  script.plan().set_stonewall(v1::STONEWALL_STOP);
  script.Lane(2).NeverStarts();
  const v1::PhaseReport report = script.Report();
  CHECK(report.lanes_bytes_per_s().min() == 0);
  CHECK(report.lanes_bytes_per_s().mean() == Approx(2 * kGiB / 3));
  CHECK(report.lanes_bytes_per_s().jain() == Approx(2.0 / 3));  // (1 + 1 + 0)^2 / (3 * 2)
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(std::isnan(report.throughput_bytes_per_s().all_active()));
  CHECK(report.start().skew_us() == Approx(0).margin(1e-3));
  CHECK(report.stragglers(0).find("node1 worker 2 lane 2: ") == 0);
  CHECK(report.stragglers(0).find("100 % under") != std::string::npos);
}

TEST_CASE("where everybody is lost there are no figures, and no crash") {
  PhaseScript script = TwoLanes();
  script.Worker(0).IsLost("gone");
  script.Worker(1).IsLost("gone");
  const v1::PhaseReport report = script.Report();
  CHECK(std::isnan(report.headline().bytes_per_s()));
  CHECK(std::isnan(report.throughput_bytes_per_s().parent()));
  CHECK(std::isnan(report.start().skew_us()));
  CHECK(std::isnan(report.stonewall().at_s()));
  CHECK(std::isnan(report.latency_us().p50()));
  CHECK(report.measured_bytes() == 0);
  CHECK(report.workers_lost() == 2);
}

TEST_CASE("an empty record gives an empty report") {
  const v1::PhaseReport report = SummarizePhase({}, {});
  CHECK(std::isnan(report.headline().bytes_per_s()));
  CHECK(report.clients_size() == 0);
}

TEST_CASE("a histogram that cannot be read is an error, not a smaller count") {
  PhaseScript script = TwoLanes();
  v1::PhaseRecord record = script.Record();
  record.mutable_workers(0)->mutable_lanes(0)->mutable_kinds(0)->mutable_latency()->set_count(7);
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).lane() == 0);
  CHECK(report.latency_us().count() == 2000);
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
}

}  // namespace
}  // namespace iobench
