// Results that come with the end of lanes, without a Collect.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/report/raw_files.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

// On hosts of their own, hence with as many clocks.
struct ManyWorkers : Run {
  explicit ManyWorkers(size_t count) {
    plan = EmptyPhases(2, 1);
    hosts.clear();
    for (size_t i = 0; i < count; ++i) hosts.push_back(Facts(absl::StrCat("host", i)));
  }
};

std::multiset<std::string> CodesOf(const v1::PhaseReport& phase) {
  std::multiset<std::string> codes;
  for (const v1::Mark& mark : phase.marks()) codes.insert(mark.code());
  return codes;
}

TEST_CASE(
    "more than 1,000 workers whose lanes end soon report at once; they are not asked, and no result changes") {
  ManyWorkers few(1000), many(1001);
  REQUIRE(few.Go() == kExitOk);
  CHECK(few.Count(v1::WorkerRequest::kCollect) == 2 * 1000);
  REQUIRE(many.Go() == kExitOk);
  CHECK(many.Count(v1::WorkerRequest::kCollect) == 0);
  for (const ManyWorkers* run : {&few, &many}) {
    REQUIRE(run->phases.size() == 2);
    for (const v1::PhaseReport& phase : run->phases) CHECK(phase.bytes() == run->hosts.size() * 4_KiB);
  }
  CHECK(CodesOf(many.phases[1]) == CodesOf(few.phases[1]));
}

TEST_CASE("of more than 1,000 workers, those that do not report with the end of their lanes are asked") {
  ManyWorkers run(1001);
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (id >= 3 || request.arm().report_up_to_ns() == 0) return false;
    v1::WorkerRequest as_before = request;
    as_before.mutable_arm()->clear_report_up_to_ns();
    events = run.perfect(id, as_before);
    return true;
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Count(v1::WorkerRequest::kCollect) == 2 * 3);
  CHECK(run.phases[1].bytes() == 1001 * 4_KiB);
}

TEST_CASE("results that come with the end of lanes are checked like others") {
  ManyWorkers run(1001);
  bool falsified = false;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (!request.has_arm() || id != 5 || std::exchange(falsified, true)) return false;
    events = run.perfect(id, request);
    events[1].mutable_lanes_done()->mutable_results()->mutable_lanes(0)->set_lane(6);
    return true;
  };
  CHECK(run.Go() == kExitIo);
  CHECK(run.phases[0].bytes() == 1000 * 4_KiB);
  CHECK(run.phases[1].bytes() == 1001 * 4_KiB);
}

TEST_CASE("the results of a worker that is lost after it has reported count only if they are possible") {
  for (const bool lies : {false, true}) {
    const TempDir temporary;
    ManyWorkers run(1001);
    run.plan = EmptyPhases(1, 1);
    run.out_directory = temporary.path() + "/out";
    run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                              std::vector<v1::WorkerEvent>& events) {
      if (!request.has_arm() || id != 5) return false;
      run.perfect.start_ns[id] = request.arm().start_worker_ns();
      v1::WorkerEvent done = DoneAfter(run.perfect.start_ns[id], 1'000'000, 1'000'000);
      v1::ResultChunk& results = *done.mutable_lanes_done()->mutable_results();
      run.perfect.AddResults(id, results);
      if (lies) results.mutable_lanes(0)->set_file_owner(6);
      events = {ArmedInTime(), done, Lost("connection reset")};
      return true;
    };
    CHECK(run.Go() == kExitPartial);
    v1::PhaseRecord phase;
    REQUIRE(LoadRawPhase(temporary.path() + "/out/raw/phase-000.pb", 7, phase, nullptr).ok());
    const auto& workers = phase.workers();
    const auto lost =
        std::find_if(workers.begin(), workers.end(), [](const auto& worker) { return worker.lost(); });
    REQUIRE(lost != workers.end());
    CHECK(lost->lanes_size() == (lies ? 0 : 1));
  }
}

TEST_CASE(
    "a clock that was stepped before its worker reported is found by another ping, and nothing is refused") {
  constexpr int64_t kStepNs = 100 * kNanosPerSecond;
  ManyWorkers run(1001);
  run.plan = EmptyPhases(1, 1);
  bool stepped = false;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (id != 5 || (!request.has_arm() && !request.has_ping())) return false;
    if (request.has_ping()) {
      if (!stepped) return false;
      v1::WorkerEvent event;
      *event.mutable_pong() = run.perfect.Pong();
      event.mutable_pong()->set_received_worker_ns(event.pong().received_worker_ns() + kStepNs);
      event.mutable_pong()->set_replied_worker_ns(event.pong().replied_worker_ns() + kStepNs);
      events = {event};
      return true;
    }
    if (std::exchange(stepped, true)) return false;
    events = run.perfect(id, request);
    // In the results only, because the scripted worker's message arrives when its lanes have ended.
    v1::LaneResult& lane = *events[1].mutable_lanes_done()->mutable_results()->mutable_lanes(0);
    lane.set_ops_end_worker_ns(lane.ops_end_worker_ns() + kStepNs);
    lane.set_region_end_worker_ns(lane.region_end_worker_ns() + kStepNs);
    return true;
  };
  CHECK(run.Go() == kExitOk);
  CHECK(CodesOf(run.phases[0]).count("refused_result") == 0);
  CHECK(CodesOf(run.phases[0]).count("clock_step") == 1);
}

TEST_CASE("results that come after an interrupt are not asked for again") {
  ManyWorkers run(1001);
  run.plan = EmptyPhases(1, 1);
  run.interrupts_when_running = true;
  run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                            std::vector<v1::WorkerEvent>& events) {
    if (request.has_arm()) {  // its lanes run on until they are told to quit
      run.perfect.start_ns[id] = request.arm().start_worker_ns();
      v1::WorkerEvent armed = ArmedInTime();
      *armed.mutable_armed()->mutable_pong() = run.perfect.Pong();
      events = {armed};
      return true;
    }
    if (!request.adjust().quit()) return false;
    v1::WorkerEvent adjusted, done = DoneAfter(run.perfect.start_ns[id], 1'000'000, 1'000'000);
    adjusted.mutable_adjusted();
    run.perfect.AddResults(id, *done.mutable_lanes_done()->mutable_results());
    events = {adjusted, done};
    return true;
  };
  CHECK(run.Go() == kExitInterrupted);
  CHECK(run.Count(v1::WorkerRequest::kCollect) == 0);
  CHECK(run.phases[0].bytes() == 1001 * 4_KiB);
}

}  // namespace
}  // namespace iobench
