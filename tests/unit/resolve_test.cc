// What a plan becomes for the workers that have joined.
#include "coordinator/plan/resolve.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "common/text/units.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

using Catch::Contains;
using Numbers = std::vector<uint32_t>;
using Texts = std::vector<std::string>;

// Each worker as HOST, HOST=PATH with a path of its own, or @HOST for one of a server. Hosts have 192 MiB of memory, and
// a host's name is its boot id.
Roster Joined(const Texts& workers) {
  std::deque<v1::WorkerFacts> facts;
  std::vector<const v1::WorkerFacts*> all;
  for (const std::string& text : workers) {
    v1::WorkerFacts& worker = facts.emplace_back();
    worker.set_server(text[0] == '@');
    const std::string name = text.substr(worker.server() ? 1 : 0);
    const size_t equals = name.find('=');
    worker.set_host(name.substr(0, equals));
    worker.set_boot_id(worker.host());
    if (equals != std::string::npos) worker.set_path(name.substr(equals + 1));
    worker.set_memory_bytes(192_MiB);
    all.push_back(&worker);
  }
  return RosterOf(all);
}

v1::Plan WriteAndRead() {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt/a");
  plan.mutable_files()->set_bytes_per_lane(1_MiB);
  for (const char* const name : {"write", "read"}) {
    v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
    operation.set_name(name);
    operation.set_record_bytes(64_KiB);
  }
  CompletePlan(plan);
  return plan;
}

v1::Plan Resolved(const v1::Plan& asked, const Texts& workers, const ResolveContext& context = {}) {
  absl::StatusOr<v1::Plan> plan = Resolve(asked, Joined(workers), context);
  INFO(plan.status());
  REQUIRE(plan.ok());
  return *std::move(plan);
}

std::string Refusal(const v1::Plan& asked, const Texts& workers) {
  const absl::StatusOr<v1::Plan> plan = Resolve(asked, Joined(workers));
  REQUIRE_FALSE(plan.ok());
  CHECK(absl::IsInvalidArgument(plan.status()));
  return std::string(plan.status().message());
}

// "/mnt/a" for a target of all workers, "/mnt/a 0 2" for one of two workers.
Texts TargetsIn(const v1::Plan& plan) {
  Texts targets;
  for (const v1::Target& target : plan.targets()) {
    std::string& text = targets.emplace_back(target.path());
    for (const uint32_t worker : target.who().workers()) text += " " + std::to_string(worker);
  }
  return targets;
}

// "read 0 2" for a phase that two workers do.
Texts PhasesIn(const v1::Plan& plan) {
  Texts phases;
  for (const v1::Phase& phase : plan.phases()) {
    std::string& text = phases.emplace_back(phase.name());
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (phase.assignments_size() > 1) text += " |";
      for (const uint32_t worker : assignment.who().workers()) text += " " + std::to_string(worker);
    }
  }
  return phases;
}

TEST_CASE("a plan in which nothing depends on who takes part stays as it is") {
  const v1::Plan asked = WriteAndRead();
  for (const Texts& workers : std::vector<Texts>{{"a"}, {"a", "a"}, {"a", "b", "c"}}) {
    CHECK(Resolved(asked, workers).SerializeAsString() == asked.SerializeAsString());
  }
}

TEST_CASE("workers use their own paths, and the others those of the plan") {
  struct Row {
    Texts workers, targets;
  };
  for (const Row& row : std::vector<Row>{
           {{"a", "b"}, {"/mnt/a"}},
           {{"a=/mnt/b", "b"}, {"/mnt/b 0", "/mnt/a 1"}},
           {{"a=/mnt/b", "b=/mnt/b"}, {"/mnt/b"}},
           {{"a=/mnt/b", "b=/mnt/c", "c=/mnt/b"}, {"/mnt/b 0 2", "/mnt/c 1"}},
       }) {
    CHECK(TargetsIn(Resolved(WriteAndRead(), row.workers)) == row.targets);
  }
}

TEST_CASE("a plan for each path is refused if workers bring paths") {
  v1::Plan asked = WriteAndRead();
  asked.mutable_phases(0)->set_only_target(1);
  CHECK_THAT(Refusal(asked, {"a=/mnt/b"}), Contains("--each-path tests every path with all workers"));
}

TEST_CASE("a mix is spread over the workers of each client") {
  v1::Plan asked = WriteAndRead();
  asked.mutable_phases()->DeleteSubrange(1, 1);
  v1::Phase& phase = *asked.mutable_phases(0);
  phase.mutable_spreading();
  v1::Assignment again = phase.assignments(0);
  *phase.add_assignments() = again;
  const v1::Plan plan = Resolved(asked, {"a", "b", "a", "b"});
  CHECK_FALSE(plan.phases(0).has_spreading());
  CHECK(PhasesIn(plan) == Texts{"write | 0 1 | 2 3"});
  CHECK_THAT(Refusal(asked, {"a", "b"}), Contains("workers per client"));
}

TEST_CASE("per_client: each client alone, or each worker of a single client") {
  v1::Plan asked = WriteAndRead();
  asked.mutable_phases()->DeleteSubrange(1, 1);
  asked.set_per_client(true);
  struct Row {
    Texts workers, phases;
  };
  for (const Row& row : std::vector<Row>{
           {{"a", "b", "a"}, {"write on a 0 2", "write on b 1", "write"}},
           {{"a", "a"}, {"write on worker 0 on a 0", "write on worker 1 on a 1", "write"}},
       }) {
    CHECK(PhasesIn(Resolved(asked, row.workers)) == row.phases);
  }
  CHECK_THAT(Refusal(asked, {"a"}), Contains("there is only one worker"));
  CHECK(PhasesIn(Resolved(asked, {"a"}, {.allows_one_client = true})) == Texts{"write"});
}

TEST_CASE("a background load runs on half of the clients") {
  v1::Plan asked = WriteAndRead();
  asked.mutable_phases(1)->set_background(true);
  CHECK(PhasesIn(Resolved(asked, {"a", "b", "a", "b"})) ==
        Texts{"write, undisturbed 0 2", "write beside read | 0 2 | 1 3"});
  CHECK_THAT(Refusal(asked, {"a"}), Contains("of the 1 worker of this run"));
}

TEST_CASE("files by memory: as many lanes as the client with the fewest has, and none of servers") {
  v1::Plan asked = WriteAndRead();
  asked.mutable_files()->set_memory_percent(200);
  asked.set_lanes_per_worker(2);
  struct Row {
    Texts workers;
    ResolveContext context;
    uint64_t bytes_per_lane;
  };
  for (const Row& row : std::vector<Row>{
           {{"a", "a"}, {}, 96_MiB},
           {{"a", "a", "b"}, {}, 192_MiB},
           {{"a", "a"}, {.least_lanes_per_worker = 1}, 192_MiB},
           {{"a", "a", "@s"}, {}, 96_MiB},
           {{"a", "a"}, {.resumed = true}, 1_MiB},
       }) {
    CHECK(Resolved(asked, row.workers, row.context).files().bytes_per_lane() == row.bytes_per_lane);
  }
}

TEST_CASE("servers measure their own directory with the same number of workers") {
  v1::Plan asked = WriteAndRead();
  asked.mutable_phases()->DeleteSubrange(1, 1);
  asked.set_server_path("/export");
  const Texts workers = {"a", "b", "@s", "@t"};
  const v1::Plan plan = Resolved(asked, workers);
  CHECK(TargetsIn(plan) == Texts{"/mnt/a 0 1", "/export 2", "/export 3"});
  CHECK(PhasesIn(plan) == Texts{"write 0 1", "write on the servers 2 3"});
  CHECK(Resolved(plan, workers).SerializeAsString() == plan.SerializeAsString());
}

}  // namespace
}  // namespace iobench
