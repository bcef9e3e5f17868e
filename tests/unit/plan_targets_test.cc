#include "common/model/plan_targets.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

TEST_CASE("workers are spread over targets that do not say who") {
  v1::Plan plan;
  plan.add_targets()->set_path("/a");
  plan.add_targets()->set_path("/b");
  CHECK(TargetOfWorker(plan, 0) == 0);
  CHECK(TargetOfWorker(plan, 3) == 1);
}

TEST_CASE("a worker uses the first target that selects it") {
  v1::Plan plan;
  v1::Target& first = *plan.add_targets();
  first.mutable_who()->add_workers(1);
  first.mutable_who()->add_workers(2);
  v1::Target& second = *plan.add_targets();
  second.mutable_who()->add_workers(0);
  second.mutable_who()->add_workers(2);
  CHECK(TargetOfWorker(plan, 0) == 1);
  CHECK(TargetOfWorker(plan, 1) == 0);
  CHECK(TargetOfWorker(plan, 2) == 0);
}

TEST_CASE("a phase that selects its target takes all workers there") {
  v1::Plan plan;
  for (int i = 0; i < 3; ++i) plan.add_targets();
  plan.add_phases();
  CHECK(OnlyTargets(plan).empty());
  CHECK(TargetOfWorker(plan, plan.phases(0), 4) == 1);
  CHECK(TargetsOfWorker(plan, 4) == std::vector<uint32_t>{1});
  plan.mutable_phases(0)->set_only_target(3);
  plan.add_phases()->set_only_target(1);
  CHECK(TargetOfWorker(plan, plan.phases(0), 4) == 2);
  CHECK(TargetOfWorker(plan, plan.phases(1), 4) == 0);
  CHECK(OnlyTargets(plan) == std::vector<uint32_t>{0, 2});
  CHECK(TargetsOfWorker(plan, 4) == std::vector<uint32_t>{0, 2});
}

}  // namespace
}  // namespace iobench
