#include "coordinator/conduct/conductor.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/plan/plan_check.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

using Catch::Contains;

TEST_CASE("a run of two phases takes every worker through both and ends well") {
  Run run;
  REQUIRE(run.Go() == kExitOk);
  const v1::RunReport& report = run.conductor->report();
  REQUIRE(report.phases_size() == 2);
  CHECK(report.phases(0).bytes() == 12_KiB);
  CHECK(report.phases(1).repetition() == 1);
  CHECK(report.run().exit_code() == 0);
  CHECK(report.run().finished());
  CHECK(run.Count(v1::WorkerRequest::kLeave) == 3);
}

TEST_CASE("all workers are armed for one instant in their own clocks") {
  Run run;
  const std::map<WorkerId, int64_t> offset_ns = {{0, 0}, {1, 3'600'000'000'000}, {2, -5'000'000'000}};
  std::map<WorkerId, int64_t> start_coord_ns;
  run.plan = EmptyPhases(1, 1);
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    v1::WorkerEvent event;
    const int64_t now_ns = run.perfect.clock.now.ns + offset_ns.at(id);
    if (request.has_ping()) {
      event.mutable_pong()->set_received_worker_ns(now_ns);
      event.mutable_pong()->set_replied_worker_ns(now_ns);
      events.push_back(event);
      return true;
    }
    if (!request.has_arm()) return false;
    CHECK(request.arm().start_worker_ns() > now_ns);
    run.perfect.start_ns[id] = request.arm().start_worker_ns();
    start_coord_ns[id] = request.arm().start_worker_ns() - offset_ns.at(id);
    event.mutable_armed()->set_margin_ns(request.arm().start_worker_ns() - now_ns);
    events.push_back(event);
    events.push_back(DoneAfter(run.perfect.start_ns[id], 1'000'000, 1'000'000));
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  REQUIRE(start_coord_ns.size() == 3);
  // A clock is known to within half of a ping's round trip.
  for (const auto& [id, start_ns] : start_coord_ns)
    CHECK(std::abs(start_ns - start_coord_ns[0]) <= 2 * ScriptedWorkers::kWayNs);
  CHECK(std::abs(run.conductor->report().phases(0).start().skew_us()) < 1000);
}

TEST_CASE("workers without an order of their own are numbered by host, digits as numbers") {
  Run run;
  run.ordered = false;
  REQUIRE(run.Go() == kExitOk);
  std::vector<std::string> hosts;
  for (const v1::WorkerFacts& facts : run.conductor->record().workers()) hosts.push_back(facts.host());
  CHECK(hosts == std::vector<std::string>{"a1", "b2", "b10"});
}

TEST_CASE("one late answer cancels the start, doubles the lead and repeats it") {
  Run run;
  int late_answers = 2;
  std::vector<int64_t> leads_ns;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_arm() || id != 1) return false;
    leads_ns.push_back(request.arm().start_worker_ns() - run.perfect.clock.now.ns);
    if (late_answers-- <= 0) return false;
    v1::WorkerEvent event;
    event.mutable_armed()->set_late(true);
    events.push_back(event);
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.conductor->report().phases(0).start().attempts() == 3);
  CHECK(run.conductor->report().phases(1).start().attempts() == 1);
  REQUIRE(leads_ns.size() == 4);
  CHECK(static_cast<double>(leads_ns[1]) == Approx(2.0 * static_cast<double>(leads_ns[0])).epsilon(0.01));
  CHECK(static_cast<double>(leads_ns[2]) == Approx(4.0 * static_cast<double>(leads_ns[0])).epsilon(0.01));
  CHECK(run.Count(v1::WorkerRequest::kAdjust) == 6);  // two disarms to three workers
}

TEST_CASE("a start that is called off only after its instant is noted") {
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_engine("posix");
  bool answered_late = false;
  int64_t called_off_start_ns = 0;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    v1::WorkerEvent event;
    if (request.has_arm() && id == 1 && !answered_late) {
      answered_late = true;
      called_off_start_ns = request.arm().start_worker_ns();
      event.mutable_armed()->set_late(true);
      events.push_back(event);
      return true;
    }
    // The disarm is answered only after the start, which may be a little later on the coordinator's clock.
    if (request.has_adjust()) run.perfect.clock.AdvanceTo({called_off_start_ns + 1'000'000});
    return false;
  };
  REQUIRE(run.Go() == kExitOk);
  const v1::PhaseReport& phase = run.conductor->report().phases(0);
  CHECK(phase.start().attempts() == 2);
  CHECK(std::any_of(phase.marks().begin(), phase.marks().end(),
                    [](const v1::Mark& mark) { return mark.code() == "begun_before"; }));
}

TEST_CASE(
    "a start that is late time after time happens in the end, and is marked if the last one is late, too") {
  const bool last_is_late = GENERATE(false, true);
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_arm() || id != 1 || (request.arm().start_anyway() && !last_is_late)) return false;
    v1::WorkerEvent event;
    event.mutable_armed()->set_late(true);
    events.push_back(event);
    run.perfect.start_ns[id] = request.arm().start_worker_ns();
    if (request.arm().start_anyway()) {
      events.push_back(DoneAfter(run.perfect.start_ns[id], 1'000'000, 1'000'000));
    }
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  REQUIRE(run.phases.size() == 1);
  CHECK(run.phases[0].start().attempts() == 6);
  CHECK(std::any_of(run.phases[0].marks().begin(), run.phases[0].marks().end(),
                    [](const v1::Mark& mark) { return mark.code() == "start_late"; }) == last_is_late);
}

TEST_CASE("a rest that is not for the first phase comes before each repetition of it") {
  Run run;
  v1::Rest& rest = *run.plan.mutable_phases(0)->add_before()->mutable_rest();
  rest.set_seconds(1);
  rest.set_not_first(true);
  REQUIRE(run.Go() == kExitOk);
  std::map<uint32_t, int> steps;  // by phase
  for (const ScriptedWorkers::Posted& sent : run.posted) {
    if (!sent.request.has_prepare()) continue;
    steps[sent.request.prepare().phase_index()] += sent.request.prepare().steps_size();
  }
  CHECK(steps == std::map<uint32_t, int>{{0, 0}, {1, 3}});  // three workers
}

TEST_CASE("a worker of another version is refused with both versions named") {
  Run run;
  run.hosts[1] = Facts("b10", "0.9");
  REQUIRE(run.Go() == kExitPartial);
  CHECK_THAT(std::string(run.conductor->refusal().message()),
             Contains("b10") && Contains("0.9") && Contains("1.0"));
}

TEST_CASE("too few workers end the wait with their number, their hosts and what is missing") {
  ManualClock clock;
  const Interrupt interrupt;
  ScriptedWorkers workers(clock, {Facts("a")},
                          [](WorkerId, const v1::WorkerRequest&) { return std::vector<v1::WorkerEvent>(); });
  Cluster cluster(workers, 1, interrupt, ClusterPatience(), [&clock] { return clock.now; });
  const auto missing = [](const std::vector<v1::WorkerFacts>& joined) {
    return absl::StrCat(3 - joined.size(), ", to be started");
  };
  const absl::Status status =
      cluster.Gather(3, clock.now + 1'000'000, "1.0", [](uint32_t) {}, {.missing = missing});
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK(status.message() ==
        "1 of 3 workers have joined (a); missing: 2, to be started; raise --join-timeout to wait longer");
}

// One worker on each host, each with a path of its own.
struct PathsOfTheirOwn : Run {
  explicit PathsOfTheirOwn(uint32_t count) {
    hosts.clear();
    plan.Clear();
    plan.set_lanes_per_worker(1);
    plan.set_repetitions(1);
    plan.mutable_files()->set_bytes_per_lane(4_KiB);
    plan.mutable_files()->set_files_per_lane(1);
    for (uint32_t i = 0; i < count; ++i) {
      hosts.push_back(Facts(absl::StrFormat("host%04u", i)));
      v1::Target& own = *plan.add_targets();
      own.set_path(absl::StrFormat("/mnt/of/worker%04u", i));
      own.mutable_who()->add_workers(i);
    }
    for (const bool rotates : {false, true}) {
      v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
      operation.set_name(rotates ? "read" : "write");
      operation.set_engine("posix");
      operation.set_record_bytes(4_KiB);
      operation.set_rotate_clients(rotates);
    }
    CompletePlan(plan);
  }
  // Runs, and returns the messages of phase `index`.
  std::vector<v1::Prepare> Prepares(uint32_t index) {
    if (posted.empty()) REQUIRE(Go() == kExitOk);
    std::vector<v1::Prepare> found;
    for (const auto& sent : posted) {
      const v1::Prepare& prepare = sent.request.prepare();
      if (sent.request.has_prepare() && prepare.phase_index() == index &&
          prepare.operation().rotate_clients() == (index == 1)) {
        found.push_back(prepare);
      }
    }
    return found;
  }
};

TEST_CASE("with a path for each worker, what is sent to one does not grow with the number of workers") {
  constexpr size_t kLongerNumbers = 16;
  const auto largest = [](PathsOfTheirOwn& run, uint32_t index) {
    size_t bytes = 0;
    const std::vector<v1::Prepare> prepares = run.Prepares(index);
    CHECK(prepares.size() == run.hosts.size());
    for (const v1::Prepare& prepare : prepares) bytes = std::max(bytes, prepare.ByteSizeLong());
    return bytes;
  };
  PathsOfTheirOwn few(10), many(1000);
  for (const uint32_t index : {0u, 1u}) CHECK(largest(many, index) <= largest(few, index) + kLongerNumbers);
}

TEST_CASE(
    "a worker gets its own target and those of its lanes, and leaves only its own data if it is abandoned") {
  PathsOfTheirOwn run(3);
  for (const v1::Prepare& write : run.Prepares(0)) {
    const uint32_t worker = write.lanes(0).lane();
    REQUIRE(write.targets_size() == 1);
    CHECK(write.targets(0).path() == run.plan.targets(static_cast<int>(worker)).path());
    CHECK(write.target_numbers(0) == worker);
    CHECK(write.lanes(0).target() == 0);
    CHECK(write.claims(0).users() == 1);
  }
  for (const v1::Prepare& read : run.Prepares(1)) {
    const uint32_t worker = read.lanes(0).lane(), owner = read.lanes(0).file_owner();
    REQUIRE(worker != owner);
    REQUIRE(read.targets_size() == 2);
    REQUIRE(read.claims_size() == 2);
    const auto used = static_cast<int>(read.lanes(0).target());
    CHECK(read.target_numbers(used) == owner);
    CHECK(read.target_numbers(1 - used) == worker);
    CHECK(read.targets(used).path() == run.plan.targets(static_cast<int>(owner)).path());
    CHECK(read.claims(used).run_id() == 7);
    CHECK(read.claims(used).users() == 0);
    CHECK(read.claims(1 - used).users() == 1);
  }
}

TEST_CASE("with a path for each worker, a run sends and keeps for each as much as with few workers") {
  // Longer numbers have longer varints.
  constexpr size_t kLongerNumbers = 64;
  struct Bytes {
    std::map<v1::WorkerRequest::BodyCase, size_t> requests;
    size_t seen = 0;
  };
  const auto per_worker = [](uint32_t count) {
    PathsOfTheirOwn run(count);
    REQUIRE(run.Go() == kExitOk);
    Bytes bytes;
    for (const auto& sent : run.posted) {
      bytes.requests[sent.request.body_case()] += sent.request.ByteSizeLong();
    }
    for (auto& [kind, sum] : bytes.requests) sum /= count;
    for (const v1::WorkerTargets& seen : run.conductor->record().targets())
      bytes.seen += seen.SpaceUsedLong() / count;
    return bytes;
  };
  const Bytes few = per_worker(10), many = per_worker(300);
  for (const auto& [kind, bytes] : many.requests) {
    INFO("request " << kind);
    CHECK(bytes <= few.requests.at(kind) + kLongerNumbers);
  }
  CHECK(many.requests.contains(v1::WorkerRequest::kInspect));
  CHECK(many.seen <= few.seen + kLongerNumbers);
}

TEST_CASE("whether a run that left data is alive is asked on its own client, which need not use the path") {
  const bool by_coordinator = GENERATE(false, true);  // the client of the coordinator, or of the claimant
  PathsOfTheirOwn run(4);
  run.hosts[3].set_boot_id("boot3");
  run.plan.mutable_phases()->RemoveLast();
  std::map<WorkerId, std::vector<std::string>> asked;
  bool alive = true;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_inspect()) return false;
    v1::Inspected& inspected = *events.emplace_back().mutable_inspected();
    for (const v1::Target& target : request.inspect().targets()) {
      asked[id].push_back(target.path());
      v1::TargetFacts& seen = *inspected.add_targets();
      seen.set_filesystem_id("shared");
      seen.set_network(true);
      seen.set_free_bytes(1_GiB);
      if (target.path() != run.plan.targets(1).path()) continue;
      seen.mutable_manifest()->set_state(v1::Manifest::ACTIVE);
      seen.mutable_manifest()->set_run_id(99);
      seen.mutable_manifest()->set_created_by("login");
      (by_coordinator ? seen.mutable_manifest()->mutable_coordinator_boot_id()
                      : seen.mutable_manifest()->mutable_boot_id())
          ->assign("boot3 pid:[4026531836]");
      if (id == 3) seen.set_owner(alive ? v1::TargetFacts::ALIVE : v1::TargetFacts::GONE);
    }
    return true;
  };
  const std::vector<std::string> own_of_3 = {run.plan.targets(3).path()};
  std::vector<std::string> of_3 = own_of_3;
  of_3.push_back(run.plan.targets(1).path());
  CHECK(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()), Contains("is alive"));
  CHECK(asked[1].size() == 1);
  CHECK(asked[3] == of_3);
  CHECK(asked[0].size() + asked[2].size() == 2);
  alive = false;
  CHECK(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()), Contains("has crashed") && Contains("clean"));
}

TEST_CASE("in a soak those who only read a shared file prepare their data anew when a writer replaces it") {
  Run run;
  run.hosts.resize(2);
  run.plan.mutable_files()->set_shared_file(true);
  run.plan.mutable_phases(0)->clear_assignments();
  const bool writer_first = GENERATE(true, false);
  for (const uint32_t worker : writer_first ? std::vector{0u, 1u} : std::vector{1u, 0u}) {
    v1::Assignment& part = *run.plan.mutable_phases(0)->add_assignments();
    part.mutable_who()->add_workers(worker);
    v1::Operation& operation = *part.mutable_operation();
    operation.set_name(worker == 0 ? "write" : "read");
    operation.set_engine("posix");
    operation.set_record_bytes(4_KiB);
  }
  CompletePlan(run.plan);
  run.plan.set_soak_s(0.05);
  REQUIRE(run.Go() == kExitOk);
  int prepares_of_round_2 = 0;
  for (const auto& sent : run.posted) {
    if (!sent.request.has_prepare() || sent.request.prepare().phase_index() != 1) continue;
    CHECK_FALSE(sent.request.prepare().data_must_exist());
    ++prepares_of_round_2;
  }
  CHECK(prepares_of_round_2 == 2);
}

TEST_CASE("the shared file is removed only at the paths of workers that create it") {
  PathsOfTheirOwn run(2);
  run.plan.mutable_files()->set_shared_file(true);
  run.plan.mutable_phases()->RemoveLast();
  run.plan.mutable_phases(0)->mutable_assignments(0)->mutable_who()->add_workers(1);
  REQUIRE(run.Go() == kExitOk);
  std::vector<std::string> removed;
  for (const auto& sent : run.posted) {
    const v1::DataStep& step = sent.request.data_step();
    if (step.action() != v1::DataStep::REMOVE_SHARED_FILE) continue;
    for (const v1::Target& target : step.targets()) removed.push_back(target.path());
  }
  CHECK(removed == std::vector<std::string>{run.plan.targets(1).path()});
}

TEST_CASE("the manifest names the coordinator without which the run does not go on") {
  PathsOfTheirOwn run(2);
  REQUIRE(run.Go() == kExitOk);
  int claims = 0;
  for (const auto& sent : run.posted) {
    if (sent.request.data_step().action() != v1::DataStep::CLAIM) continue;
    const v1::Manifest& manifest = sent.request.data_step().manifest();
    CHECK(manifest.coordinator_pid() == ::getpid());
    CHECK_FALSE(manifest.coordinator_boot_id().empty());
    CHECK(manifest.coordinator_start_ticks() > 0);
    ++claims;
  }
  CHECK(claims == 2);
}

}  // namespace
}  // namespace iobench
