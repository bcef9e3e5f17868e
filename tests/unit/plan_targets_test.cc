#include "common/model/plan_targets.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

TEST_CASE("workers are spread over targets that do not say who") {
  v1::Plan plan;
  plan.add_targets()->set_path("/a");
  plan.add_targets()->set_path("/b");
  CHECK(TargetOfEachWorker(plan, 4) == std::vector<uint32_t>{0, 1, 0, 1});
}

TEST_CASE("a worker uses the first target that selects it") {
  v1::Plan plan;
  v1::Target& first = *plan.add_targets();
  first.mutable_who()->add_workers(1);
  first.mutable_who()->add_workers(2);
  v1::Target& second = *plan.add_targets();
  second.mutable_who()->add_workers(0);
  second.mutable_who()->add_workers(2);
  CHECK(TargetOfEachWorker(plan, 3) == std::vector<uint32_t>{1, 0, 0});
  CHECK(TargetOfEachWorker(plan, 4).back() == 1);  // selected by none: the fourth in turn
  CHECK(TargetOfEachWorker(plan, 1).size() == 1);  // those that a target selects need not exist
}

// In time proportional to their number: if the targets were searched for each worker, this would take minutes.
TEST_CASE("200,000 workers have a target each") {
  constexpr uint32_t kCount = 200'000;
  v1::Plan plan;
  for (uint32_t i = 0; i < kCount; ++i) plan.add_targets()->mutable_who()->add_workers(kCount - 1 - i);
  const std::vector<uint32_t> targets = TargetOfEachWorker(plan, kCount);
  CHECK(targets.front() == kCount - 1);
  CHECK(targets.back() == 0);
}

TEST_CASE("a phase that selects its target takes all workers there") {
  v1::Plan plan;
  for (int i = 0; i < 3; ++i) plan.add_targets();
  plan.add_phases();
  CHECK(OnlyTargets(plan).empty());
  CHECK(TargetInPhase(plan.phases(0), 1) == 1);
  CHECK(TargetsOfEachWorker(plan, 5).back() == std::vector<uint32_t>{1});
  plan.mutable_phases(0)->set_only_target(3);
  plan.add_phases()->set_only_target(1);
  CHECK(TargetInPhase(plan.phases(0), 1) == 2);
  CHECK(TargetInPhase(plan.phases(1), 1) == 0);
  CHECK(OnlyTargets(plan) == std::vector<uint32_t>{0, 2});
  CHECK(TargetsOfEachWorker(plan, 5).back() == std::vector<uint32_t>{0, 2});
}

TEST_CASE("what a worker has seen is found by the target's number, in whatever order it was added") {
  v1::WorkerTargets seen;
  for (const uint32_t target : {0u, 1u}) AddSeen(seen, target).set_mount_source(std::to_string(target));
  CHECK(seen.numbers().empty());  // not needed
  CHECK(SeenOf(seen, 1)->mount_source() == "1");
  CHECK(SeenOf(seen, 2) == nullptr);
  for (const uint32_t target : {7u, 3u}) AddSeen(seen, target).set_mount_source(std::to_string(target));
  REQUIRE(seen.targets_size() == 4);
  for (const int index : {0, 1, 2, 3}) {
    const uint32_t target = NumberOfSeen(seen, index);
    CHECK(seen.targets(index).mount_source() == std::to_string(target));
    CHECK(SeenOf(seen, target) == &seen.targets(index));
  }
  CHECK(NumberOfSeen(seen, 2) == 3);
  CHECK(NumberOfSeen(seen, 3) == 7);
  CHECK(SeenOf(seen, 2) == nullptr);
  MutableSeenOf(seen, 7)->set_network(true);
  CHECK(seen.targets(3).network());
}

TEST_CASE("a damaged record names targets that were not seen, or too few") {
  v1::WorkerTargets seen;
  seen.add_numbers(5);
  CHECK(SeenOf(seen, 5) == nullptr);
  seen.add_targets();
  seen.add_targets();
  CHECK(SeenOf(seen, 5) == &seen.targets(0));
  CHECK(NumberOfSeen(seen, 1) == UINT32_MAX);
}

TEST_CASE("a hundred thousand workers with a path each are a hundred thousand targets, at once") {
  std::vector<std::string> paths;
  for (int i = 0; i < 100'000; ++i) paths.push_back("/mnt/" + std::to_string(i));
  const std::vector<v1::Target> targets = TargetsOf(paths);
  REQUIRE(targets.size() == paths.size());
  CHECK(targets.back().path() == paths.back());
  CHECK(targets.back().who().workers(0) == 99'999);
}

TEST_CASE("workers with paths of their own are spread over targets by name") {
  const std::vector<std::string> different = {"/a", "/b", "/a"};
  const std::vector<v1::Target> targets = TargetsOf(different);
  REQUIRE(targets.size() == 2);
  CHECK(targets[0].path() == "/a");
  CHECK(targets[0].who().workers_size() == 2);
  CHECK(targets[0].who().workers(1) == 2);
  CHECK(targets[1].who().workers(0) == 1);
  const std::vector<std::string> equal = {"/a", "/a"};
  REQUIRE(TargetsOf(equal).size() == 1);
  CHECK(!TargetsOf(equal)[0].has_who());
}

}  // namespace
}  // namespace iobench
