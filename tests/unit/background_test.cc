// --background: which workers do what in the phases that replace the plan's.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "coordinator/plan/background.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

const std::vector<WorkersOfClient> kFourClients = {{.name = "a", .workers = {0, 4}},
                                                   {.name = "b", .workers = {1, 5}},
                                                   {.name = "c", .workers = {2}},
                                                   {.name = "d", .workers = {3}}};

v1::Phase& AddPhase(const std::string& operation, bool background, v1::Plan& plan) {
  v1::Phase& phase = *plan.add_phases();
  phase.set_name(operation);
  phase.set_background(background);
  phase.add_assignments()->mutable_operation()->set_name(operation);
  phase.mutable_assignments(0)->mutable_operation()->set_record_bytes(4096);
  phase.mutable_stop()->set_time_s(1);
  return phase;
}

v1::Plan ReadBesideWriteAndStat() {
  v1::Plan plan;
  AddPhase("read", false, plan);
  AddPhase("write", true, plan);
  AddPhase("stat", true, plan);
  CompletePlan(plan);
  return plan;
}

std::vector<uint32_t> WorkersIn(const v1::Assignment& assignment) {
  return {assignment.who().workers().begin(), assignment.who().workers().end()};
}

TEST_CASE("each phase becomes one of the victims undisturbed, and one beside each load") {
  v1::Plan plan = ReadBesideWriteAndStat();
  plan.set_background_clients(1);
  REQUIRE(SetBesideBackground(kFourClients, false, plan).ok());
  REQUIRE(plan.phases_size() == 3);
  CHECK(plan.background_clients() == 0);
  CHECK_FALSE(HasBackground(plan));
  const v1::Phase &undisturbed = plan.phases(0), &write = plan.phases(1), &stat = plan.phases(2);
  CHECK(undisturbed.name() == "read, undisturbed");
  CHECK(undisturbed.assignments_size() == 1);
  CHECK(WorkersIn(undisturbed.assignments(0)) == std::vector<uint32_t>{0, 4, 1, 5, 2});
  CHECK(write.name() == "read beside write");
  REQUIRE(write.assignments_size() == 2);
  CHECK(WorkersIn(write.assignments(0)) == std::vector<uint32_t>{0, 4, 1, 5, 2});
  CHECK(WorkersIn(write.assignments(1)) == std::vector<uint32_t>{3});
  CHECK(write.assignments(1).background());
  CHECK(write.assignments(1).operation().name() == "write");
  CHECK(write.interference().victims() == 3);
  CHECK(write.interference().others() == 1);
  CHECK(stat.interference().background() == "stat");
  // The load's repeated writes are flushed; a load of stat has nothing to flush.
  CHECK(write.region().flush_passes());
  CHECK_FALSE(stat.region().fsync());
}

TEST_CASE("by default, half of the clients keep up the load, and the smaller half of three") {
  v1::Plan plan = ReadBesideWriteAndStat();
  REQUIRE(SetBesideBackground({kFourClients.data(), 3}, false, plan).ok());
  CHECK(plan.phases(1).interference().victims() == 2);
  CHECK(plan.phases(1).interference().others() == 1);
}

TEST_CASE("victims that write are flushed beside a load as they are undisturbed") {
  v1::Plan plan;
  AddPhase("write", false, plan);
  AddPhase("random-write", true, plan);
  CompletePlan(plan);
  REQUIRE(SetBesideBackground(kFourClients, false, plan).ok());
  CHECK(plan.phases(0).region().SerializeAsString() == plan.phases(1).region().SerializeAsString());
}

TEST_CASE("the plan of a run whose clients are divided takes no further load") {
  v1::Plan plan = ReadBesideWriteAndStat();
  REQUIRE(SetBesideBackground(kFourClients, false, plan).ok());
  CHECK(CheckBackground(plan).ok());
  AddPhase("write", true, plan);
  CHECK(std::string(CheckBackground(plan).message()).find("already divides its clients") !=
        std::string::npos);
}

TEST_CASE("a load works in one place and on files of its own clients") {
  v1::Plan on_each_path = ReadBesideWriteAndStat();
  for (v1::Phase& phase : *on_each_path.mutable_phases()) phase.set_only_target(1);
  CHECK(std::string(CheckBackground(on_each_path).message()).find("--each-path") != std::string::npos);
  for (const int phase : {0, 1}) {
    v1::Plan rotates = ReadBesideWriteAndStat();
    rotates.mutable_phases(phase)->mutable_assignments(0)->mutable_operation()->set_rotate_clients(true);
    CHECK(std::string(CheckBackground(rotates).message()).find("--rotate-clients") != std::string::npos);
  }
}

TEST_CASE("a load that the engine cannot do is not left out like a default operation") {
  v1::Plan plan;
  AddPhase("read", false, plan);
  AddPhase("fwrite", false, plan);
  AddPhase("fwrite", true, plan);
  plan.add_phases()->set_background(true);  // CheckPlan says what is missing
  for (int i = 0; i < 3; ++i)
    plan.mutable_phases(i)->mutable_assignments(0)->mutable_operation()->set_engine("mmap");
  LeaveOutWhatTheEngineCannot(GivenOptions(), plan);
  REQUIRE(plan.phases_size() == 3);
  CHECK(plan.phases(0).name() == "read");
  CHECK(plan.phases(1).background());
  CHECK(plan.phases(2).background());
}

TEST_CASE("no victims, no load's end before theirs") {
  v1::Plan plan = ReadBesideWriteAndStat();
  CHECK(CheckBackground(plan).ok());
  plan.mutable_phases(0)->mutable_stop()->clear_time_s();
  CHECK(std::string(CheckBackground(plan).message()).find("add --time") != std::string::npos);
  plan.mutable_phases(0)->set_background(true);
  CHECK(std::string(CheckBackground(plan).message()).find("nothing to measure") != std::string::npos);
  v1::Plan one = ReadBesideWriteAndStat();
  CHECK_FALSE(SetBesideBackground({kFourClients.data(), 1}, true, one).ok());
  v1::Plan all = ReadBesideWriteAndStat();
  all.set_background_clients(4);
  CHECK_FALSE(SetBesideBackground(kFourClients, false, all).ok());
}

}  // namespace
}  // namespace iobench
