#include "coordinator/analysis/across/worker_scaling.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace iobench {
namespace {

// A sweep over workers, two of them on each client.
class Run {
 public:
  Run& Phase(const char* operation, uint32_t workers, double rate) {
    v1::Phase& planned = *plan().add_phases();
    planned.set_name(std::string(operation) + " by " + std::to_string(workers));
    v1::Assignment& assignment = *planned.add_assignments();
    assignment.mutable_operation()->set_name(operation);
    for (uint32_t i = 0; i < workers; ++i) assignment.mutable_who()->add_workers(i);
    return Measured(static_cast<uint32_t>(plan().phases_size()) - 1, workers, rate);
  }
  Run& Measured(uint32_t index, uint32_t workers, double rate) {
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_index(index);
    phase.set_lane_count(workers);
    phase.mutable_headline()->set_bytes_per_s(rate);
    for (uint32_t i = 0; i < workers; ++i) {
      if (i % 2 == 0) phase.add_clients();
      phase.mutable_clients(static_cast<int>(i / 2))->add_workers()->set_worker(i);
    }
    return *this;
  }
  v1::PhaseReport& last() { return *report.mutable_phases(report.phases_size() - 1); }
  v1::Plan& plan() { return *report.mutable_run()->mutable_plan(); }
  google::protobuf::RepeatedPtrField<v1::WorkerScalingReport> Scaling() {
    UpdateWorkerScaling(report);
    return report.worker_scaling();
  }

  v1::RunReport report;
};

TEST_CASE("scaling is the rate per worker against that of the fewest workers") {
  Run run;
  run.Phase("write", 1, 100).Phase("read", 1, 200);
  run.Phase("write", 2, 180).Phase("read", 2, 400);
  run.Phase("write", 4, 240).Phase("read", 4, 1000);
  const auto scaling = run.Scaling();
  REQUIRE(scaling.size() == 2);
  CHECK(scaling[0].operation() == "write");
  REQUIRE(scaling[0].points_size() == 3);
  CHECK(scaling[0].points(0).scaling() == 1);
  CHECK(scaling[0].points(1).scaling() == Approx(0.9));  // 180 / (2 x 100)
  const v1::WorkerScalingPoint& four = scaling[0].points(2);
  CHECK(four.scaling() == Approx(0.6));  // 240 / (4 x 100)
  CHECK(four.worker_count() == 4);
  CHECK(four.client_count() == 2);
  CHECK(four.lane_count() == 4);
  CHECK(four.rate() == 240);
  CHECK(four.rate_per_client() == 120);
  CHECK(scaling[1].points(2).scaling() == Approx(1.25));
}

TEST_CASE("seeks scale in ops per second") {
  Run run;
  run.Phase("seeks", 1, 1000).last().set_headline_in_ops(true);
  run.last().mutable_headline()->set_ops_per_s(10);
  run.Phase("seeks", 2, 1000).last().set_headline_in_ops(true);
  run.last().mutable_headline()->set_ops_per_s(30);
  const auto scaling = run.Scaling();
  REQUIRE(scaling.size() == 1);
  CHECK(scaling[0].in_ops());
  CHECK(scaling[0].points(1).rate() == 30);
  CHECK(scaling[0].points(1).scaling() == Approx(1.5));
}

TEST_CASE("of repetitions the median counts, without those that are not whole") {
  Run run;
  run.Phase("write", 1, 100).Phase("write", 2, 200);
  run.Measured(2, 1, 100).Measured(3, 2, 160).Measured(4, 1, 100).Measured(5, 2, 20);
  run.last().set_not_whole("1 lane sat out");
  const auto scaling = run.Scaling();
  REQUIRE(scaling.size() == 1);
  CHECK(scaling[0].points(1).rate() == 180);  // of 200 and 160
  CHECK(scaling[0].points(1).scaling() == Approx(0.9));
}

TEST_CASE("without the first point nothing is known of scaling") {
  Run run;
  run.Phase("write", 1, std::numeric_limits<double>::quiet_NaN()).Phase("write", 2, 200);
  const auto scaling = run.Scaling();
  REQUIRE(scaling.size() == 1);
  CHECK(std::isnan(scaling[0].points(1).scaling()));
  CHECK(scaling[0].points(1).rate() == 200);
}

TEST_CASE("of a phase by all workers it need not be said who they are") {
  Run run;
  run.Phase("write", 2, 200).Phase("write", 4, 200);
  run.report.mutable_run()->set_worker_count(4);
  for (int i = 0; i < 3; ++i) run.report.add_clients();
  run.last().clear_clients();
  const auto scaling = run.Scaling();
  REQUIRE(scaling.size() == 1);
  CHECK(scaling[0].points(1).worker_count() == 4);
  CHECK(scaling[0].points(1).client_count() == 3);
}

TEST_CASE("only a sweep over workers has scaling") {
  Run run;
  run.Phase("write", 2, 100).Phase("read", 1, 200);
  CHECK(run.Scaling().empty());
  run.plan().mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_name("write");
  run.plan().mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_direct(true);
  CHECK(run.Scaling().empty());
  run.plan().mutable_phases(1)->mutable_assignments(0)->mutable_operation()->set_direct(false);
  CHECK(run.Scaling().size() == 1);
}

}  // namespace
}  // namespace iobench
