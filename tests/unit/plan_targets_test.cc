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

}  // namespace
}  // namespace iobench
