#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "coordinator/plan/plan_check.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/conduct/conductor.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

v1::Plan WornOut() {
  v1::Plan plan = EmptyPhases(1, 1);
  plan.mutable_phases(0)->mutable_stop()->set_deadline_s(1);
  plan.mutable_phases(0)->mutable_stop()->set_wear_out(true);
  return plan;
}

// Worker 1's connection breaks as soon as it is armed.
void LoseWorker1WhenArmed(Run& run) {
  run.perfect.instead = [](WorkerId id, const v1::WorkerRequest& request,
                           std::vector<v1::WorkerEvent>& events) {
    if (!request.has_arm() || id != 1) return false;
    events = {ArmedInTime(), Lost("connection reset")};
    return true;
  };
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
        ended.mutable_lane_ended();
        events.push_back(ended);
      }
      return true;
    }
    if (!request.has_adjust()) return false;
    REQUIRE(request.adjust().stop());
    event.mutable_adjusted();
    events.push_back(event);
    events.push_back(DoneAfter(run.perfect.start_ns[id], 1'000'000, 1'000'000));
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Count(v1::WorkerRequest::kAdjust) == 3);
}

TEST_CASE(
    "timelines are asked for where the first lane ended by itself, not where a stopped one had its last op") {
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.plan.mutable_phases(0)->set_stonewall(v1::STONEWALL_STOP);
  std::vector<int64_t> asked_ns;
  int64_t start_ns = 0;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_collect() && id == 0) {
      asked_ns.assign(request.collect().instants_worker_ns().begin(),
                      request.collect().instants_worker_ns().end());
    }
    if (!request.has_arm()) return false;
    start_ns = run.perfect.start_ns[id] = request.arm().start_worker_ns();
    v1::WorkerEvent done = DoneAfter(start_ns, id == 1 ? 5'000'000 : 2'000'000, 6'000'000);
    done.mutable_lanes_done()->mutable_ends(0)->set_stopped(id != 1);
    events = {ArmedInTime(), done};
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  const auto asked = [&](int64_t ns) {
    return std::find_if(asked_ns.begin(), asked_ns.end(),
                        [ns](int64_t at) { return std::abs(at - ns) < 1000; }) != asked_ns.end();
  };
  CHECK(asked(start_ns + 5'000'000));
  CHECK_FALSE(asked(start_ns + 2'000'000));
}

TEST_CASE("with wear-out everybody goes on to what the fastest had done") {
  Run run;
  run.plan = WornOut();
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

TEST_CASE("with wear-out no stonewall stops the lanes that go on to the goal") {
  for (const v1::Stonewall kind : {v1::STONEWALL_FLUSHED, v1::STONEWALL_STOP}) {
    Run run;
    run.plan = WornOut();
    run.plan.mutable_phases(0)->set_stonewall(kind);
    run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                              std::vector<v1::WorkerEvent>& events) {
      if (request.has_arm()) {
        run.perfect.start_ns[id] = request.arm().start_worker_ns();
        events = {ArmedInTime(), AtDeadline(100 + 10 * id)};
        return true;
      }
      if (!request.has_adjust()) return false;
      REQUIRE_FALSE(request.adjust().stop());
      if (id == 2) {  // the fastest has nothing left to do
        v1::WorkerEvent ended;
        ended.mutable_lane_ended();
        events.push_back(ended);
      }
      events.push_back(DoneAfter(run.perfect.start_ns[id], 1'000'000, 1'000'000));
      return true;
    };
    REQUIRE(run.Go() == kExitOk);
    CHECK(run.Count(v1::WorkerRequest::kAdjust) == 3);
  }
}

TEST_CASE("workers are told when their client has more lanes than processors") {
  Run run;
  for (v1::WorkerFacts& facts : run.hosts) {
    facts.set_processor_mask("\x03");
    facts.set_processors(2);
  }
  run.hosts[1] = run.hosts[0];  // workers 0 and 1 share a client of two processors
  run.plan.set_lanes_per_worker(2);
  std::map<WorkerId, bool> crowded;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>&) {
    if (request.has_prepare()) crowded[id] = request.prepare().crowded();
    return false;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(crowded == std::map<WorkerId, bool>{{0, true}, {1, true}, {2, false}});
}

TEST_CASE("with wear-out a worker that was through before the deadline counts, too") {
  Run run;
  run.plan = WornOut();
  std::map<WorkerId, uint64_t> goals;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_arm()) {
      run.perfect.start_ns[id] = request.arm().start_worker_ns();
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

TEST_CASE("a criterion that is not met ends the run with a code of its own, unless a worker was lost") {
  constexpr char kCriterion[] = "*>=900000TiB/s";
  Run run;
  run.plan.add_criteria(kCriterion);
  CHECK(run.Go() == kExitThreshold);
  CHECK(run.conductor->report().run().exit_code() == kExitThreshold);
  REQUIRE(run.conductor->report().criteria_size() == 1);
  Run with_loss;
  with_loss.plan.add_criteria(kCriterion);
  LoseWorker1WhenArmed(with_loss);
  CHECK(with_loss.Go() == kExitPartial);
  REQUIRE(with_loss.conductor->report().criteria_size() == 1);
  CHECK_FALSE(with_loss.conductor->report().criteria(0).met());
}

TEST_CASE("a worker that is lost in a phase costs its own numbers and makes the run partial") {
  Run run;
  LoseWorker1WhenArmed(run);
  REQUIRE(run.Go() == kExitPartial);
  const v1::RunReport& report = run.conductor->report();
  REQUIRE(report.phases_size() == 2);
  CHECK(report.phases(0).workers_lost() == 1);
  CHECK(report.phases(0).bytes() == 8_KiB);
  CHECK(report.run().exit_code() == kExitPartial);
}

TEST_CASE("the record of a phase says whether a worker was lost in it or before") {
  const TempDir temporary;
  Run run;
  run.out_directory = temporary.path() + "/out";
  LoseWorker1WhenArmed(run);
  REQUIRE(run.Go() == kExitPartial);
  for (const uint32_t index : {0u, 1u}) {
    v1::PhaseRecord phase;
    REQUIRE(LoadRawPhase(RawPhasePath(run.out_directory, index), 7, phase).ok());
    CHECK(phase.workers(1).lost());
    CHECK(phase.workers(1).lost_in_phase() == (index == 0));
    CHECK_FALSE(phase.workers(0).lost_in_phase());
  }
}

TEST_CASE("a worker whose result cannot be costs its own numbers, is marked, and makes exit code 2") {
  Run run;
  bool lied = false;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_collect() || id != 1 || lied) return false;
    lied = true;
    events = run.perfect(id, request);
    v1::LaneResult& lane = *events.back().mutable_chunk()->mutable_lanes(0);
    lane.set_bytes(uint64_t{1} << 63);
    lane.set_region_bytes(uint64_t{1} << 63);
    return true;
  };
  REQUIRE(run.Go() == kExitIo);
  REQUIRE(run.phases.size() == 2);
  const v1::PhaseReport& phase = run.phases[0];
  CHECK(phase.bytes() == 8_KiB);
  REQUIRE(phase.marks_size() >= 2);
  CHECK(phase.marks(0).code() == "refused_result");
  CHECK_THAT(phase.marks(0).text(), Catch::Contains("worker 1 on") && Catch::Contains("lane 1"));
  CHECK(phase.marks(1).code() == "partial");
  CHECK_THAT(phase.marks(1).text(), Catch::Contains("1 worker refused"));
  REQUIRE(phase.errors_size() == 1);
  CHECK_THAT(phase.errors(0).message(), Catch::Contains("refused"));
  CHECK(run.phases[1].bytes() == 12_KiB);  // the worker's later results count
}

TEST_CASE("the ops that a refused result missed are not recorded") {
  const TempDir temporary;
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.out_directory = temporary.path() + "/out";
  bool lied = false;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_collect() || id != 1 || lied) return false;
    lied = true;
    events = run.perfect(id, request);
    events.back().mutable_chunk()->set_missed_arrivals(5);
    return true;
  };
  CHECK(run.Go() == kExitIo);
  v1::PhaseRecord phase;
  REQUIRE(LoadRawPhase(RawPhasePath(run.out_directory, 0), 7, phase).ok());
  CHECK_THAT(phase.workers(1).refused_reason(), Catch::Contains("it missed 5 ops"));
  CHECK(phase.workers(1).lanes().empty());
  CHECK(phase.workers(1).missed_arrivals() == 0);
}

TEST_CASE("a worker that sends other workers' lanes, or lanes without end, is refused") {
  for (const int copies : {1, 100'000}) {
    Run run;
    run.plan = EmptyPhases(1, 1);
    bool lied = false;
    run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                              std::vector<v1::WorkerEvent>& events) {
      if (!request.has_collect() || id != 1 || lied) return false;
      lied = true;
      events = run.perfect(id, request);
      v1::ResultChunk& chunk = *events.back().mutable_chunk();
      chunk.mutable_lanes(0)->set_lane(2);
      for (int i = 1; i < copies; ++i) *chunk.add_lanes() = chunk.lanes(0);
      return true;
    };
    CHECK(run.Go() == kExitIo);
    REQUIRE(run.phases.size() == 1);
    CHECK(run.phases[0].bytes() == 8_KiB);
    CHECK(run.phases[0].marks(0).code() == "refused_result");
  }
}

TEST_CASE("a worker that answers pings before they arrive is refused, and delays nobody") {
  Run honest, lying;
  honest.plan = lying.plan = EmptyPhases(1, 1);
  REQUIRE(honest.Go() == kExitOk);
  lying.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                              std::vector<v1::WorkerEvent>& events) {
    if (!request.has_ping() || id != 1) return false;
    v1::WorkerEvent pong;
    pong.mutable_pong()->set_received_worker_ns(lying.perfect.clock.now.ns + 3600 * kNanosPerSecond);
    pong.mutable_pong()->set_replied_worker_ns(lying.perfect.clock.now.ns);
    events = {pong};
    return true;
  };
  CHECK(lying.Go() == kExitIo);
  REQUIRE(lying.phases.size() == 1);
  CHECK(lying.phases[0].bytes() == 8_KiB);
  CHECK_THAT(lying.phases[0].marks(0).text(), Catch::Contains("before the ping had arrived"));
  const auto lead_ns = [](const Run& run) {  // from the request to T, in the clock of worker 0
    for (const auto& sent : run.posted) {
      if (sent.request.has_arm() && sent.worker == 0) return sent.request.arm().start_worker_ns();
    }
    return int64_t{0};
  };
  CHECK(std::abs(lead_ns(lying) - lead_ns(honest)) < 100'000'000);
}

TEST_CASE("a worker that answers everything with the first part of a result holds nobody up") {
  Run run;
  run.patience.stall_after_ns = 10'000'000'000;
  run.phase_timeout_ns = 20'000'000'000;
  int pings = 0;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (id != 1 || !request.has_ping()) return false;
    REQUIRE(++pings < 1000);  // otherwise it would be asked forever
    events.emplace_back().mutable_chunk()->add_lanes();
    return true;
  };
  CHECK(run.Go() != kExitOk);
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
  REQUIRE(run.phases[0].errors_size() == 1);
  CHECK(run.phases[0].errors(0).errno_value() == 5);
}

TEST_CASE("a worker that refuses a phase costs its own lanes, and takes part in the next one") {
  Run run;
  int refused = 0;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_prepare() || id != 1 || refused++ > 0) return false;
    v1::WorkerEvent event;
    event.mutable_problem()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    event.mutable_problem()->set_errno_value(116);
    event.mutable_problem()->set_message("open /mnt/nfs/cluster-iobench.data: Stale file handle (ESTALE)");
    events.push_back(event);
    return true;
  };
  REQUIRE(run.Go() == kExitIo);
  REQUIRE(run.phases.size() == 2);
  CHECK(run.phases[0].lanes_failed() == 1);
  CHECK(run.phases[0].workers_lost() == 0);
  CHECK(run.phases[0].bytes() == 8_KiB);
  REQUIRE(run.phases[0].errors_size() == 1);
  CHECK(run.phases[0].errors(0).errno_value() == 116);
  CHECK(run.phases[0].errors(0).worker() == 1);
  CHECK(run.phases[1].lanes_failed() == 0);
  CHECK(run.phases[1].bytes() == 12_KiB);
}

TEST_CASE("the share of a rate that a worker refuses is taken over only if the start is repeated") {
  const bool start_is_repeated = GENERATE(false, true);
  const TempDir temporary;
  Run run;
  run.plan = EmptyPhases(1, 1);
  run.plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->mutable_arrivals()->set_ops_per_s(
      900);
  run.out_directory = temporary.path() + "/out";
  bool is_late = start_is_repeated;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    v1::WorkerEvent event;
    if (request.has_prepare() && id == 1) {
      event.mutable_problem()->set_code(static_cast<int>(absl::StatusCode::kInternal));
      event.mutable_problem()->set_message("no thread can be started");
    } else if (request.has_arm() && id == 2 && is_late) {
      is_late = false;
      event.mutable_armed()->set_late(true);
    } else {
      return false;
    }
    events.push_back(event);
    return true;
  };
  REQUIRE(run.Go() == kExitIo);
  v1::PhaseRecord phase;
  REQUIRE(LoadRawPhase(RawPhasePath(run.out_directory, 0), 7, phase).ok());
  CHECK(phase.start_attempts() == (start_is_repeated ? 2u : 1u));
  const uint32_t share_count = start_is_repeated ? 2 : 3;
  CHECK(phase.workers(0).rate_share_count() == share_count);
  CHECK(phase.workers(1).rate_share_count() == 0);
  CHECK(phase.workers(2).rate_share_count() == share_count);
  REQUIRE(run.phases.size() == 1);
  CHECK(run.phases[0].open_loop().asked_ops_per_s() == Approx(start_is_repeated ? 900 : 600));
}

TEST_CASE("a phase that everybody refuses ends the run") {
  Run run;
  run.perfect.instead = [&](WorkerId, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_prepare()) return false;
    v1::WorkerEvent event;
    event.mutable_problem()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    event.mutable_problem()->set_message("no room");
    events.push_back(event);
    return true;
  };
  CHECK(run.Go() == kExitIo);
  CHECK(run.Count(v1::WorkerRequest::kPrepare) == 3);
  REQUIRE(run.conductor->report().run().problems_size() == 1);
  CHECK_THAT(run.conductor->report().run().problems(0).message(), Catch::Contains("no room"));
}

// Answers polls of its lanes, which never make progress.
bool Hangs(const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>& events) {
  if (request.has_arm()) {
    events = {ArmedInTime()};
    return true;
  }
  if (!request.has_poll()) return false;
  v1::WorkerEvent event;
  event.mutable_progress()->set_bytes(4096);
  event.mutable_progress()->set_ops(1);
  v1::ThreadWork& work = *event.mutable_progress()->add_work();
  work.set_lane(1);
  work.set_step("its ops");
  work.set_call("pwrite64");
  work.set_offset(8192);
  work.set_file("/mnt/nfs/lane-000001.0");
  events = {event};
  return true;
}

TEST_CASE("a worker whose lanes hang is dropped with what it was doing, and the rest is whole") {
  Run run;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    return id == 1 && Hangs(request, events);
  };
  REQUIRE(run.Go() == kExitPartial);
  REQUIRE(run.phases.size() == 2);
  const v1::PhaseReport& phase = run.phases[0];
  CHECK(phase.workers_lost() == 1);
  CHECK(phase.bytes() == 8_KiB);
  REQUIRE(phase.errors_size() == 1);
  CHECK_THAT(
      phase.errors(0).message(),
      Catch::Contains(
          "no progress for 5 min 00 s while its lanes run (lane 1 in its ops, pwrite64 at offset 8192 of "
          "/mnt/nfs/lane-000001.0)"));
  uint64_t lost_bytes = 0;
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    for (const v1::WorkerPhaseReport& worker : client.workers())
      lost_bytes += worker.lost() ? worker.bytes() : 0;
  }
  CHECK(lost_bytes == 4_KiB);  // its last known bytes, although nobody watches
  CHECK(run.phases[1].bytes() == 8_KiB);
}

TEST_CASE("with --on-lost abort the run ends at the loss, and what was done is saved") {
  Run run;
  run.patience.abort_on_lost = true;
  LoseWorker1WhenArmed(run);
  REQUIRE(run.Go() == kExitPartial);
  CHECK(run.conductor->report().phases_size() == 1);
  CHECK(run.conductor->report().run().exit_code() == kExitPartial);
}

TEST_CASE("--phase-timeout ends a phase whose lanes make progress but never end") {
  Run run;
  run.phase_timeout_ns = 10 * kNanosPerSecond;
  uint64_t ops = 0;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (id != 1 || !Hangs(request, events)) return false;
    if (events[0].has_progress()) events[0].mutable_progress()->set_ops(++ops);
    return true;
  };
  REQUIRE(run.Go() == kExitPartial);
  REQUIRE(run.phases.size() == 2);
  REQUIRE(run.phases[0].errors_size() == 1);
  CHECK_THAT(run.phases[0].errors(0).message(), Catch::Contains("--phase-timeout"));
}

TEST_CASE("a worker that is late to prepare is dropped at --phase-timeout, and costs the others nothing") {
  Run run;
  run.phase_timeout_ns = 10 * kNanosPerSecond;
  run.perfect.instead = [](WorkerId id, const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>&) {
    return id == 1 && request.has_prepare();
  };
  REQUIRE(run.Go() == kExitPartial);
  REQUIRE(run.phases.size() == 2);
  CHECK(run.phases[0].workers_lost() == 1);
  for (const v1::PhaseReport& phase : run.phases) CHECK(phase.bytes() == 8_KiB);
}

TEST_CASE("an interrupt while clocks are pinged after the lanes ends the run, and the phase counts as measured") {
  Run run;
  bool armed = false;
  run.perfect.instead = [&](WorkerId, const v1::WorkerRequest& request, std::vector<v1::WorkerEvent>&) {
    armed |= request.has_arm();
    if (armed && request.has_ping()) run.interrupt.Raise();
    return false;
  };
  REQUIRE(run.Go() == kExitInterrupted);
  REQUIRE(run.phases.size() == 1);
  CHECK_FALSE(run.phases[0].interrupted());
  CHECK(run.phases[0].bytes() == 12_KiB);
  CHECK(std::count_if(run.posted.begin(), run.posted.end(),
                      [](const auto& sent) { return sent.request.adjust().quit(); }) == 3);
}

TEST_CASE("if the worker that removes the shared file is lost, another one removes it") {
  Run run;
  run.plan = EmptyPhases(2, 1);
  run.plan.mutable_files()->set_shared_file(true);
  v1::Phase& phase = *run.plan.mutable_phases(0);
  phase.mutable_assignments(0)->mutable_operation()->set_name("write");
  phase.mutable_assignments(0)->mutable_operation()->set_engine("posix");
  phase.clear_name();
  CompletePlan(run.plan);
  std::vector<WorkerId> removers;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.data_step().action() != v1::DataStep::REMOVE_SHARED_FILE) return false;
    removers.push_back(id);
    if (removers.size() > 1) return false;
    events = {Lost("its mount hangs")};
    return true;
  };
  CHECK(run.Go() == kExitPartial);
  REQUIRE(removers.size() == 3);  // lost, in its place, and before the second phase
  CHECK(removers[1] != removers[0]);
  REQUIRE(run.phases.size() == 2);
  for (const v1::PhaseReport& each : run.phases) CHECK(each.bytes() == 8_KiB);
}

TEST_CASE("a lane that has failed on a shared file takes part again when another worker has it removed") {
  Run run;
  run.hosts.resize(2);
  run.plan = EmptyPhases(1, 1);
  run.plan.mutable_files()->set_shared_file(true);
  run.plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_name("rewrite");
  run.plan.mutable_phases(0)->mutable_assignments(0)->mutable_operation()->set_engine("posix");
  v1::Phase& mix = *run.plan.add_phases();
  for (const uint32_t worker : {1u, 0u}) {
    v1::Assignment& part = *mix.add_assignments();
    part = run.plan.phases(0).assignments(0);
    part.mutable_operation()->set_name(worker == 0 ? "write" : "read");
    part.mutable_who()->add_workers(worker);
  }
  CompletePlan(run.plan);
  std::map<uint32_t, std::vector<bool>> sat_out;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_prepare()) sat_out[id].push_back(request.prepare().lanes(0).sits_out());
    if (!request.has_collect() || id != 1 || sat_out[id].size() > 1) return false;
    v1::ResultChunk& chunk = *events.emplace_back().mutable_chunk();
    chunk.set_last(true);
    v1::LaneResult& lane = *chunk.add_lanes();
    lane.set_lane(1);
    lane.set_file_owner(1);
    lane.mutable_problem()->set_code(13);
    lane.mutable_problem()->set_message("shared: Input/output error (EIO)");
    return true;
  };
  REQUIRE(run.Go() == kExitIo);
  REQUIRE(run.phases.size() == 2);
  CHECK(sat_out[0] == std::vector<bool>{false, false});
  CHECK(sat_out[1] == std::vector<bool>{false, false});
}

TEST_CASE("workers that do not join in time, or are lost before the first phase, make the run partial") {
  Run late;
  late.hosts.pop_back();
  late.worker_count = 3;
  CHECK(late.Go() == kExitPartial);
  Run lost;
  lost.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                             std::vector<v1::WorkerEvent>& events) {
    if (!request.has_inspect() || id != 1) return false;
    events = {Lost("connection reset")};
    return true;
  };
  CHECK(lost.Go() == kExitPartial);
}

TEST_CASE("until a run has ended its exit code is unknown") {
  Run run;
  std::vector<bool> known;
  run.on_phase = [&](const v1::PhaseReport&) { known.push_back(run.conductor->record().has_exit_code()); };
  REQUIRE(run.Go() == kExitOk);
  CHECK(known == std::vector<bool>{false, false});
  CHECK(run.conductor->report().run().has_exit_code());
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
  // The first of three is the owners', who prepare the files for others.
  CHECK(sat_out[0] == std::vector<bool>{false, false, false});
  CHECK(sat_out[2] == std::vector<bool>{false, false, false});
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

TEST_CASE("a phase that is interrupted while all its lanes hang is in the report all the same") {
  Run run;
  run.interrupts_when_running = true;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_arm()) {
      run.perfect.start_ns[id] = request.arm().start_worker_ns();
      events = {ArmedInTime()};
      return true;
    }
    return request.has_poll() || request.has_adjust() || request.has_collect();  // no answer
  };
  REQUIRE(run.Go() == kExitInterrupted);
  REQUIRE(run.conductor->report().phases_size() == 1);
  const v1::PhaseReport& phase = run.phases[0];
  CHECK(phase.interrupted());
  REQUIRE(phase.errors_size() == 3);
  CHECK_THAT(phase.errors(0).message(), Catch::Contains("had not ended when the run was interrupted"));
}

TEST_CASE("the saved exit code is that of the process, and there is none until it is known") {
  const TempDir temporary;
  Run run;
  run.out_directory = temporary / "out";
  run.conclude = [&](int exit_code) {
    CHECK(exit_code == kExitOk);
    CHECK(run.conductor->record().exit_code() == kExitOk);  // what documents say so far
    CHECK_FALSE(LoadRawRun(run.out_directory)->has_exit_code());
    return kExitIo;
  };
  CHECK(run.Go() == kExitIo);
  CHECK(LoadRawRun(run.out_directory)->exit_code() == kExitIo);
  CHECK(run.conductor->report().run().exit_code() == kExitIo);
}

TEST_CASE("an end that cannot be saved is an I/O error, and no saved file says otherwise") {
  const TempDir temporary;
  Run run;
  run.out_directory = temporary / "out";
  run.conclude = [&](int exit_code) {
    std::filesystem::create_directories(run.out_directory + "/result.json.partial/x");  // in the way
    return exit_code;
  };
  CHECK(run.Go() == kExitIo);
  CHECK(LoadRawRun(run.out_directory)->exit_code() == kExitIo);
}

}  // namespace
}  // namespace iobench
