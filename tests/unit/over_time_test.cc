#include "coordinator/analysis/explain/over_time.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "coordinator/analysis/explain/explain.h"

namespace iobench {
namespace {

// Two clients with a lane each, on the coordinator's clock, with points (s, ops) on their timelines.
struct Recorded {
  v1::RunRecord run;
  v1::PhaseRecord phase;
  v1::PhaseReport report;
  PhaseTraits traits;
  AlignedPhase aligned;
  v1::LaneResult lanes[2];
  ClockMap clock = ClockMap::Same();

  Recorded() {
    traits.headline_in_ops = true;
    phase.mutable_phase()->add_assignments();
    for (const char* host : {"lab1", "lab2"}) {
      v1::WorkerFacts& worker = *run.add_workers();
      worker.set_host(host);
      worker.set_boot_id(host);
    }
    aligned.lanes.resize(2);
    for (uint32_t n : {0u, 1u}) {
      AlignedLane& lane = aligned.lanes[n];
      lane.result = &lanes[n];
      lane.worker = n;
      lane.clock = &clock;
      report.add_clients()->add_workers()->set_worker(n);
    }
  }
  void Point(int lane, double s, uint64_t ops) {  // in the order of time
    v1::LaneResult& result = lanes[lane];
    v1::Timeline& timeline = *result.mutable_timeline();
    int64_t at = 0;
    uint64_t done = 0;
    for (int i = 0; i < timeline.ops_size(); ++i) {
      at += timeline.at_worker_ns(i);
      done += timeline.ops(i);
    }
    timeline.add_at_worker_ns(NanosFrom(s) - at);
    timeline.add_ops(ops - done);
    timeline.add_bytes(0);
    AlignedLane& aligned_lane = aligned.lanes[static_cast<size_t>(lane)];
    if (!aligned_lane.started) {
      aligned_lane.first_op = {NanosFrom(s)};
      result.set_first_op_worker_ns(NanosFrom(s));
    }
    aligned_lane.started = true;
    aligned_lane.ops_end = aligned_lane.region_end = {NanosFrom(s)};
    result.set_ops_end_worker_ns(NanosFrom(s));
    result.set_region_end_worker_ns(NanosFrom(s));
    result.set_region_ops(ops);
    result.set_ops(ops);
  }
  OverTime Get() const {
    const ClientRoster roster(run);
    const WorkerAssignments assignments(phase.phase(), roster.worker_count());
    const PhaseFigures figures{};
    return OverTimeOf({.run = run,
                       .phase = phase,
                       .traits = traits,
                       .roster = roster,
                       .assignments = assignments,
                       .aligned = aligned,
                       .figures = figures},
                      report);
  }
};

TEST_CASE("rates are of the time in which all lanes had work, without the warm-up") {
  Recorded made;
  made.phase.set_start_coord_ns(NanosFrom(0));
  made.traits.warmup_s = 2;
  made.Point(0, 0, 0);
  made.Point(0, 2, 1000);  // in the warm-up
  made.Point(0, 12, 1100);
  made.Point(1, 0, 0);
  made.Point(1, 2, 10);
  made.Point(1, 8, 310);  // the first to end
  const OverTime over_time = made.Get();
  CHECK(over_time.seconds == Approx(6));
  REQUIRE(over_time.lane_rates.size() == 2);
  REQUIRE(over_time.lane_rates[0].size() == 120);  // of 50 ms
  for (const double rate : over_time.lane_rates[0]) CHECK(rate == Approx(10));
  for (const double rate : over_time.lane_rates[1]) CHECK(rate == Approx(50));
}

TEST_CASE("a phase of less than a second has no rates over time") {
  Recorded made;
  for (int lane : {0, 1}) {
    made.Point(lane, 1, 0);
    made.Point(lane, 1.99, 100);
  }
  CHECK(made.Get().lane_rates.empty());
}

TEST_CASE("lanes stand still together where their stalls overlap") {
  Recorded made;
  for (int lane : {0, 1}) {
    made.Point(lane, 10, 0);
    made.Point(lane, 20, 1000);
  }
  const auto gap = [&made](int lane, double from, double to) {
    v1::Gap& added = *made.lanes[lane].add_gaps();
    added.set_begin_worker_ns(NanosFrom(from));
    added.set_end_worker_ns(NanosFrom(to));
  };
  gap(0, 12, 15);
  gap(1, 18, 19.5);
  CHECK(made.Get().stalled_s == 0);
  gap(0, 17.5, 19.3);
  CHECK(made.Get().stalled_s == Approx(1.3));
  CHECK(made.Get().stalled_share == Approx(0.13));
}

TEST_CASE("the first op is known if the timeline has it by itself") {
  Recorded made;
  made.Point(0, 1, 0);
  made.Point(0, 1.25, 2);
  made.Point(1, 1, 0);
  CHECK(std::isnan(made.Get().first_op_us));
  made.Point(1, 1.5, 1);
  CHECK(made.Get().first_op_us == Approx(500'000));
}

}  // namespace
}  // namespace iobench
