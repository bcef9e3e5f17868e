#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "coordinator/plan/layout.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/server_phases.h"

namespace iobench {
namespace {

v1::Phase& AddClientsPhase(const std::string& operation, v1::Plan& plan) {
  v1::Phase& phase = *plan.add_phases();
  phase.set_name(operation);
  phase.add_assignments()->mutable_operation()->set_name(operation);
  phase.mutable_assignments(0)->mutable_operation()->set_record_bytes(4096);
  return phase;
}

v1::Plan WriteAndReadByServers() {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt/nfs");
  plan.mutable_files()->set_bytes_per_lane(1 << 20);
  plan.set_server_path("/export");
  AddClientsPhase("write", plan).set_score(v1::SCORE_BANDWIDTH);
  AddClientsPhase("read", plan);
  CompletePlan(plan);
  return plan;
}

std::vector<uint32_t> Selected(const v1::WorkerSelector& who) {
  return {who.workers().begin(), who.workers().end()};
}

TEST_CASE("the servers do each phase after the clients have done all, with as many workers") {
  v1::Plan plan = WriteAndReadByServers();
  AddServerPhases(3, 1, plan);
  REQUIRE(plan.phases_size() == 4);
  CHECK(plan.phases(0).name() == "write");
  CHECK(plan.phases(1).name() == "read");
  CHECK(plan.phases(2).name() == "write on the server");
  CHECK(plan.phases(2).on_servers().phase() == "write");
  CHECK(plan.phases(2).score() == v1::SCORE_NONE);
  CHECK(plan.phases(0).score() == v1::SCORE_BANDWIDTH);
  CHECK(Selected(plan.phases(0).assignments(0).who()) == std::vector<uint32_t>{0, 1, 2});
  CHECK(Selected(plan.phases(3).assignments(0).who()) == std::vector<uint32_t>{3, 4, 5});
  const std::string once = plan.SerializeAsString();
  AddServerPhases(3, 1, plan);  // a saved plan has them
  CHECK(plan.SerializeAsString() == once);
}

TEST_CASE("a phase of some workers is done by those that stand for them") {
  v1::Plan plan = WriteAndReadByServers();
  plan.mutable_phases(0)->mutable_assignments(0)->mutable_who()->add_workers(2);
  AddServerPhases(3, 2, plan);
  CHECK(Selected(plan.phases(2).assignments(0).who()) == std::vector<uint32_t>{5});
  CHECK(plan.phases(2).name() == "write on the servers");
}

TEST_CASE("servers drop their caches, and leave mounts and memory of clients alone") {
  v1::Plan plan = WriteAndReadByServers();
  plan.mutable_phases(1)->add_before()->mutable_remount()->set_mount_point("/mnt/nfs");
  plan.mutable_phases(1)->add_before()->mutable_eat_memory()->set_percent(10);
  plan.mutable_phases(1)->add_before()->mutable_drop_caches();
  AddServerPhases(1, 1, plan);
  CHECK(plan.phases(1).before_size() == 3);
  REQUIRE(plan.phases(3).before_size() == 1);
  CHECK(plan.phases(3).before(0).has_drop_caches());
}

TEST_CASE("each server has a target of its own, also where paths are equal") {
  v1::Plan plan = WriteAndReadByServers();
  plan.set_server_path("/mnt/nfs");
  const std::vector<std::vector<uint32_t>> servers = {{2, 4}, {3}};
  SetServerTargets(servers, 2, plan);
  REQUIRE(plan.targets_size() == 3);
  CHECK(Selected(plan.targets(0).who()) == std::vector<uint32_t>{0, 1});
  CHECK_FALSE(plan.targets(0).server());
  CHECK(plan.targets(1).server());
  CHECK(plan.targets(1).path() == "/mnt/nfs");
  CHECK(Selected(plan.targets(1).who()) == std::vector<uint32_t>{2, 4});
  CHECK(Selected(plan.targets(2).who()) == std::vector<uint32_t>{3});
  RemoveServerTargets(plan);
  CHECK(plan.targets_size() == 1);
}

TEST_CASE("clients and servers rotate among themselves, and split mixes alike") {
  v1::Plan plan = WriteAndReadByServers();
  SetServerTargets(std::vector<std::vector<uint32_t>>{{2, 3}}, 2, plan);
  const std::vector<uint32_t> clients = {0, 1, 2, 2};
  const Layout layout(plan, clients);
  CHECK(layout.RotatedOwner(0) == 1);
  CHECK(layout.RotatedOwner(1) == 0);
  CHECK(layout.RotatedOwner(2) == 2);  // the server reads what it wrote itself
  v1::Operation mix = plan.phases(0).assignments(0).operation();
  mix.set_mix_by_lane(true);
  mix.set_reader_lanes(1);
  CHECK(layout.LanesOf(0, mix)[0].mix() == v1::LANE_MIX_READER);
  CHECK(layout.LanesOf(1, mix)[0].mix() == v1::LANE_MIX_WRITER);
  CHECK(layout.LanesOf(2, mix)[0].mix() == v1::LANE_MIX_READER);
  CHECK(layout.LanesOf(3, mix)[0].mix() == v1::LANE_MIX_WRITER);
}

TEST_CASE("what servers cannot do is refused with the reason") {
  const auto refusal = [](const auto& change) {
    v1::Plan plan = WriteAndReadByServers();
    change(plan);
    return std::string(CheckServerPath(plan).message());
  };
  CHECK(refusal([](v1::Plan&) {}).empty());
  CHECK(refusal([](v1::Plan& plan) { plan.set_server_path("export"); }).find("no absolute path") !=
        std::string::npos);
  CHECK(refusal([](v1::Plan& plan) { plan.set_keep_data(true); }).find("cannot keep the data") !=
        std::string::npos);
  CHECK(refusal([](v1::Plan& plan) { plan.set_per_client(true); }).find("--per-client") != std::string::npos);
  CHECK(refusal([](v1::Plan& plan) { plan.mutable_phases(0)->set_background(true); }).find("--background") !=
        std::string::npos);
  CHECK(refusal([](v1::Plan& plan) {
          plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_engine("libnfs");
        }).find("mount the file system") != std::string::npos);
  CHECK(refusal([](v1::Plan& plan) {
          plan.mutable_phases(0)->add_before()->mutable_fill()->set_percent(80);
        }).find("--fill") != std::string::npos);
}

}  // namespace
}  // namespace iobench
