// What Explain takes from the plan and the record of a phase.
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/analysis/explain/explain.h"

namespace iobench {
namespace {

// What the plan and the record of a phase say; its report and figures do not matter.
ExplainFacts FactsOf(const v1::RunRecord& run, const v1::PhaseRecord& phase, const AlignedPhase& aligned,
                     const PhaseTraits& traits = {}) {
  const ClientRoster roster(run);
  const WorkerAssignments assignments(phase.phase(), roster.worker_count());
  const PhaseFigures figures{};
  return ExplainFactsOf({.run = run,
                         .phase = phase,
                         .traits = traits,
                         .roster = roster,
                         .assignments = assignments,
                         .aligned = aligned,
                         .figures = figures});
}
// The same with three lanes.
ExplainFacts FactsOf(const v1::RunRecord& run, const v1::PhaseRecord& phase) {
  const v1::LaneResult did_nothing;
  AlignedPhase aligned;
  aligned.lanes.resize(3);
  for (AlignedLane& lane : aligned.lanes) lane.result = &did_nothing;
  return FactsOf(run, phase, aligned);
}

TEST_CASE("a phase has synchronous writes if all its operations have, with any of the options") {
  using Set = void (v1::Operation::*)(bool);
  for (const Set set : {&v1::Operation::set_sync, &v1::Operation::set_dsync, &v1::Operation::set_rsync,
                        &v1::Operation::set_direct}) {
    v1::PhaseRecord phase;
    v1::Operation& first = *phase.mutable_phase()->add_assignments()->mutable_operation();
    CHECK_FALSE(FactsOf({}, phase).sync_writes);
    (first.*set)(true);
    CHECK(FactsOf({}, phase).sync_writes);
    phase.mutable_phase()->add_assignments();
    CHECK_FALSE(FactsOf({}, phase).sync_writes);
  }
  CHECK_FALSE(FactsOf({}, {}).sync_writes);
}

TEST_CASE("ops in flight at most are lanes x depth, if all operations have the same") {
  v1::PhaseRecord phase;
  v1::Operation& first = *phase.mutable_phase()->add_assignments()->mutable_operation();
  CHECK(FactsOf({}, phase).in_flight == 3);
  first.set_depth(4);
  CHECK(FactsOf({}, phase).in_flight == 12);
  phase.mutable_phase()->add_assignments();
  CHECK(std::isnan(FactsOf({}, phase).in_flight));
}

TEST_CASE("lanes' time before the end of the warm-up is known, also of lanes that ended before") {
  v1::PhaseRecord phase;
  phase.set_start_coord_ns(100 * kNanosPerSecond);
  PhaseTraits traits;
  traits.warmup_s = 5;
  AlignedPhase aligned;
  const auto add = [&](double first_op_s, double region_end_s) {
    AlignedLane& lane = aligned.lanes.emplace_back();
    lane.started = true;
    lane.first_op = {NanosFrom(first_op_s)};
    lane.region_end = {NanosFrom(region_end_s)};
  };
  add(101, 120);
  add(100, 103);
  add(106, 120);
  aligned.lanes.emplace_back();  // it did not start
  CHECK(FactsOf({}, phase, aligned, traits).warmup_lanes_s == Approx(4 + 3));
  traits.warmup_s = 0;
  CHECK(FactsOf({}, phase, aligned, traits).warmup_lanes_s == 0);
}

TEST_CASE("bytes written are those of all lanes with an engine that writes, direct or not") {
  v1::LaneResult lane;
  lane.set_region_bytes(2000);  // the kinds are of half of it, after the warm-up
  for (const auto& [kind, bytes] :
       {std::pair(v1::OP_READ, uint64_t{600}), std::pair(v1::OP_WRITE, uint64_t{300}),
        std::pair(v1::OP_UPDATE, uint64_t{100})}) {
    v1::KindResult& result = *lane.add_kinds();
    result.set_kind(kind);
    result.set_bytes(bytes);
  }
  AlignedPhase aligned;
  aligned.lanes.resize(2);
  for (AlignedLane& each : aligned.lanes) each.result = &lane;
  v1::PhaseRecord phase;
  v1::Operation& operation = *phase.mutable_phase()->add_assignments()->mutable_operation();
  operation.set_engine("posix");
  CHECK(FactsOf({}, phase, aligned).written_bytes == Approx(2 * 800));
  operation.set_direct(true);
  CHECK(FactsOf({}, phase, aligned).written_bytes == Approx(2 * 800));
  operation.set_engine("null");
  CHECK(FactsOf({}, phase, aligned).written_bytes == 0);
}

TEST_CASE("pauses are those that the plan asks for, whether or not they count in the lane's own time") {
  v1::LaneResult lane;
  lane.set_pause_s(1.5);
  lane.set_region_ops(20);
  lane.set_operation("write");
  AlignedPhase aligned;
  aligned.lanes.resize(2);
  for (AlignedLane& each : aligned.lanes) each.result = &lane;
  v1::PhaseRecord phase;
  v1::Operation& operation = *phase.mutable_phase()->add_assignments()->mutable_operation();
  operation.set_name("write");
  operation.mutable_between()->set_think_ms(100);
  CHECK(FactsOf({}, phase, aligned).paused_lanes_s == Approx(2 * 1.5));
  operation.mutable_between()->set_think_in_throughput(true);
  CHECK(FactsOf({}, phase, aligned).paused_lanes_s == Approx(2 * (1.5 + 20 * 0.1)));
  phase.mutable_phase()->add_assignments()->mutable_operation()->set_name("read");
  CHECK(FactsOf({}, phase, aligned).paused_lanes_s == Approx(2 * (1.5 + 20 * 0.1)));
  lane.set_operation("read");
  CHECK(FactsOf({}, phase, aligned).paused_lanes_s == Approx(2 * 1.5));
}

TEST_CASE("reads in order and writes use the clients' memory if all operations do") {
  v1::PhaseRecord phase;
  v1::Operation& operation = *phase.mutable_phase()->add_assignments()->mutable_operation();
  const auto facts = [&](const char* name) {
    operation.set_name(name);
    return FactsOf({}, phase);
  };
  for (const char* name : {"read", "refread", "pread"}) CHECK(facts(name).sequential_reads);
  for (const char* name : {"random-read", "write", "sequential-mix", "stat"})
    CHECK_FALSE(facts(name).sequential_reads);
  for (const char* name : {"write", "random-write", "putc"}) CHECK(facts(name).buffered_writes);
  for (const char* name : {"read", "update", "random-mix", "create"})
    CHECK_FALSE(facts(name).buffered_writes);
  operation.set_sync(true);
  CHECK_FALSE(facts("write").buffered_writes);
  CHECK(facts("read").sequential_reads);
  operation.set_direct(true);
  CHECK_FALSE(facts("read").sequential_reads);
  operation.set_direct(false);
  operation.set_engine("libnfs");
  CHECK_FALSE(facts("read").sequential_reads);
  operation.clear_engine();
  CHECK(facts("read").same_work);
  phase.mutable_phase()->add_assignments()->mutable_operation()->set_name("write");
  CHECK_FALSE(facts("read").sequential_reads);
  CHECK_FALSE(facts("read").same_work);
}

TEST_CASE("the read-ahead is the largest of the mounts, if all tell theirs") {
  v1::RunRecord run;
  v1::PhaseRecord phase;
  phase.mutable_phase()->add_assignments();
  for (const char* kib : {"128", "16"}) {
    v1::TargetFacts& target = *run.add_targets()->add_targets();
    target.set_filesystem("nfs4");
    (*target.mutable_settings())["read_ahead_kb"] = kib;
  }
  CHECK(FactsOf(run, phase).read_ahead_bytes == 128 * 1024);
  run.mutable_targets(0)->mutable_targets(0)->clear_settings();
  CHECK(std::isnan(FactsOf(run, phase).read_ahead_bytes));
}

TEST_CASE("servers have the processors of their samplers, in the order of the phase") {
  v1::RunRecord run;
  run.add_samplers()->set_processors(8);
  run.add_samplers()->set_processors(16);
  v1::PhaseRecord phase;
  phase.mutable_phase()->add_assignments();
  phase.add_servers()->set_sampler(1);
  phase.add_servers()->set_sampler(0);
  CHECK(FactsOf(run, phase).server_processors == std::vector<double>{16, 8});
  phase.add_servers()->set_sampler(2);
  CHECK(std::isnan(FactsOf(run, phase).server_processors[2]));
  phase.mutable_servers(2)->set_sampler(UINT32_MAX);  // in a damaged record
  CHECK(std::isnan(FactsOf(run, phase).server_processors[2]));
}

}  // namespace
}  // namespace iobench
