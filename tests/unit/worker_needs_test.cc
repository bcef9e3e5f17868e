#include "coordinator/launch/worker_needs.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

v1::Plan PlanOn(const std::vector<std::string>& paths) {
  v1::Plan plan;
  for (const std::string& path : paths) plan.add_targets()->set_path(path);
  plan.add_phases()->add_assignments()->mutable_operation()->set_name("write");
  return plan;
}

TEST_CASE("workers need the targets of the plan, each once") {
  const WorkerNeeds needs =
      NeedsOfWorkers(PlanOn({"/mnt/a b", "nfs://s/e", "/mnt/a b"}), TargetRoots::kOfPlan);
  CHECK(needs.Arguments() == " --root '/mnt/a b' --root nfs://s/e");
  CHECK(NeedsOfWorkers(PlanOn({"/mnt"}), TargetRoots::kOwnPaths).Arguments().empty());
}

TEST_CASE("workers that use no files need to say so, because a worker without a root does not join") {
  CHECK(NeedsOfWorkers({}, TargetRoots::kOfPlan).Arguments() == " --root none");
  CHECK(NeedsOfWorkers({}, TargetRoots::kOwnPaths).Arguments().empty());
}

TEST_CASE("workers need what existing files, traces and steps take") {
  v1::Plan plan = PlanOn({"/mnt"});
  plan.mutable_files()->add_existing_files("/data/set/1");
  plan.mutable_files()->add_existing_files("/file");
  v1::Trace& trace = *plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->mutable_trace();
  trace.set_read_file("/traces/in");
  trace.set_write_file("/logs/out");
  plan.mutable_phases(0)->add_before()->mutable_remount()->set_mount_point("/mnt");
  plan.mutable_phases(0)->add_before()->mutable_drop_caches();
  plan.mutable_stripe();
  const WorkerNeeds needs = NeedsOfWorkers(plan, TargetRoots::kOfPlan);
  CHECK(needs.roots == std::vector<std::string>{"/mnt", "/data/set", "/", "/traces", "/logs"});
  CHECK(needs.actions == "drop-caches,log-files,remount,stripe");
}

TEST_CASE("a server's workers need its own directory, and of the steps only what servers do") {
  v1::Plan plan = PlanOn({"/mnt"});
  plan.mutable_phases(0)->add_before()->mutable_remount()->set_mount_point("/mnt");
  plan.mutable_phases(0)->add_before()->mutable_drop_caches();
  CHECK(ServerArguments(v1::Plan(), 2).empty());
  CHECK(ServerArguments(plan, 0) == " --allow drop-caches");  // a sampler alone
  plan.set_server_path("/ex port");
  CHECK(ServerArguments(plan, 2) == " --server-workers 2 --root '/ex port' --allow drop-caches");
  plan.add_targets()->set_path("/ex port");
  plan.mutable_targets(1)->set_server(true);  // of a saved plan
  CHECK(NeedsOfWorkers(plan, TargetRoots::kOfPlan).roots == std::vector<std::string>{"/mnt"});
  CHECK(WorkersOfEachServer(5, 2) == 3);
}

}  // namespace
}  // namespace iobench
