// What the conductor does before the first phase: checks all clients, and leaves out those with a fault.
#include <catch2/catch.hpp>
#include <set>
#include <span>
#include <string>

#include "coordinator/plan/plan_check.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

using Catch::Contains;

// 4 KiB per lane, one lane per worker.
v1::Plan WritesAt(const std::string& path, int phases = 1) {
  v1::Plan plan;
  plan.add_targets()->set_path(path);
  plan.set_lanes_per_worker(1);
  plan.set_repetitions(1);
  plan.mutable_files()->set_bytes_per_lane(4_KiB);
  plan.mutable_files()->set_files_per_lane(1);
  for (int i = 0; i < phases; ++i) {
    v1::Operation& write = *plan.add_phases()->add_assignments()->mutable_operation();
    write.set_name("write");
    write.set_engine("posix");
    write.set_record_bytes(4_KiB);
  }
  CompletePlan(plan);
  return plan;
}

// Four workers on four hosts: a, b, c, d.
struct FourHosts : Run {
  FourHosts() {
    hosts = {Facts("a"), Facts("b"), Facts("c"), Facts("d")};
    plan = WritesAt("/mnt");
  }
  // On these workers, /mnt does not exist.
  void LackMount(std::set<WorkerId> without) {
    perfect.instead = [without](WorkerId id, const v1::WorkerRequest& request,
                                std::vector<v1::WorkerEvent>& events) {
      if (!request.has_inspect() || !without.contains(id)) return false;
      v1::TargetFacts& seen = *events.emplace_back().mutable_inspected()->add_targets();
      *seen.mutable_problem() = ToProblem(ErrnoStatus("/mnt does not exist: create it", ENOENT));
      return true;
    };
  }
  std::vector<std::string> Clients() const {
    std::vector<std::string> clients;
    for (const v1::ClientReport& client : conductor->report().clients()) clients.push_back(client.host());
    return clients;
  }
};

TEST_CASE("before a run on several workers, every client writes and reads what the others wrote; nothing is left") {
  FourHosts run;
  REQUIRE(run.Go() == kExitOk);
  int created = 0, read = 0;
  for (const auto& sent : run.posted) {
    for (const v1::FileAction& action : sent.request.file_actions().actions()) {
      created += action.what() == v1::FileAction::CREATE;
      read += action.what() == v1::FileAction::READ;
    }
  }
  CHECK(created == 4);
  CHECK(read == 4 * 3);
  CHECK(run.perfect.check_files.empty());
}

TEST_CASE("a single worker writes no check file before a run") {
  FourHosts run;
  run.hosts.resize(1);
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Count(v1::WorkerRequest::kFileActions) == 0);
}

TEST_CASE("a client that sees other storage refuses the run, whatever its mount is called") {
  FourHosts run;
  run.perfect.storage_of = [](WorkerId id) { return id == 2 ? "its own" : "shared"; };
  REQUIRE(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()),
             Contains("c: /mnt is other storage than a, b, d see there"));
  CHECK(run.Count(v1::WorkerRequest::kPrepare) == 0);
  CHECK(run.perfect.check_files.empty());
}

TEST_CASE("the storage that most clients see counts, also if the first one sees another") {
  FourHosts run;
  run.on_fault = OnFault::kLeaveOut;
  run.perfect.storage_of = [](WorkerId id) { return id == 0 ? "its own" : "shared"; };
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Clients() == std::vector<std::string>{"b", "c", "d"});
}

// What no worker sends before the first phase.
struct BadMessage {
  const char* what;
  v1::WorkerRequest::BodyCase in_place_of;
  std::function<v1::WorkerEvent()> make;
  const char* reason;
};
v1::WorkerEvent EmptyEvent(const std::function<void(v1::WorkerEvent&)>& fill) {
  v1::WorkerEvent event;
  fill(event);
  return event;
}
const BadMessage kBadMessages[] = {
    {"clocks: an impossible time", v1::WorkerRequest::kPing,
     [] { return EmptyEvent([](auto& event) { event.mutable_pong()->set_received_worker_ns(INT64_MIN / 2); }); },
     "no time that a clock can show"},
    {"clocks: of another kind", v1::WorkerRequest::kPing,
     [] { return EmptyEvent([](auto& event) { event.mutable_inspected(); }); }, "it answered ping with inspected"},
    {"clocks: a broken connection", v1::WorkerRequest::kPing, [] { return Lost("its connection broke"); },
     "its connection broke"},
    {"look: nothing", v1::WorkerRequest::kInspect, [] { return v1::WorkerEvent(); }, "it answered inspect with nothing"},
    {"look: of another kind", v1::WorkerRequest::kInspect,
     [] { return EmptyEvent([](auto& event) { event.mutable_chunk()->set_last(false); }); },
     "it answered inspect with chunk"},
    {"look: too few paths", v1::WorkerRequest::kInspect,
     [] { return EmptyEvent([](auto& event) { event.mutable_inspected(); }); }, "0 targets in place of 1"},
    {"look: a broken connection", v1::WorkerRequest::kInspect, [] { return Lost("its connection broke"); },
     "its connection broke"},
    {"storage: of another kind", v1::WorkerRequest::kFileActions,
     [] { return EmptyEvent([](auto& event) { event.mutable_pong(); }); }, "it answered file_actions with pong"},
    {"storage: results of nothing", v1::WorkerRequest::kFileActions,
     [] { return EmptyEvent([](auto& event) { event.mutable_file_actions_done(); }); }, "0 results in place of"},
    {"storage: an impossible error", v1::WorkerRequest::kFileActions,
     [] { return EmptyEvent([](auto& event) { event.mutable_problem()->set_code(4711); }); }, "the error code 4711"},
    {"storage: out of order", v1::WorkerRequest::kFileActions,
     [] { return EmptyEvent([](auto& event) { event.mutable_prepared(); }); }, "it answered file_actions with prepared"},
};

// Four hosts, of which c sends this once.
struct OneBadMessage : FourHosts {
  explicit OneBadMessage(const BadMessage& bad, bool another_joins) {
    perfect.instead = [this, bad, another_joins, sent = false](
                          WorkerId id, const v1::WorkerRequest& request,
                          std::vector<v1::WorkerEvent>& events) mutable {
      if (id != 2 || sent || request.body_case() != bad.in_place_of) return false;
      sent = true;
      events.push_back(bad.make());
      if (another_joins) *events.emplace_back().mutable_joined() = Facts("e");
      return true;
    };
  }
  std::string ReasonToLeave() const {
    for (const ScriptedWorkers::Posted& sent : posted) {
      if (sent.worker == 2 && sent.request.has_leave()) return sent.request.leave().reason();
    }
    return "";
  }
};

TEST_CASE("a bad message before the first phase costs its worker the seat, and another one takes it") {
  for (const BadMessage& bad : kBadMessages) {
    INFO(bad.what);
    OneBadMessage run(bad, /*another_joins=*/true);
    run.ordered = false;
    REQUIRE(run.Go() == kExitOk);
    CHECK(run.Clients() == std::vector<std::string>{"a", "b", "d", "e"});
    CHECK(run.conductor->report().run().worker_count() == 4);
    CHECK(run.conductor->report().phases(0).bytes() == 16_KiB);
    CHECK(run.perfect.check_files.empty());
    const bool was_lost = bad.make().has_lost();
    CHECK_THAT(run.ReasonToLeave(), Contains(was_lost ? "" : bad.reason));
  }
}

TEST_CASE("if nobody takes the seat of a worker with a bad message, the run says so after its wait") {
  OneBadMessage run(kBadMessages[0], /*another_joins=*/false);
  run.ordered = false;
  CHECK(run.Go() == kExitPartial);
  CHECK_THAT(std::string(run.conductor->refusal().message()), Contains("3 of 4 workers have joined (a, b, d)"));
  CHECK(run.Count(v1::WorkerRequest::kPrepare) == 0);
}

TEST_CASE("where nobody else can join, a worker with a bad message is named, and the run ends as without it") {
  // Of an impossible clock, only the results are refused.
  for (const BadMessage& bad : std::span(kBadMessages).subspan(1)) {
    INFO(bad.what);
    OneBadMessage run(bad, /*another_joins=*/false);
    CHECK(run.Go() == kExitPartial);
    CHECK_THAT(std::string(run.conductor->refusal().message()),
               Contains("worker 2 on c was lost: ") && Contains(bad.reason));
    OneBadMessage goes_on(bad, /*another_joins=*/false);
    goes_on.on_fault = OnFault::kLeaveOut;
    CHECK(goes_on.Go() == kExitOk);
    CHECK(goes_on.Clients() == std::vector<std::string>{"a", "b", "d"});
  }
}

TEST_CASE("a worker that is lost while its run waits for another one leaves a second seat") {
  OneBadMessage run(kBadMessages[3], /*another_joins=*/true);
  run.ordered = false;
  bool lost = false;
  run.perfect.instead = [&lost, inner = run.perfect.instead](WorkerId id, const v1::WorkerRequest& request,
                                                            std::vector<v1::WorkerEvent>& events) {
    // On its way out, c takes b along.
    if (id == 1 && request.has_inspect() && !lost) {
      lost = true;
      events.push_back(Lost("its connection broke"));
      *events.emplace_back().mutable_joined() = Facts("f");
      return true;
    }
    return inner(id, request, events);
  };
  CHECK(run.Go() == kExitOk);
  CHECK(run.Clients() == std::vector<std::string>{"a", "d", "e", "f"});
}

TEST_CASE("a file that appears later is waited for") {
  FourHosts run;
  int looks = 0;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (id != 3 || !request.has_file_actions()) return false;
    if (request.file_actions().actions(0).what() != v1::FileAction::READ || ++looks > 3) return false;
    v1::FileActionsDone& done = *events.emplace_back().mutable_file_actions_done();
    for (int i = 0; i < request.file_actions().actions_size(); ++i)
      *done.add_results()->mutable_problem() = ToProblem(ErrnoStatus("open it", ENOENT));
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(looks == 4);
}

TEST_CASE("all faults refuse a run at once") {
  FourHosts run;
  run.LackMount({1, 3});
  REQUIRE(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()), Contains("2 faults on 2 clients"));
  REQUIRE(run.conductor->preflight().findings.size() == 2);
  CHECK(run.conductor->preflight().findings[1].client == "d");
}

TEST_CASE("with --skip-bad, clients with a fault are left out, and the others are numbered without gaps") {
  FourHosts run;
  run.on_fault = OnFault::kLeaveOut;
  run.LackMount({0, 2});
  REQUIRE(run.Go() == kExitOk);
  const v1::RunReport& report = run.conductor->report();
  CHECK(run.Clients() == std::vector<std::string>{"b", "d"});
  CHECK(report.run().worker_count() == 2);
  CHECK(report.phases(0).bytes() == 8_KiB);
  CHECK(run.perfect.lane == std::map<WorkerId, uint32_t>{{1, 0}, {3, 1}});
  REQUIRE(report.run().left_out_size() == 2);
  CHECK(report.run().left_out(0).client() == "a");
  CHECK(report.run().left_out(0).worker_count() == 1);
  CHECK(report.run().left_out(0).problems(0) == "/mnt does not exist");
  CHECK(report.run().left_out(1).client() == "c");
}

TEST_CASE(
    "with --skip-bad, a worker that is lost while it looks at its client does not count as lost in the run") {
  for (const WorkerId first_live : {1u, 3u}) {
    FourHosts run;
    run.on_fault = OnFault::kLeaveOut;
    run.perfect.instead = [first_live](WorkerId id, const v1::WorkerRequest& request,
                                       std::vector<v1::WorkerEvent>& events) {
      if (!request.has_inspect() || id >= first_live) return false;
      events = {Lost("power")};
      return true;
    };
    CHECK(run.Go() == kExitOk);
    CHECK(run.Clients().size() == 4 - first_live);
    CHECK(run.phases.size() == static_cast<size_t>(run.plan.phases_size()));
  }
}

TEST_CASE("--skip-bad leaves somebody in, or refuses the run") {
  FourHosts run;
  run.on_fault = OnFault::kLeaveOut;
  run.LackMount({0, 1, 2, 3});
  CHECK(run.Go() == kExitUsage);
  CHECK(run.conductor->preflight().findings.size() == 4);
}

TEST_CASE("with --skip-bad, a run goes on without workers that do not join") {
  FourHosts run;
  run.worker_count = 6;
  CHECK(run.Go() == kExitPartial);
  FourHosts patient;
  patient.worker_count = 6;
  patient.on_fault = OnFault::kLeaveOut;
  REQUIRE(patient.Go() == kExitOk);
  CHECK(patient.conductor->report().run().worker_count() == 4);
  REQUIRE(patient.conductor->report().run().left_out_size() == 1);
  CHECK_THAT(patient.conductor->report().run().left_out(0).problems(0),
             Contains("4 of 6 workers have joined"));
}

// Workers of the client list, the last of which does not join: it is on the host of the workers from `first` on.
void LackLastOf(uint32_t first, FourHosts& run) {
  std::set<uint32_t> positions;
  for (uint32_t i = 0; i < run.hosts.size(); ++i) {
    run.hosts[i].set_client_list_position(i + 1);
    if (i >= first) positions.insert(i + 1);
  }
  run.worker_count = static_cast<uint32_t>(run.hosts.size()) + 1;
  positions.insert(run.worker_count);
  const JoinFault fault{.client = "admin@c", .problem = "kaboom", .advice = "", .positions = positions};
  run.join_watch.faults = [fault] { return std::vector<JoinFault>{fault}; };
}

TEST_CASE("with --skip-bad, a client with a worker that does not join is left out with its other workers") {
  FourHosts run;
  run.on_fault = OnFault::kLeaveOut;
  run.hosts = {Facts("a"), Facts("b"), Facts("c"), Facts("c")};
  LackLastOf(2, run);
  REQUIRE(run.Go() == kExitOk);
  const v1::RunReport& report = run.conductor->report();
  CHECK(run.Clients() == std::vector<std::string>{"a", "b"});
  CHECK(report.run().worker_count() == 2);
  CHECK(report.phases(0).bytes() == 8_KiB);
  REQUIRE(report.run().left_out_size() == 1);
  CHECK(report.run().left_out(0).client() == "c");
  CHECK(report.run().left_out(0).worker_count() == 2);
  CHECK(report.run().left_out(0).problems(0) == "kaboom");
}

TEST_CASE("with --skip-bad, a fault that workers of several clients share is a problem of each of these") {
  FourHosts run;
  run.on_fault = OnFault::kLeaveOut;
  LackLastOf(2, run);
  REQUIRE(run.Go() == kExitOk);
  const v1::RunReport& report = run.conductor->report();
  CHECK(run.Clients() == std::vector<std::string>{"a", "b"});
  REQUIRE(report.run().left_out_size() == 2);
  CHECK(report.run().left_out(0).client() == "c");
  CHECK(report.run().left_out(1).client() == "d");
  for (const v1::LeftOutClient& client : report.run().left_out()) {
    CHECK(client.worker_count() == 1);
    REQUIRE(client.problems_size() == 1);
    CHECK(client.problems(0) == "kaboom");
  }
}

TEST_CASE("a client that --skip-bad would leave out alone refuses the run if its worker does not join") {
  FourHosts run;
  run.on_fault = OnFault::kLeaveOut;
  run.hosts = {Facts("c"), Facts("c")};
  LackLastOf(0, run);
  CHECK(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()), Contains("kaboom"));
}

TEST_CASE("with --skip-bad, a client with a worker that is refused is left out with its other workers") {
  FourHosts run;
  run.on_fault = OnFault::kLeaveOut;
  run.hosts = {Facts("a"), Facts("c", "0.9"), Facts("b"), Facts("c"), Facts("c", "0.9")};
  REQUIRE(run.Go() == kExitOk);
  const v1::RunReport& report = run.conductor->report();
  CHECK(run.Clients() == std::vector<std::string>{"a", "b"});
  CHECK(report.phases(0).bytes() == 8_KiB);
  REQUIRE(report.run().left_out_size() == 1);
  CHECK(report.run().left_out(0).client() == "c");
  CHECK(report.run().left_out(0).worker_count() == 1);
  REQUIRE(report.run().left_out(0).problems_size() == 1);
  CHECK_THAT(report.run().left_out(0).problems(0), Contains("worker on c is version 0.9"));
}

TEST_CASE("preflight counts a client once if several of its workers are refused") {
  FourHosts run;
  run.hosts = {Facts("a"), Facts("c", "0.9"), Facts("b"), Facts("c"), Facts("c", "0.9")};
  const auto found = run.Preflight();
  REQUIRE(found.ok());
  CHECK(FaultCount(*found) > 0);
  CHECK(found->client_count == 3);
  REQUIRE(found->findings.size() == 1);
  CHECK(found->findings[0].workers == std::set<uint32_t>{2});
}

// Clients a and b with one worker each, and a server with as many workers (--server-path).
struct TwoHostsAndServer : FourHosts {
  TwoHostsAndServer() {
    on_fault = OnFault::kLeaveOut;
    hosts = {Facts("a"), Facts("b"), Facts("filer"), Facts("filer")};
    for (const size_t of_server : {2u, 3u}) hosts[of_server].set_server(true);
    worker_count = join_watch.server_workers = 2;
    plan.set_server_path("/export");
  }
};

TEST_CASE("--skip-bad leaves a client in, or refuses the run: servers alone measure nothing") {
  TwoHostsAndServer run;
  run.LackMount({0, 1});
  REQUIRE(run.Go() == kExitUsage);
  CHECK(run.conductor->refusal().message() ==
        "--skip-bad would leave no client: 2 faults on 2 clients, listed above: fix them");
  CHECK(run.Count(v1::WorkerRequest::kPrepare) == 0);
  TwoHostsAndServer without_power;
  without_power.perfect.instead = [](WorkerId id, const v1::WorkerRequest& request,
                                     std::vector<v1::WorkerEvent>& events) {
    if (!request.has_inspect() || id >= 2) return false;
    events = {Lost("power")};
    return true;
  };
  CHECK(without_power.Go() == kExitPartial);
  CHECK(without_power.Count(v1::WorkerRequest::kPrepare) == 0);
}

TEST_CASE("a server with a fault refuses the run with --skip-bad, too, because its phases need it") {
  TwoHostsAndServer run;
  run.LackMount({2, 3});
  REQUIRE(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()), Contains("filer: /mnt does not exist"));
  CHECK(run.Count(v1::WorkerRequest::kPrepare) == 0);
}

TEST_CASE("preflight counts a client once if only some of its workers join") {
  FourHosts run;
  run.hosts = {Facts("a"), Facts("b"), Facts("c"), Facts("c")};
  LackLastOf(2, run);
  const auto found = run.Preflight();
  REQUIRE(found.ok());
  CHECK(FaultCount(*found) > 0);
  CHECK(found->client_count == 3);
  REQUIRE(found->findings.size() == 1);
  CHECK(found->findings[0].workers == std::set<uint32_t>{2, 3});
}

TEST_CASE("preflight alone finds the same, starts nothing and leaves nothing") {
  FourHosts run;
  const auto found = run.Preflight();
  REQUIRE(found.ok());
  CHECK(FaultCount(*found) == 0);
  CHECK(found->findings.empty());
  CHECK(found->client_count == 4);
  FourHosts faulty;
  faulty.worker_count = 5;
  faulty.LackMount({1});
  const auto faults = faulty.Preflight();
  REQUIRE(faults.ok());
  CHECK(FaultCount(*faults) > 0);
  REQUIRE(faults->findings.size() == 2);
  CHECK(faults->findings[0].check == PreflightCheck::kJoin);
  CHECK(faults->findings[1].client == "b");
  CHECK(faulty.Count(v1::WorkerRequest::kDataStep) == 0);
  CHECK(faulty.Count(v1::WorkerRequest::kPrepare) == 0);
  CHECK(faulty.perfect.check_files.empty());
}

TEST_CASE("preflight tells a single worker that its storage was compared with nobody's") {
  FourHosts run;
  run.hosts.resize(1);
  const auto found = run.Preflight();
  REQUIRE(found.ok());
  CHECK(FaultCount(*found) == 0);
  CHECK(run.Count(v1::WorkerRequest::kFileActions) > 0);  // whether it can write
  REQUIRE(found->not_checked.size() == 1);
  CHECK_THAT(found->not_checked[0], Contains("only one worker"));
}

TEST_CASE("files by memory fill it also in the phase that has the fewest lanes on a client") {
  FourHosts run;
  for (v1::WorkerFacts& host : run.hosts) host.set_memory_bytes(1_MiB);
  run.plan = WritesAt("/mnt", 2);
  run.plan.mutable_files()->set_memory_percent(200);
  run.plan.set_lanes_per_worker(8);
  v1::Plan resolved;
  REQUIRE(run.Preflight(&resolved).ok());
  CHECK(resolved.files().bytes_per_lane() == 256_KiB);
  run.plan.mutable_phases(0)->set_lanes_per_worker(2);
  REQUIRE(run.Preflight(&resolved).ok());
  CHECK(resolved.files().bytes_per_lane() == 1_MiB);
}

TEST_CASE("workers that work on names alone have no part in the files by memory") {
  FourHosts run;
  run.hosts = {Facts("a"), Facts("a")};  // one client
  for (v1::WorkerFacts& worker : run.hosts) worker.set_memory_bytes(1_MiB);
  run.plan.mutable_files()->set_memory_percent(200);
  v1::Phase& phase = *run.plan.mutable_phases(0);
  phase.mutable_assignments(0)->mutable_who()->add_workers(0);
  v1::Operation& stat = *phase.add_assignments()->mutable_operation();
  stat.set_name("stat");
  stat.set_engine("posix");
  stat.mutable_tree()->set_items_per_lane(10);
  v1::Plan resolved;
  REQUIRE(run.Preflight(&resolved).ok());
  CHECK(resolved.files().bytes_per_lane() == 2_MiB);
}

TEST_CASE("after --max-duration, phases are skipped, and the one that ran got the rest as its deadline") {
  FourHosts run;
  run.plan = WritesAt("/mnt", 3);
  run.max_duration_s = 10;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>&) {
    if (request.has_prepare() && id == 0) {
      CHECK(request.prepare().stop().deadline_s() <= 10);
      CHECK(request.prepare().stop().deadline_s() > 4);
      run.perfect.clock.Advance(4'960'000'000);
    }
    return false;
  };
  REQUIRE(run.Go() == kExitOk);
  const v1::RunReport& report = run.conductor->report();
  CHECK(report.phases_size() == 2);
  REQUIRE(report.run().skipped_phases_size() == 1);
  REQUIRE(report.notes_size() == 1);
  CHECK_THAT(report.notes(0), Contains("--max-duration 10 s was over: 1 of 3 phases did not begin"));
  CHECK(report.run().shortened_phases().empty());  // they were done before their deadline
}

TEST_CASE("the first phase without enough time ends the run, whatever the later ones need") {
  FourHosts run;
  run.plan = WritesAt("/mnt", 3);
  v1::StopRule& second = *run.plan.mutable_phases(1)->mutable_stop();
  second.set_time_s(60);
  second.set_warmup_s(30);
  run.max_duration_s = 10;
  REQUIRE(run.Go() == kExitOk);
  const v1::RunReport& report = run.conductor->report();
  CHECK(report.phases_size() == 1);
  REQUIRE(report.run().skipped_phases_size() == 2);
  CHECK(report.run().skipped_phases(0) == run.plan.phases(1).name());
  CHECK(report.run().skipped_phases(1) == run.plan.phases(2).name());
}

}  // namespace
}  // namespace iobench
