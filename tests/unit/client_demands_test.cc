#include "coordinator/run/client_demands.h"

#include <catch2/catch.hpp>

#include "coordinator/command_line/cli.h"
#include "coordinator/plan/plan_builder.h"

namespace iobench {
namespace {

using Strings = std::vector<std::string>;

// Three workers, the first two on one client.
struct Deployment {
  v1::Plan plan;
  std::vector<Member> members;

  explicit Deployment(const Strings& arguments) : plan(*BuildPlan(ParseCommandLine(arguments)->given, {})) {
    for (const uint32_t client : {0, 0, 1}) {
      Member member;
      member.number = static_cast<uint32_t>(members.size());
      member.client = client;
      member.facts.set_host("node" + std::to_string(client));
      members.push_back(member);
    }
  }
  v1::Demands On(uint32_t worker) const {
    const Layout layout(plan, std::vector<uint32_t>{0, 0, 1});
    return DemandsOn(members[worker], plan, layout, members);
  }
};

Strings AsStrings(const google::protobuf::RepeatedPtrField<std::string>& field) {
  return {field.begin(), field.end()};
}

TEST_CASE("a worker is asked for the traces of its own lanes, by their numbers") {
  const Deployment run({"--op", "write", "-t", "2", "-X", "/tmp/t"});
  CHECK(AsStrings(run.On(0).new_files()) == Strings{"/tmp/t.0", "/tmp/t.1"});
  CHECK(AsStrings(run.On(2).new_files()) == Strings{"/tmp/t.4", "/tmp/t.5"});
}

TEST_CASE("a worker is asked for the offset and latency files of its own lanes") {
  const Deployment run({"--op", "write", "--op", "read", "-t", "2", "-Q"});
  CHECK(AsStrings(run.On(1).appended_files()) ==
        Strings{"Child_2_rol.dat", "Child_2_wol.dat", "Child_3_rol.dat", "Child_3_wol.dat"});
  CHECK(run.On(1).new_files().empty());
  Deployment alone({"--op", "write", "-t", "1", "-Q"});
  alone.members.resize(1);
  CHECK(AsStrings(alone.On(0).appended_files()) == Strings{"wol.dat"});
}

TEST_CASE("a trace that is replayed must fit the smallest of the files that it is replayed in") {
  const Deployment run({"--op", "write", "-s", "1m", "-s", "256k", "-s", "4m", "-r", "4k", "-Y", "/tmp/t"});
  const v1::Demands demands = run.On(1);
  REQUIRE(demands.replayed_traces_size() == 1);
  CHECK(demands.replayed_traces(0).file() == "/tmp/t");
  CHECK(demands.replayed_traces(0).file_bytes() == 256 * 1024);
}

TEST_CASE("engines are asked for once each, processors of everybody, mounts of one worker a client") {
  Deployment run({"-i", "0", "-i", "6", "-P", "3", "-U", "/mnt/nfs"});
  CHECK(AsStrings(run.On(0).engines()) == Strings{"posix", "stdio"});
  CHECK(run.On(1).binding().first() == 3);
  CHECK(AsStrings(run.On(0).remounts()) == Strings{"/mnt/nfs"});
  CHECK(run.On(1).remounts().empty());
  CHECK(AsStrings(run.On(2).remounts()) == Strings{"/mnt/nfs"});
}

TEST_CASE(
    "a worker that sits out is asked for nothing that it does not do, and the next one does its client's "
    "steps") {
  Deployment run({"--op", "write", "-X", "/tmp/t", "-U", "/mnt/nfs"});
  for (v1::Phase& phase : *run.plan.mutable_phases()) {
    phase.mutable_assignments(0)->mutable_who()->add_workers(1);
  }
  CHECK(run.On(0).engines().empty());
  CHECK(run.On(0).new_files().empty());
  CHECK(run.On(0).remounts().empty());
  CHECK(AsStrings(run.On(1).engines()) == Strings{"posix"});
  CHECK(AsStrings(run.On(1).remounts()) == Strings{"/mnt/nfs"});
}

TEST_CASE("everything that is missing is told with its client") {
  const Deployment run({"-i", "0"});
  v1::Inspected seen;
  CHECK(UnmetBy(run.members[2], seen).empty());
  seen.add_problems()->set_message("no such engine");
  seen.add_problems()->set_message("no such trace");
  const std::vector<absl::Status> unmet = UnmetBy(run.members[2], seen);
  REQUIRE(unmet.size() == 2);
  CHECK(absl::IsInvalidArgument(unmet[0]));
  CHECK(unmet[0].message() == "node1: no such engine");
  CHECK(unmet[1].message() == "node1: no such trace");
}

TEST_CASE("a mount that no target lies on is not renewed") {
  const Deployment run({"-i", "1", "-U", "/mnt/nfs", "--path", "/mnt/nfs/a", "--path", "/scratch"});
  const v1::Demands demands = run.On(0);
  v1::Inspected seen;
  seen.add_targets()->set_mount_point("/mnt/nfs");
  seen.add_targets()->set_mount_point("/");
  CHECK(CheckRemountsHoldTargets(run.members[0], run.plan, demands, seen).ok());
  seen.mutable_targets(0)->set_mount_point("/mnt/nfs/a");  // another one, mounted in it
  const absl::Status status = CheckRemountsHoldTargets(run.members[0], run.plan, demands, seen);
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(std::string(status.message()),
             Catch::StartsWith("node0: -U /mnt/nfs: no --path is on that mount") &&
                 Catch::Contains("/mnt/nfs/a is on /mnt/nfs/a, /scratch is on /)"));
  CHECK(CheckRemountsHoldTargets(run.members[0], run.plan, v1::Demands(), seen).ok());
}

}  // namespace
}  // namespace iobench
