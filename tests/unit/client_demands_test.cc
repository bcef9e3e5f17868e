#include "coordinator/conduct/data/client_demands.h"

#include <catch2/catch.hpp>

#include "common/model/plan_targets.h"
#include "coordinator/plan/plan_builder.h"
#include "tests/support/command_words.h"

namespace iobench {
namespace {

using Strings = std::vector<std::string>;

// Three workers, the first two on one client.
struct Deployment {
  v1::Plan plan;
  std::vector<Member> members;

  explicit Deployment(const Strings& arguments) : plan(*BuildPlan(JobFrom(arguments)->given, {})) {
    for (const uint32_t client : {0, 0, 1}) {
      Member member;
      member.number = static_cast<uint32_t>(members.size());
      member.client = client;
      member.facts.set_host("node" + std::to_string(client));
      members.push_back(member);
    }
  }
  v1::Demands On(uint32_t worker) const { return DemandsOn(members[worker], plan, LayoutOf(), members); }
  std::set<uint32_t> InspectedBy(uint32_t worker) const {
    return TargetsToInspect(members[worker], plan, LayoutOf(), On(worker), members);
  }
  Layout LayoutOf() const { return {plan, std::vector<uint32_t>{0, 0, 1}}; }
};

Strings AsStrings(const google::protobuf::RepeatedPtrField<std::string>& field) {
  return {field.begin(), field.end()};
}

TEST_CASE("a worker is asked for the traces of its own lanes, by their numbers") {
  const Deployment run({"--op", "write", "-t", "2", "-X", "/tmp/t"});
  CHECK(AsStrings(run.On(0).new_files()) == Strings{"/tmp/t.0", "/tmp/t.1"});
  CHECK(AsStrings(run.On(2).new_files()) == Strings{"/tmp/t.4", "/tmp/t.5"});
}

TEST_CASE("a resumed run asks for nothing that only its finished phases needed") {
  Deployment run({"--op", "write", "--op", "read", "-t", "1", "--repeat", "2"});
  for (const int phase : {0, 1}) {
    v1::Operation& operation = *run.plan.mutable_phases(phase)->mutable_assignments(0)->mutable_operation();
    operation.mutable_trace()->set_write_file(phase == 0 ? "/tmp/w" : "/tmp/r");
  }
  const auto traces = [&run](uint32_t first_phase) {
    return AsStrings(
        DemandsOn(run.members[0], run.plan, run.LayoutOf(), run.members, RunPart{.first_phase = first_phase}).new_files());
  };
  CHECK(traces(0) == Strings{"/tmp/r.0", "/tmp/w.0"});
  CHECK(traces(2) == Strings{"/tmp/r.0", "/tmp/w.0"});  // both have another repetition
  CHECK(traces(3) == Strings{"/tmp/r.0"});
  CHECK(traces(4).empty());
}

TEST_CASE("a resumed run replaces the traces of a phase that was begun before and of no other") {
  Deployment run({"--op", "write", "--op", "read", "-t", "1"});
  for (const int phase : {0, 1}) {
    v1::Operation& operation = *run.plan.mutable_phases(phase)->mutable_assignments(0)->mutable_operation();
    operation.mutable_trace()->set_write_file(phase == 0 ? "/tmp/w" : "/tmp/r");
  }
  const auto demands = [&run](uint32_t first_phase) {
    return DemandsOn(run.members[0], run.plan, run.LayoutOf(), run.members,
                     RunPart{.first_phase = first_phase, .begun_before = true});
  };
  CHECK(AsStrings(demands(0).replaced_files()) == Strings{"/tmp/w.0"});
  CHECK(AsStrings(demands(0).new_files()) == Strings{"/tmp/r.0"});
  CHECK(AsStrings(demands(1).replaced_files()) == Strings{"/tmp/r.0"});
  CHECK(demands(1).new_files().empty());
  CHECK(run.On(0).replaced_files().empty());
}

TEST_CASE("a resumed run replaces the traces of a phase that it measures again") {
  Deployment run({"--op", "write", "--op", "read", "-t", "1"});
  for (const int phase : {0, 1}) {
    v1::Operation& operation = *run.plan.mutable_phases(phase)->mutable_assignments(0)->mutable_operation();
    operation.mutable_trace()->set_write_file(phase == 0 ? "/tmp/w" : "/tmp/r");
  }
  const v1::Demands demands = DemandsOn(run.members[0], run.plan, run.LayoutOf(), run.members,
                                        RunPart{.first_phase = 2, .again = {0}});
  CHECK(AsStrings(demands.replaced_files()) == Strings{"/tmp/w.0"});
  CHECK(demands.new_files().empty());
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

using Numbers = std::set<uint32_t>;
const Strings kThreePaths = {"--path", "/mnt/a", "--path", "/mnt/b", "--path", "/mnt/c"};

Strings With(Strings words, const Strings& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("a worker looks at the targets that its lanes use, and no others") {
  const Deployment run(With({"-i", "0"}, kThreePaths));
  for (const uint32_t worker : {0u, 1u, 2u}) CHECK(run.InspectedBy(worker) == Numbers{worker});
  CHECK(Deployment({"-i", "0", "--path", "/mnt"}).InspectedBy(2) == Numbers{0});
  CHECK(Deployment(With({"-i", "0", "--each-path"}, kThreePaths)).InspectedBy(1) == Numbers{0, 1, 2});
}

TEST_CASE("with rotated clients, a worker also looks at the targets of the one whose files it uses") {
  const Deployment run(With({"-i", "0", "-i", "1", "--rotate-clients"}, kThreePaths));
  REQUIRE(run.plan.phases(2).assignments(0).operation().rotate_clients());
  const Layout layout = run.LayoutOf();
  for (const uint32_t worker : {0u, 1u, 2u}) {
    REQUIRE(layout.RotatedOwner(worker) != worker);
    CHECK(run.InspectedBy(worker) == Numbers{worker, layout.RotatedOwner(worker)});
  }
}

TEST_CASE(
    "who remounts for a client looks at the targets of its workers, and at one that lies on the mount by its name") {
  const Deployment run(With({"-i", "1", "-U", "/mnt/c"}, kThreePaths));
  CHECK(run.InspectedBy(0) == Numbers{0, 1, 2});
  CHECK(run.InspectedBy(1) == Numbers{1});  // the client's other worker remounts
  CHECK(run.InspectedBy(2) == Numbers{2});
  const Deployment all_on_it(With({"-i", "1", "-U", "/mnt"}, kThreePaths));
  CHECK(all_on_it.InspectedBy(2) == Numbers{0, 2});
}

TEST_CASE("lanes that read the user's own files may use any target") {
  Deployment run(With({"-i", "1"}, kThreePaths));
  run.plan.mutable_files()->add_existing_files("/mnt/a/file");
  CHECK(run.InspectedBy(1) == Numbers{0, 1, 2});
}

TEST_CASE("a mount that no target lies on is not renewed") {
  const Deployment run({"-i", "1", "-U", "/mnt/nfs", "--path", "/mnt/nfs/a", "--path", "/scratch"});
  const v1::Demands demands = run.On(0);
  v1::WorkerTargets seen;
  AddSeen(seen, 0).set_mount_point("/mnt/nfs");
  AddSeen(seen, 1).set_mount_point("/");
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
