#include "worker/worker_service.h"

#include <unistd.h>

#include <filesystem>
#include <future>
#include <set>

#include "common/live/latency_bins.h"
#include "common/timeline.h"
#include "common/version.h"
#include "tests/unit/worker_harness.h"
#include "worker/data_directory/data_ownership.h"
#include "worker/data_directory/data_removal.h"
#include "worker/task_thread.h"

namespace iobench {
namespace {

TEST_CASE("a ping is answered before Handle returns, with the worker's own clock") {
  WorkerHarness worker(/*clock_offset_ns=*/500 * kNanosPerSecond);
  v1::WorkerRequest request;
  request.mutable_ping();
  const int64_t before_ns = MonotonicNowNs() + 500 * kNanosPerSecond;
  worker.Post(request);
  REQUIRE(worker.mailbox().size() == 1);
  const v1::Pong pong = worker.AnswerTo(1).pong();
  REQUIRE(pong.received_worker_ns() >= before_ns);
  REQUIRE(pong.replied_worker_ns() >= pong.received_worker_ns());
}

TEST_CASE("the facts say who the worker is") {
  WorkerHarness worker;
  const v1::WorkerFacts facts = worker.worker().Facts();
  REQUIRE(facts.host() == "client-a");
  REQUIRE(facts.boot_id() == "boot-a");
  REQUIRE(facts.program_version() == kProgramVersion);
  REQUIRE(facts.pid() == ::getpid());
  REQUIRE(facts.processors() >= 1);
  REQUIRE(facts.memory_bytes() > 0);
}

TEST_CASE("a phase on the null engine goes from Prepare to Collect, every lane with all its ops") {
  WorkerHarness worker;
  worker.Prepare(PhaseOf("write", 3));
  const v1::Armed armed = worker.ArmIn(20'000'000);
  REQUIRE_FALSE(armed.late());
  REQUIRE(armed.margin_ns() <= 20'000'000);
  const v1::LanesDone done = worker.WaitDone();
  REQUIRE(done.ends_size() == 3);
  const v1::ResultChunk chunk = worker.Collect();
  REQUIRE(chunk.lanes_size() == 3);
  for (int i = 0; i < 3; ++i) {
    const v1::LaneEnds& ends = done.ends(i);
    const v1::LaneResult& lane = chunk.lanes(i);
    REQUIRE(ends.took_part());
    REQUIRE(ends.first_op_worker_ns() >= worker.start().ns);
    REQUIRE(lane.problem().code() == 0);
    REQUIRE(lane.bytes() == 16 * 4096);
    REQUIRE(lane.ops() == 16);
    REQUIRE(lane.region_ops() == 16);
    REQUIRE(lane.kinds_size() == 1);
    REQUIRE(lane.kinds(0).kind() == v1::OP_WRITE);
    REQUIRE(lane.kinds(0).latency().count() == 16);
    REQUIRE(lane.first_op_worker_ns() == ends.first_op_worker_ns());
    REQUIRE(lane.ops_end_worker_ns() == ends.ops_end_worker_ns());
    REQUIRE(lane.region_end_worker_ns() == ends.region_end_worker_ns());
    REQUIRE_FALSE(lane.stopped());
    const std::vector<WorkerPoint> points = FromProto(lane.timeline());
    REQUIRE(points.front().at.ns == lane.first_op_worker_ns());
    REQUIRE(points.back() == WorkerPoint{{lane.ops_end_worker_ns()}, 16 * 4096, 16});
  }
  REQUIRE(chunk.host().seconds() > 0);
}

v1::WorkerRequest Request(const std::function<void(v1::WorkerRequest&)>& set) {
  v1::WorkerRequest request;
  set(request);
  return request;
}

bool Refused(const v1::WorkerEvent& event) {
  return event.problem().code() == static_cast<int>(absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("requests in the wrong state are refused and change nothing") {
  WorkerHarness worker;
  const auto arm = Request([](auto& r) { r.mutable_arm(); });
  const auto collect = Request([](auto& r) { r.mutable_collect(); });
  const auto stop = Request([](auto& r) { r.mutable_adjust()->set_stop(true); });
  const auto data = Request([](auto& r) { r.mutable_data_step()->set_action(v1::DataStep::REMOVE); });
  const auto prepare = Request([](auto& r) { *r.mutable_prepare() = PhaseOf("read", 1); });
  REQUIRE(Refused(worker.Ask(arm)));
  REQUIRE(Refused(worker.Ask(collect)));
  REQUIRE(Refused(worker.Ask(stop)));
  worker.Prepare(PhaseOf("read", 1));
  REQUIRE(Refused(worker.Ask(prepare)));
  REQUIRE(Refused(worker.Ask(collect)));
  REQUIRE(Refused(worker.Ask(data)));
  worker.ArmIn(5'000'000);
  worker.WaitDone();
  REQUIRE(Refused(worker.Ask(arm)));
  REQUIRE(Refused(worker.Ask(prepare)));
  REQUIRE(worker.Collect().lanes(0).ops() == 16);
}

TEST_CASE("a request without a body is answered with a problem") {
  WorkerHarness worker;
  REQUIRE(worker.Ask({}).problem().code() != 0);
}

TEST_CASE("a phase that cannot be prepared leaves the worker idle") {
  WorkerHarness worker;
  const auto ask = [&](const v1::Prepare& prepare) {
    const v1::WorkerEvent event = worker.Ask(Request([&](auto& r) { *r.mutable_prepare() = prepare; }));
    REQUIRE_FALSE(event.has_prepared());
    return event.problem().message();
  };
  v1::Prepare bad = PhaseOf("write", 1);
  bad.mutable_operation()->set_name("wriet");
  REQUIRE_THAT(ask(bad), Catch::Contains("wriet"));
  bad = PhaseOf("write", 1);
  bad.mutable_operation()->set_engine("warp");
  REQUIRE_THAT(ask(bad), Catch::Contains("warp"));
  REQUIRE_THAT(ask(PhaseOf("write", 0)), Catch::Contains("without lanes"));
  const TempDir directory;  // not claimed
  REQUIRE_THAT(ask(PhaseOf("write", 1, directory.path())), Catch::Contains("cluster-iobench.data"));
  bad = PhaseOf("write", 1, directory.path());
  bad.mutable_lanes(0)->set_target(3);
  REQUIRE_THAT(ask(bad), Catch::Contains("target 3"));
  REQUIRE(worker.RunPhase(PhaseOf("write", 1)).lanes(0).ops() == 16);
}

TEST_CASE("the results may be collected again until the next phase") {
  WorkerHarness worker;
  const v1::ResultChunk once = worker.RunPhase(PhaseOf("random-read", 2));
  REQUIRE(worker.Collect().SerializeAsString() == once.SerializeAsString());
  REQUIRE(worker.RunPhase(PhaseOf("write", 1)).lanes_size() == 1);
}

TEST_CASE("large results come in several chunks, each lane once") {
  constexpr int kLanes = 1600;  // of about a kilobyte each, in chunks of 1 MiB
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("write", kLanes);
  prepare.mutable_files()->set_bytes_per_lane(1000 * 4096);  // over 2 KB of timeline each
  const v1::ResultChunk all = worker.RunPhase(prepare);
#ifndef IOBENCH_TSAN  // under which the timelines of so many lanes are shorter
  REQUIRE(worker.chunk_count() > 1);
#endif
  std::set<uint32_t> lanes;
  for (const v1::LaneResult& lane : all.lanes()) lanes.insert(lane.lane());
  REQUIRE(all.lanes_size() == kLanes);
  REQUIRE(lanes.size() == kLanes);
}

TEST_CASE("a poll tells the progress, also when nothing runs") {
  WorkerHarness worker;
  const auto poll = Request([](auto& r) { r.mutable_poll(); });
  REQUIRE(worker.Ask(poll).progress().ops() == 0);
  worker.Prepare(PhaseOf("write", 2));
  v1::Progress progress = worker.Ask(poll).progress();
  REQUIRE(progress.total_bytes() == 2 * 16 * 4096);
  REQUIRE(progress.bytes() == 0);
  REQUIRE(progress.lanes_running() == 0);
  worker.ArmIn(5'000'000);
  worker.WaitDone();
  progress = worker.Ask(poll).progress();
  REQUIRE(progress.bytes() == 2 * 16 * 4096);
  REQUIRE(progress.ops() == 32);
  REQUIRE(progress.lanes_running() == 0);
  REQUIRE(progress.pong().replied_worker_ns() >= progress.pong().received_worker_ns());
  REQUIRE_FALSE(progress.has_latency());
  progress = worker.Ask(Request([](auto& r) { r.mutable_poll()->set_latency(true); })).progress();
  LatencyBins latency;
  REQUIRE(latency.AddProto(progress.latency()).ok());
  REQUIRE(latency.count() == 32);
}

TEST_CASE("after Shutdown no event is sent, and the worker can join another run") {
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("write", 2);
  prepare.mutable_stop()->set_time_s(3600);
  worker.Prepare(prepare);
  worker.ArmIn(1'000'000);
  worker.worker().Shutdown();
  REQUIRE(worker.mailbox().size() == 0);
  REQUIRE(worker.RunPhase(PhaseOf("write", 1)).lanes(0).ops() == 16);
}

TEST_CASE("Leave is answered before Handle returns") {
  WorkerHarness worker;
  worker.Post(Request([](auto& r) { r.mutable_leave(); }));
  REQUIRE(worker.mailbox().size() == 1);
  REQUIRE(worker.AnswerTo(1).has_left());
}

v1::WorkerRequest DataStep(const TempDir& directory, v1::DataStep::Action action, uint64_t run_id) {
  return Request([&](auto& r) {
    r.mutable_data_step()->set_action(action);
    r.mutable_data_step()->add_targets()->set_path(directory.path());
    v1::Manifest& manifest = *r.mutable_data_step()->mutable_manifest();
    manifest.set_program("cluster-iobench");
    manifest.set_format(1);
    manifest.set_run_id(run_id);
    manifest.set_state(v1::Manifest::ACTIVE);
    *manifest.mutable_names() = AllNames();
    if (action != v1::DataStep::CLAIM) r.mutable_data_step()->add_claims()->set_run_id(run_id);
  });
}

TEST_CASE("a run whose claim was refused does not remove the other run's data at its end") {
  const TempDir directory;
  WorkerHarness first, second;
  REQUIRE(first.Ask(DataStep(directory, v1::DataStep::CLAIM, 1)).problem().code() == 0);
  REQUIRE(Refused(second.Ask(DataStep(directory, v1::DataStep::CLAIM, 2))));
  REQUIRE(second.Ask(DataStep(directory, v1::DataStep::REMOVE, 2)).problem().code() == 0);
  REQUIRE(directory.Has("cluster-iobench.data/manifest.json"));
  REQUIRE(first.Ask(DataStep(directory, v1::DataStep::REMOVE, 1)).problem().code() == 0);
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("a data step tells what it left") {
  const TempDir directory;
  WorkerHarness worker;
  worker.ClaimData(directory);
  worker.RunPhase(PhaseOf("write", 3, directory.path()));
  directory.Write("cluster-iobench.data/notes.txt", "mine");
  const v1::WorkerEvent event = worker.Ask(DataStep(directory, v1::DataStep::REMOVE, WorkerHarness::kRun));
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/lane-000002.0"));
  REQUIRE(event.data_step_done().foreign_files_size() == 1);
  REQUIRE(event.data_step_done().foreign_files(0) == directory.data() + "/notes.txt");
  REQUIRE(directory.Read("cluster-iobench.data/notes.txt") == "mine");
}

TEST_CASE("a phase is prepared only in the directory that its run has claimed") {
  const TempDir directory;
  WorkerHarness worker, other;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 2, directory.path());
  prepare.add_claims()->set_run_id(WorkerHarness::kRun);
  worker.RunPhase(prepare);
  std::filesystem::rename(directory.data(), directory.path() + "/aside");
  REQUIRE(other.Ask(DataStep(directory, v1::DataStep::CLAIM, 99)).problem().code() == 0);
  directory.Write("cluster-iobench.data/lane-000000.0", "of run 99");
  const v1::WorkerEvent refused = worker.Ask(Request([&](auto& r) { *r.mutable_prepare() = prepare; }));
  REQUIRE(Refused(refused));
  REQUIRE_THAT(refused.problem().message(), Catch::Contains("belongs to another run now"));
  const v1::WorkerEvent kept = worker.Ask(DataStep(directory, v1::DataStep::REMOVE, WorkerHarness::kRun));
  REQUIRE(Refused(kept));
  REQUIRE(kept.data_step_done().held_by_another(0));
  REQUIRE(directory.Read("cluster-iobench.data/lane-000000.0") == "of run 99");
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/lane-000001.0"));
  REQUIRE(directory.Has("aside/lane-000001.0"));
}

TEST_CASE("data are not removed under lanes that run, but once these were told to quit") {
  const TempDir directory;
  WorkerHarness worker;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 2, directory.path());
  prepare.mutable_stop()->set_time_s(3600);
  worker.Prepare(prepare);
  worker.ArmIn(1'000'000);
  const v1::WorkerRequest remove = DataStep(directory, v1::DataStep::REMOVE, WorkerHarness::kRun);
  REQUIRE(Refused(worker.Ask(remove)));
  REQUIRE(directory.Has("cluster-iobench.data/lane-000001.0"));
  worker.Quit();
  REQUIRE(worker.Ask(remove).problem().code() == 0);
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("tasks run in their order, on one thread, and none after Close") {
  std::vector<int> order;
  std::promise<void> third_ran;
  TaskThread tasks;
  REQUIRE(tasks.Start().ok());
  for (const int i : {1, 2, 3}) {
    tasks.Post([&, i] {
      order.push_back(i);
      if (i == 3) third_ran.set_value();
    });
  }
  third_ran.get_future().wait();
  REQUIRE(tasks.Close(INT64_MAX));
  tasks.Post([&] { order.push_back(4); });
  REQUIRE(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("a task that hangs is abandoned when its time is over") {
  auto let_go = std::make_shared<std::promise<void>>();
  auto begun = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  auto ran_later = std::make_shared<std::atomic<bool>>(false);
  {
    TaskThread tasks;
    REQUIRE(tasks.Start().ok());
    tasks.Post([=] {
      begun->set_value();
      let_go->get_future().wait();
      ended->set_value();
    });
    tasks.Post([=] { *ran_later = true; });
    begun->get_future().wait();
    REQUIRE_FALSE(tasks.Close(MonotonicNowNs() + 1'000'000));
  }
  let_go->set_value();
  ended->get_future().wait();
  REQUIRE_FALSE(*ran_later);
}

TEST_CASE("a worker that lives on without its coordinator gives up the data that it has claimed") {
  const TempDir directory;
  WorkerHarness worker;
  worker.ClaimData(directory);
  const absl::Status refused = CleanDataDirectory(directory.path(), IfOutOfSight::kAccept).status();
  REQUIRE_THAT(std::string(refused.message()), Catch::Contains("is alive"));
  SECTION("before its first phase") {}
  SECTION("with data that are to be kept") {
    v1::Prepare prepare = PhaseOf("write", 1, directory.path());
    prepare.add_claims()->set_run_id(WorkerHarness::kRun);
    worker.Prepare(prepare);
  }
  worker.worker().Abandon();
  REQUIRE(CleanDataDirectory(directory.path(), IfOutOfSight::kRefuse).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("a worker that is told to leave gives up data that its run could not remove") {
  const TempDir directory;
  WorkerHarness worker;
  worker.ClaimData(directory);
  worker.Ask(Request([](auto& r) { r.mutable_leave(); }));
  REQUIRE_FALSE(CleanDataDirectory(directory.path(), IfOutOfSight::kAccept).ok());
  worker.worker().Shutdown();
  REQUIRE(directory.Has("cluster-iobench.data/manifest.json"));
  REQUIRE(CleanDataDirectory(directory.path(), IfOutOfSight::kRefuse).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("a worker whose run has removed its data does not own what is foreign there") {
  const TempDir directory;
  WorkerHarness worker;
  worker.ClaimData(directory);
  directory.Write("cluster-iobench.data/notes.txt", "mine");
  worker.Ask(DataStep(directory, v1::DataStep::REMOVE, WorkerHarness::kRun));
  REQUIRE(directory.Has("cluster-iobench.data/manifest.json"));
  std::filesystem::remove(directory.data() + "/notes.txt");
  REQUIRE(CleanDataDirectory(directory.path(), IfOutOfSight::kRefuse).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

}  // namespace
}  // namespace iobench
