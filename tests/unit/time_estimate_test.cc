#include "coordinator/preflight/time_estimate.h"

#include <catch2/catch.hpp>

#include "common/text/units.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

// Two lanes per worker, 1 GiB each.
v1::Plan PlanOf(std::initializer_list<const char*> operations) {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt");
  plan.set_lanes_per_worker(2);
  plan.set_repetitions(1);
  plan.mutable_files()->set_bytes_per_lane(1_GiB);
  plan.mutable_files()->set_files_per_lane(1);
  for (const char* const name : operations) {
    v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
    operation.set_name(name);
    operation.set_engine("posix");
    operation.set_record_bytes(1_MiB);
  }
  CompletePlan(plan);
  return plan;
}

TEST_CASE("phases with a time limit and rests are added up exactly, over all repetitions") {
  v1::Plan plan = PlanOf({"write", "read"});
  plan.set_repetitions(3);
  for (v1::Phase& phase : *plan.mutable_phases()) phase.mutable_stop()->set_time_s(10);
  plan.mutable_phases(1)->add_before()->mutable_rest()->set_seconds(2);
  const TimeEstimate estimate = EstimateTime(plan, 4);
  CHECK(estimate.timed_s == 3 * (10 + 10 + 2));
  CHECK(estimate.timed_phases == 6);
  CHECK(estimate.bytes == 0);
  CHECK(EstimateText(estimate, 0).find("1 min 06 s in 6 phases") != std::string::npos);
}

TEST_CASE("a rest that the first phase of the run goes without counts in all repetitions but the first") {
  v1::Plan plan = PlanOf({"write", "read"});
  for (v1::Phase& phase : *plan.mutable_phases()) {
    phase.mutable_stop()->set_time_s(10);
    phase.add_before()->mutable_rest()->set_seconds(2);
    phase.mutable_before(0)->mutable_rest()->set_not_first(true);
  }
  plan.set_repetitions(3);
  CHECK(EstimateTime(plan, 4).timed_s == 3 * (10 + 10) + (2 + 3) * 2);
  plan.set_repetitions(1);
  CHECK(EstimateTime(plan, 4).timed_s == 10 + 10 + 2);
  plan.set_soak_s(3600);  // a round
  CHECK(EstimateTime(plan, 4).timed_s == 10 + 10 + 2 * 2);
}

TEST_CASE("phases by size are estimated by what they move, and the assumed rate is said") {
  v1::Plan plan = PlanOf({"write", "random-read"});
  plan.mutable_phases(1)->mutable_stop()->set_max_ops(100);
  const TimeEstimate estimate = EstimateTime(plan, 4);
  CHECK(estimate.timed_s == 0);
  CHECK(estimate.bytes == 8 * 1_GiB + 8 * 100_MiB);
  CHECK(estimate.at_most_s == 0);
  CHECK(
      EstimateText(estimate, 0) ==
      "time  unknown for 2 phases by size, which move 8.78 GiB in all: 8.78 s if all clients together reach "
      "1 GiB/s\n"
      "      creating and removing files comes on top\n");
}

TEST_CASE("each part of a mix is estimated by its own operation, in whatever order") {
  const bool names_first = GENERATE(false, true);
  v1::Plan plan = PlanOf({"write"});
  v1::Phase& mix = *plan.mutable_phases(0);
  mix.mutable_stop()->set_max_ops(10);
  mix.clear_assignments();
  for (const bool names : {names_first, !names_first}) {
    v1::Assignment& part = *mix.add_assignments();
    part.mutable_operation()->set_name(names ? "create" : "write");
    part.mutable_operation()->set_engine(names ? "metadata" : "posix");
    part.mutable_operation()->set_record_bytes(names ? 0 : 4_KiB);
    if (names) part.mutable_operation()->mutable_tree()->set_items_per_lane(1000);
    part.mutable_who()->add_workers(names ? 0 : 1);
    if (!names) part.mutable_who()->add_workers(2);
  }
  const TimeEstimate estimate = EstimateTime(plan, 3);
  CHECK(estimate.items == 2 * 1000);           // two lanes of one worker
  CHECK(estimate.bytes == 2 * 2 * 10 * 4096);  // two lanes each of two workers, ten records
  CHECK(estimate.item_phases == 1);
  CHECK(estimate.sized_phases == 1);
  CHECK(PartsText(plan, mix, 3) == "2 parts, 160 KiB and 2,000 items in all");
}

TEST_CASE("a dry run says of a mix how long it takes, or what its parts move") {
  v1::Plan plan = PlanOf({"write"});
  v1::Phase& mix = *plan.mutable_phases(0);
  *mix.add_assignments() = v1::Assignment(mix.assignments(0));
  for (int i = 0; i < 2; ++i)
    mix.mutable_assignments(i)->mutable_who()->add_workers(static_cast<uint32_t>(i));
  CHECK(PartsText(plan, mix, 2) == "2 parts, 4 GiB in all");  // two lanes of each worker, 1 GiB each
  mix.mutable_stop()->set_time_s(10);
  CHECK(PartsText(plan, mix, 2) == "2 parts, for 10 s");
  mix.mutable_stop()->clear_time_s();
  for (v1::Assignment& part : *mix.mutable_assignments()) part.mutable_operation()->set_engine("null");
  CHECK(PartsText(plan, mix, 2) == "2 parts, none of which moves anything");
}

TEST_CASE("a mix gets what is left as its limit if any of its parts moves anything") {
  v1::Phase mix = PlanOf({"write"}).phases(0);
  *mix.add_assignments() = mix.assignments(0);
  mix.mutable_assignments(0)->mutable_operation()->set_engine("null");
  CHECK(FitInto(mix, 4)->phase.stop().deadline_s() == 4);
  mix.mutable_assignments(1)->mutable_operation()->set_engine("null");
  CHECK_FALSE(FitInto(mix, 4)->shortened);
}

TEST_CASE("an upper bound is given only if every phase has one") {
  v1::Plan plan = PlanOf({"write", "read"});
  plan.mutable_phases(0)->mutable_stop()->set_deadline_s(5);
  CHECK(EstimateTime(plan, 1).at_most_s == 0);
  plan.mutable_phases(1)->mutable_stop()->set_deadline_s(7);
  CHECK(EstimateTime(plan, 1).at_most_s == 12);
  CHECK(EstimateText(EstimateTime(plan, 1), 9).find("at most 9 s for all phases (--max-duration)") !=
        std::string::npos);
}

TEST_CASE("a phase gets what is left as its limit, if that is less than its own") {
  v1::Phase timed = PlanOf({"write"}).phases(0);
  timed.mutable_stop()->set_time_s(10);
  CHECK_FALSE(FitInto(timed, 10)->shortened);
  CHECK(FitInto(timed, 10)->phase.stop().time_s() == 10);
  CHECK(FitInto(timed, 4)->shortened);
  CHECK(FitInto(timed, 4)->phase.stop().time_s() == 4);
  CHECK(FitInto(timed, 4)->phase.stop().deadline_s() == 0);

  v1::Phase sized = PlanOf({"write"}).phases(0);
  CHECK(FitInto(sized, 4)->phase.stop().deadline_s() == 4);
  sized.mutable_stop()->set_deadline_s(3);
  CHECK(FitInto(sized, 4)->phase.stop().deadline_s() == 3);
  CHECK_FALSE(FitInto(sized, 4)->shortened);
}

TEST_CASE("a phase is not begun if nothing of it would be measured") {
  v1::Phase phase = PlanOf({"write"}).phases(0);
  CHECK_FALSE(FitInto(phase, 0.05).has_value());
  CHECK_FALSE(FitInto(phase, -3).has_value());
  phase.mutable_stop()->set_time_s(10);
  phase.mutable_stop()->set_warmup_s(2);
  CHECK_FALSE(FitInto(phase, 2).has_value());
  CHECK(FitInto(phase, 2.5).has_value());
  v1::Arrivals& arrivals = *phase.mutable_assignments(0)->mutable_operation()->mutable_arrivals();
  arrivals.set_burst_s(1);
  arrivals.set_burst_every_s(6);  // workers refuse a phase that is shorter
  CHECK_FALSE(FitInto(phase, 5).has_value());
  CHECK(FitInto(phase, 6)->phase.stop().time_s() == 6);
}

}  // namespace
}  // namespace iobench
