#include "coordinator/conductor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "common/units.h"
#include "coordinator/plan_builder.h"
#include "coordinator/plan_check.h"
#include "tests/support/scripted_workers.h"

namespace iobench {
namespace {

using Catch::Matchers::Contains;

v1::WorkerFacts Facts(const std::string& host, const std::string& version = "1.0") {
  v1::WorkerFacts facts;
  facts.set_host(host);
  facts.set_boot_id("boot of " + host);
  facts.set_program_version(version);
  return facts;
}

// What workers say in scripts.
v1::WorkerEvent ArmedInTime() {
  v1::WorkerEvent event;
  event.mutable_armed()->set_margin_ns(1'000'000'000);
  return event;
}
v1::WorkerEvent AtDeadline(uint64_t most_ops) {
  v1::WorkerEvent event;
  event.mutable_deadline_reached()->set_most_ops(most_ops);
  return event;
}
v1::WorkerEvent Done() {
  v1::WorkerEvent event;
  event.mutable_lanes_done();
  return event;
}
v1::WorkerEvent Lost(const std::string& reason) {
  v1::WorkerEvent event;
  event.mutable_lost()->set_reason(reason);
  return event;
}

// Workers that do every request perfectly: one lane each, 4 KiB in 1 ms per phase. A test overrides what it is about.
struct PerfectWorkers {
  std::function<bool(WorkerId, const v1::WorkerRequest&, std::vector<v1::WorkerEvent>&)>
      instead;  // true: handled
  std::map<WorkerId, int64_t> start_ns;
  std::map<WorkerId, uint32_t> lane;

  std::vector<v1::WorkerEvent> operator()(WorkerId id, const v1::WorkerRequest& request) {
    std::vector<v1::WorkerEvent> events;
    if (instead && instead(id, request, events)) return events;
    v1::WorkerEvent event;
    switch (request.body_case()) {
      case v1::WorkerRequest::kPing: {
        const int64_t now_ns = MonotonicNowNs();
        event.mutable_pong()->set_received_worker_ns(now_ns);
        event.mutable_pong()->set_replied_worker_ns(now_ns);
        break;
      }
      case v1::WorkerRequest::kInspect:
        for (int i = 0; i < request.inspect().targets_size(); ++i) {
          v1::TargetFacts& target = *event.mutable_inspected()->add_targets();
          target.set_filesystem_id("shared");
          target.set_network(true);
          target.set_free_bytes(1_GiB);
          target.set_logical_block_bytes(512);
        }
        break;
      case v1::WorkerRequest::kDataStep:
        event.mutable_data_step_done();
        break;
      case v1::WorkerRequest::kPrepare:
        lane[id] = request.prepare().lanes(0).lane();
        event.mutable_prepared();
        break;
      case v1::WorkerRequest::kArm: {
        start_ns[id] = request.arm().start_worker_ns();
        event.mutable_armed()->set_margin_ns(start_ns[id] - MonotonicNowNs());
        events.push_back(event);
        event.Clear();
        v1::LaneEnds& ends = *event.mutable_lanes_done()->add_ends();
        ends.set_lane(lane[id]);
        ends.set_took_part(true);
        ends.set_first_op_worker_ns(start_ns[id]);
        ends.set_ops_end_worker_ns(start_ns[id] + 1'000'000);
        ends.set_region_end_worker_ns(start_ns[id] + 1'000'000);
        break;
      }
      case v1::WorkerRequest::kCollect: {
        event.mutable_chunk()->set_last(true);
        v1::LaneResult& result = *event.mutable_chunk()->add_lanes();
        result.set_lane(lane[id]);
        result.set_file_owner(lane[id]);
        result.set_operation("read");
        result.set_first_op_worker_ns(start_ns[id]);
        result.set_ops_end_worker_ns(start_ns[id] + 1'000'000);
        result.set_region_end_worker_ns(start_ns[id] + 1'000'000);
        for (const uint64_t total : {0_KiB, 4_KiB}) {  // delta coded
          result.mutable_timeline()->add_at_worker_ns(total == 0 ? start_ns[id] : 1'000'000);
          result.mutable_timeline()->add_bytes(total);
          result.mutable_timeline()->add_ops(total / 4_KiB);
        }
        result.set_bytes(4_KiB);
        result.set_ops(1);
        result.set_region_bytes(4_KiB);
        result.set_region_ops(1);
        break;
      }
      case v1::WorkerRequest::kAdjust:
        event.mutable_adjusted();
        break;
      default:
        return events;
    }
    events.push_back(event);
    return events;
  }
};

struct Run {
  PerfectWorkers perfect;
  std::vector<v1::WorkerFacts> hosts = {Facts("b2"), Facts("b10"), Facts("a1")};
  v1::Plan plan = EmptyPhases(2, 1);
  Interrupt interrupt;
  bool interrupts_when_running = false;
  std::vector<ScriptedWorkers::Posted> posted;
  bool ordered = true;
  std::unique_ptr<Conductor> conductor;

  // Raises the interrupt once lanes run, if asked to.
  class Observer final : public RunObserver {
   public:
    explicit Observer(Run& run) : run_(run) {}
    void PhaseMoves(const PhaseProgress&) override { run_.interrupt.Raise(); }
    int64_t progress_interval_ns() const override { return run_.interrupts_when_running ? 1'000'000 : 0; }

   private:
    Run& run_;
  };

  int Go() {
    Observer observer(*this);
    ScriptedWorkers workers(
        hosts, [this](WorkerId id, const v1::WorkerRequest& request) { return perfect(id, request); });
    workers.set_ordered(ordered);
    ConductorOptions options;
    options.run_name = "test";
    options.run_id = 7;
    options.version = "1.0";
    options.worker_count = static_cast<uint32_t>(hosts.size());
    options.join_deadline = CoordNow() + 200'000'000;
    conductor = std::make_unique<Conductor>(workers, observer, interrupt, Facts("here"), plan, options);
    const int exit_code = conductor->Run();
    posted = std::move(workers.posted);
    return exit_code;
  }
  int Count(v1::WorkerRequest::BodyCase body) const {
    return static_cast<int>(std::count_if(
        posted.begin(), posted.end(), [body](const auto& sent) { return sent.request.body_case() == body; }));
  }
};

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
  std::map<WorkerId, int64_t> offset_ns = {{0, 0}, {1, 3'600'000'000'000}, {2, -5'000'000'000}};
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_ping()) return false;
    v1::WorkerEvent event;
    event.mutable_pong()->set_received_worker_ns(MonotonicNowNs() + offset_ns[id]);
    event.mutable_pong()->set_replied_worker_ns(MonotonicNowNs() + offset_ns[id]);
    events.push_back(event);
    return true;
  };
  // The phases end "at once" on clocks an hour away, which the perfect worker does not model: margins are checked here.
  std::map<WorkerId, int64_t> margin_ns;
  auto base = run.perfect.instead;
  run.perfect.instead = [&, base](WorkerId id, const v1::WorkerRequest& request,
                                  std::vector<v1::WorkerEvent>& events) {
    if (base(id, request, events)) return true;
    if (!request.has_arm()) return false;
    margin_ns[id] = request.arm().start_worker_ns() - (MonotonicNowNs() + offset_ns[id]);
    v1::WorkerEvent event;
    event.mutable_armed()->set_margin_ns(margin_ns[id]);
    events.push_back(event);
    event.Clear();
    v1::LaneEnds& ends = *event.mutable_lanes_done()->add_ends();
    ends.set_took_part(true);
    run.perfect.start_ns[id] = request.arm().start_worker_ns();
    ends.set_first_op_worker_ns(run.perfect.start_ns[id]);
    ends.set_ops_end_worker_ns(run.perfect.start_ns[id] + 1'000'000);
    ends.set_region_end_worker_ns(run.perfect.start_ns[id] + 1'000'000);
    events.push_back(event);
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  REQUIRE(margin_ns.size() == 3);
  for (const auto& [id, margin] : margin_ns) CHECK(std::abs(margin - margin_ns[0]) < 5'000'000);
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
    leads_ns.push_back(request.arm().start_worker_ns() - MonotonicNowNs());
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
  CHECK(leads_ns[2] > 3 * leads_ns[0]);               // doubled twice
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
    // Its answer to the disarm takes until after the start.
    while (request.has_adjust() && MonotonicNowNs() < called_off_start_ns) {
    }
    return false;
  };
  REQUIRE(run.Go() == kExitOk);
  const v1::PhaseReport& phase = run.conductor->report().phases(0);
  CHECK(phase.start().attempts() == 2);
  CHECK(std::any_of(phase.marks().begin(), phase.marks().end(),
                    [](const v1::Mark& mark) { return mark.code() == "begun_before"; }));
}

TEST_CASE("a start that is always late happens in the end and is marked") {
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_arm() || id != 1 || request.arm().start_anyway()) return false;
    v1::WorkerEvent event;
    event.mutable_armed()->set_late(true);
    events.push_back(event);
    return true;
  };
  // The last attempt is answered in time; one late answer more and the phase starts all the same.
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.conductor->report().phases(0).start().attempts() == 6);
}

TEST_CASE("a flushed stonewall tells every lane to stop when the first one has finished") {
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.plan.mutable_phases(0)->set_stonewall(v1::STONEWALL_STOP);
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    v1::WorkerEvent event;
    if (request.has_arm()) {
      run.perfect.start_ns[id] = request.arm().start_worker_ns();
      event.mutable_armed()->set_margin_ns(1'000'000'000);
      events.push_back(event);
      if (id == 2) {
        v1::WorkerEvent ended;
        ended.mutable_lane_ended()->set_lane(2);
        events.push_back(ended);
      }
      return true;
    }
    if (!request.has_adjust()) return false;
    REQUIRE(request.adjust().stop());
    event.mutable_adjusted();
    events.push_back(event);
    event.Clear();
    v1::LaneEnds& ends = *event.mutable_lanes_done()->add_ends();
    ends.set_took_part(true);
    ends.set_first_op_worker_ns(run.perfect.start_ns[id]);
    ends.set_ops_end_worker_ns(run.perfect.start_ns[id] + 1'000'000);
    ends.set_region_end_worker_ns(run.perfect.start_ns[id] + 1'000'000);
    events.push_back(event);
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Count(v1::WorkerRequest::kAdjust) == 3);
}

TEST_CASE("with wear-out everybody goes on to what the fastest had done") {
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.plan.mutable_phases(0)->mutable_stop()->set_deadline_s(1);
  run.plan.mutable_phases(0)->mutable_stop()->set_wear_out(true);
  std::map<WorkerId, uint64_t> goals;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_arm()) {
      run.perfect.start_ns[id] = request.arm().start_worker_ns();
      events = {ArmedInTime(), AtDeadline(100 + 10 * id)};
      return true;
    }
    if (!request.has_adjust()) return false;
    goals[id] = request.adjust().ops_goal();
    events = {Done()};
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(goals == std::map<WorkerId, uint64_t>{{0, 120}, {1, 120}, {2, 120}});
}

TEST_CASE("with wear-out a worker that was through before the deadline counts, too") {
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.plan.mutable_phases(0)->mutable_stop()->set_deadline_s(1);
  run.plan.mutable_phases(0)->mutable_stop()->set_wear_out(true);
  std::map<WorkerId, uint64_t> goals;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_arm()) {
      events = {ArmedInTime(), AtDeadline(id == 0 ? 500 : 100 + 10 * id)};
      if (id == 0) events.push_back(Done());
      return true;
    }
    if (!request.has_adjust()) return false;
    goals[id] = request.adjust().ops_goal();
    events = {Done()};
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(goals[1] == 500);
  CHECK(goals[2] == 500);
}

TEST_CASE("a worker that is lost in a phase costs its own numbers and makes the run partial") {
  Run run;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_arm() || id != 1) return false;
    events = {ArmedInTime(), Lost("connection reset")};
    return true;
  };
  REQUIRE(run.Go() == kExitPartial);
  const v1::RunReport& report = run.conductor->report();
  REQUIRE(report.phases_size() == 2);
  CHECK(report.phases(0).workers_lost() == 1);
  CHECK(report.phases(0).bytes() == 8_KiB);
  CHECK(report.run().exit_code() == kExitPartial);
}

TEST_CASE("a lane's error makes exit code 2, and its lane sits out what needs its file") {
  Run run;
  run.plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_engine("posix");
  run.plan.set_lanes_per_worker(1);
  std::map<uint32_t, std::vector<bool>> sat_out;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_prepare()) sat_out[id].push_back(request.prepare().lanes(0).sits_out());
    if (!request.has_collect() || id != 1 || sat_out[id].size() > 1) return false;
    v1::WorkerEvent event;
    v1::LaneResult& lane = *event.mutable_chunk()->add_lanes();
    event.mutable_chunk()->set_last(true);
    lane.set_lane(1);
    lane.set_file_owner(1);
    lane.mutable_problem()->set_code(13);
    lane.mutable_problem()->set_errno_value(5);
    lane.mutable_problem()->set_message("lane-000001.0: Input/output error (EIO)");
    events.push_back(event);
    return true;
  };
  REQUIRE(run.Go() == kExitIo);
  CHECK(sat_out[0] == std::vector<bool>{false, false});
  CHECK(sat_out[1] == std::vector<bool>{false, true});
  REQUIRE(run.conductor->report().phases(0).errors_size() == 1);
  CHECK(run.conductor->report().phases(0).errors(0).errno_value() == 5);
}

TEST_CASE("a worker that is lost while it writes leaves broken the files it worked on, whoever owns them") {
  Run run;
  v1::Operation& operation = *run.plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation();
  operation.set_name("rewrite");
  operation.set_engine("posix");
  operation.set_rotate_clients(true);  // worker 0 on the files of 1, 1 on those of 2, 2 on those of 0
  run.plan.set_lanes_per_worker(1);
  std::map<uint32_t, std::vector<bool>> sat_out;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_prepare()) sat_out[id].push_back(request.prepare().lanes(0).sits_out());
    if (!request.has_arm() || id != 1) return false;
    events = {ArmedInTime(), Lost("connection reset")};
    return true;
  };
  REQUIRE(run.Go() == kExitPartial);
  CHECK(sat_out[0] == std::vector<bool>{false, false});
  CHECK(sat_out[2] == std::vector<bool>{false, false});
}

TEST_CASE("an interrupt ends the run with what was done and sends everybody home") {
  Run run;
  run.interrupts_when_running = true;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_arm()) {
      run.perfect.start_ns[id] = request.arm().start_worker_ns();
      events = {ArmedInTime()};
      return true;
    }
    if (request.has_poll()) return true;
    if (!request.has_adjust()) return false;
    REQUIRE(request.adjust().quit());
    events = {Done()};
    return true;
  };
  REQUIRE(run.Go() == kExitInterrupted);
  CHECK(run.conductor->report().phases_size() == 1);
  CHECK(run.conductor->report().phases(0).interrupted());
  CHECK(run.Count(v1::WorkerRequest::kLeave) == 3);
}

TEST_CASE("a worker of another version is refused with both versions named") {
  Run run;
  run.hosts[1] = Facts("b10", "0.9");
  REQUIRE(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()),
             Contains("b10") && Contains("0.9") && Contains("1.0"));
}

TEST_CASE("too few workers end the wait with their number") {
  Run run;
  ScriptedWorkers workers({Facts("a")},
                          [](WorkerId, const v1::WorkerRequest&) { return std::vector<v1::WorkerEvent>(); });
  Cluster cluster(workers, 1, run.interrupt);
  const absl::Status status = cluster.Gather(3, CoordNow() + 1'000'000, "1.0", [](uint32_t) {});
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK_THAT(std::string(status.message()), Contains("1 of 3"));
}

}  // namespace
}  // namespace iobench
