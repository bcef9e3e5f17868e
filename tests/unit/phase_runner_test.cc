#include "worker/lane/phase_runner.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <sstream>

#include "common/latency_slices.h"
#include "common/timeline.h"
#include "tests/unit/worker_harness.h"
#include "worker/data/payload.h"

namespace iobench {
namespace {

constexpr uint64_t kEndlessBytes = uint64_t{1} << 40;  // on the null engine: some seconds' worth

v1::Prepare Endless(uint32_t lanes) {
  v1::Prepare prepare = PhaseOf("write", lanes);
  prepare.mutable_files()->set_bytes_per_lane(kEndlessBytes);
  return prepare;
}

// The file as one lane would write it, from the definition of the payload.
std::string Written(const v1::Prepare& prepare, uint32_t lane, uint64_t bytes) {
  std::string text(bytes, '\0');
  const Op op{.kind = OpKind::kWrite, .object = 0, .offset = 0, .length = static_cast<uint32_t>(bytes)};
  Payload::Expected(prepare.seed(), lane, prepare.phase_index(), op, std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> NamesOf(const google::protobuf::RepeatedPtrField<v1::StepResult>& steps) {
  std::vector<std::string> names;
  for (const v1::StepResult& step : steps) names.push_back(step.name());
  return names;
}

TEST_CASE("lanes start no earlier than the instant they were given") {
  WorkerHarness worker;
  worker.Prepare(PhaseOf("read", 2));
  worker.ArmIn(8'000'000);
  const v1::LanesDone done = worker.WaitDone();
  REQUIRE(done.ends_size() == 2);
  for (const v1::LaneEnds& ends : done.ends()) {
    REQUIRE(ends.first_op_worker_ns() >= worker.start().ns);
    REQUIRE(ends.ops_end_worker_ns() >= ends.first_op_worker_ns());
  }
}

TEST_CASE("every time of a worker is on its own clock") {
  constexpr int64_t kSkewNs = -3'000 * kNanosPerSecond;
  WorkerHarness worker(kSkewNs);
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 2, directory.path());
  prepare.mutable_region()->set_close(true);
  prepare.mutable_region()->set_open(true);
  prepare.mutable_stop()->set_deadline_s(1e-6);
  const int64_t begin_ns = worker.Now().ns;
  worker.Prepare(prepare);
  worker.ArmIn(4'000'000);
  const v1::LanesDone done = worker.WaitDone();
  const v1::ResultChunk chunk = worker.Collect();
  const int64_t end_ns = worker.Now().ns;
  const auto is_between = [&](int64_t ns) { return ns >= begin_ns && ns <= end_ns; };
  for (int i = 0; i < 2; ++i) {
    const v1::LaneResult& lane = chunk.lanes(i);
    for (const int64_t ns :
         {done.ends(i).first_op_worker_ns(), done.ends(i).ops_end_worker_ns(),
          done.ends(i).region_end_worker_ns(), done.ends(i).deadline_worker_ns(), lane.first_op_worker_ns(),
          lane.ops_end_worker_ns(), lane.region_end_worker_ns(), lane.deadline_worker_ns()}) {
      REQUIRE(is_between(ns));
    }
    for (const WorkerPoint& point : FromProto(lane.timeline())) REQUIRE(is_between(point.at.ns));
  }
}

TEST_CASE("a worker says how large its lanes' large buffers are, and what of them is in huge pages") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 2, directory.path());
  prepare.mutable_operation()->set_record_bytes(4 << 20);
  prepare.mutable_files()->set_bytes_per_lane(4 << 20);
  const v1::BufferPages writes = worker.RunPhase(prepare).buffers();
  REQUIRE(writes.bytes() >= 2 * (4 << 20));
  REQUIRE(writes.bytes() < 2 * (5 << 20));
  REQUIRE(writes.has_huge_page_bytes());
  REQUIRE(writes.huge_page_bytes() <= writes.bytes());
  prepare.mutable_operation()->set_name("read");
  prepare.mutable_operation()->set_record_bytes(4096);
  REQUIRE_FALSE(worker.RunPhase(prepare).has_buffers());
}

TEST_CASE("a start that comes too late is refused, and may be given again") {
  WorkerHarness worker;
  worker.Prepare(PhaseOf("write", 1));
  const v1::Armed late = worker.ArmIn(1'000'000, kNanosPerSecond);
  REQUIRE(late.late());
  REQUIRE(late.margin_ns() <= 1'000'000);
  REQUIRE_FALSE(worker.ArmIn(2'000'000).late());
  REQUIRE(worker.WaitDone().ends(0).first_op_worker_ns() >= worker.start().ns);
}

TEST_CASE("the last attempt starts although it is late") {
  WorkerHarness worker;
  worker.Prepare(PhaseOf("write", 1));
  v1::WorkerRequest request;
  request.mutable_arm()->set_start_worker_ns(worker.Now().ns - 1000);
  request.mutable_arm()->set_margin_needed_ns(500'000);
  request.mutable_arm()->set_start_anyway(true);
  const v1::Armed armed = worker.Ask(request).armed();
  REQUIRE_FALSE(armed.late());
  REQUIRE(armed.margin_ns() < 0);
  REQUIRE(worker.WaitDone().ends(0).took_part());
}

TEST_CASE("the first lane that ends by itself is told once, before all have ended") {
  const WorkerClock clock;
  Mailbox mailbox;
  const auto runner =
      std::make_shared<PhaseRunner>(PhaseOf("write", 4), clock, /*loop_ns=*/0,
                                    [&mailbox](v1::WorkerEvent event) { mailbox.Send(std::move(event)); });
  REQUIRE(runner->Prepare().ok());
  v1::Arm arm;
  do {  // this thread may come too late, as in ArmIn
    arm.set_start_worker_ns(clock.Now().ns + 2'000'000);
  } while (runner->Arm(arm, clock.Now()).late());
  REQUIRE(runner->Collect({}, std::nullopt, [](v1::ResultChunk) {}).ok());
  REQUIRE(runner->WaitForLanes(INT64_MAX));
  const auto any = [](const v1::WorkerEvent&) { return true; };
  REQUIRE(mailbox.Take(any).has_lane_ended());
  REQUIRE(mailbox.Take(any).has_lanes_done());
  REQUIRE_FALSE(mailbox.Holds(any));
}

TEST_CASE("stopped lanes end after the op in flight and nobody ended by itself") {
  WorkerHarness worker;
  worker.Prepare(Endless(2));
  worker.ArmIn(2'000'000);
  v1::WorkerRequest poll;
  poll.mutable_poll();
  while (worker.Ask(poll).progress().ops() == 0) {
  }
  REQUIRE(worker.Ask(poll).progress().lanes_running() == 2);
  worker.Stop();
  const v1::LanesDone done = worker.WaitDone();
  const v1::ResultChunk chunk = worker.Collect();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(done.ends(i).stopped());
    REQUIRE(done.ends(i).took_part());
    REQUIRE(chunk.lanes(i).stopped());
    REQUIRE(chunk.lanes(i).bytes() == chunk.lanes(i).ops() * 4096);
    REQUIRE(chunk.lanes(i).bytes() < kEndlessBytes);
  }
  REQUIRE_FALSE(worker.mailbox().Holds([](const v1::WorkerEvent& e) { return e.has_lane_ended(); }));
}

TEST_CASE("a time makes lanes go over their records again and again") {
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("write", 1);
  prepare.mutable_stop()->set_time_s(0.1);
  prepare.mutable_stop()->set_warmup_s(0.04);
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  worker.WaitDone();
  const v1::LaneResult lane = worker.Collect().lanes(0);
  REQUIRE(lane.ops() > 16);
  // The lane compared ticks, which are converted afterwards with the phase's own scale; it differs by millionths.
  REQUIRE(lane.ops_end_worker_ns() >= worker.start().ns + 100'000'000 - 10'000);
  REQUIRE(lane.kinds(0).ops() > 0);
  REQUIRE(lane.kinds(0).ops() < lane.region_ops());
  REQUIRE(lane.kinds(0).latency().count() == lane.kinds(0).ops());
  const v1::LatencySlices& slices = lane.latency_slices();
  REQUIRE(std::accumulate(slices.counts().begin(), slices.counts().end(), uint64_t{0}) ==
          lane.kinds(0).ops());
  REQUIRE(std::abs(slices.begin_worker_ns() - (worker.start().ns + 40'000'000)) <= 10'000);
  REQUIRE(slices.slice_ns() >= 990'000);
  REQUIRE(lane.deadline_worker_ns() == 0);
}

TEST_CASE(
    "with whole passes, a lane ends with the pass in which its time is over, and has done at least one") {
  for (const double time_s : {1e-6, 0.05}) {
    WorkerHarness worker;
    v1::Prepare prepare = PhaseOf("write", 1);
    prepare.mutable_stop()->set_time_s(time_s);
    prepare.mutable_stop()->set_whole_passes(true);
    bool lasts = false;
    // The lane looks at the clock after the last op of a pass. If another program had the processor between the two, the
    // time was not over when that op ended, so a busy machine gets more attempts.
    for (int attempt = 0; attempt < 5 && !lasts; ++attempt) {
      const v1::LaneResult lane = worker.RunPhase(prepare).lanes(0);
      CHECK(lane.ops() >= 16);
      CHECK(lane.ops() % 16 == 0);
      CHECK_FALSE(lane.stopped());
      // The time counts from the start, which the first op may come after if the processors are busy; as above, ticks
      // and nanoseconds differ by millionths.
      lasts = lane.ops_end_worker_ns() >= worker.start().ns + static_cast<int64_t>(time_s * 1e9) - 10'000;
    }
    CHECK(lasts);
  }
}

TEST_CASE("lanes that go over their records again flush each pass where the region says so") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 1, directory.path());  // 16 records
  prepare.mutable_region()->set_fsync(true);
  prepare.mutable_region()->set_flush_passes(true);
  v1::ResultChunk chunk;
  for (const double time_s : {0.1, 1.0, 10.0}) {  // a busy machine may need longer for a second pass
    prepare.mutable_stop()->set_time_s(time_s);
    chunk = worker.RunPhase(prepare);
    if (chunk.lanes(0).ops() > 16) break;
  }
  REQUIRE(chunk.lanes(0).ops() > 16);
  REQUIRE(chunk.lanes(0).problem().code() == 0);
  REQUIRE(NamesOf(chunk.steps()) == std::vector<std::string>{"create-files", "open", "flush-passes"});
  const double flushes_s = chunk.steps(2).seconds();
  REQUIRE(flushes_s > 0);
  // The flushes are in the lane's time and in no op's.
  const v1::LaneResult& lane = chunk.lanes(0);
  const double region_s = SecondsFrom(lane.region_end_worker_ns() - lane.first_op_worker_ns());
  REQUIRE(lane.kinds(0).latency().sum_ns() / 1e9 + flushes_s <= region_s + 0.001);
  // Each has its latency as a call, once in all and once over time.
  REQUIRE(lane.calls_size() == 1);
  const v1::KindResult& fsyncs = lane.calls(0);
  REQUIRE((fsyncs.kind() == v1::OP_FSYNC && fsyncs.ops() >= lane.passes() && fsyncs.latency().count() == fsyncs.ops()));
  const auto cells = CellsOf(fsyncs.slices());
  REQUIRE(cells.ok());
  uint64_t in_slices = 0;
  for (const LatencyCell& cell : *cells) in_slices += cell.ops;
  REQUIRE(in_slices == fsyncs.ops());
}

TEST_CASE("lanes that read their records again drop the pages of each pass where the phase drops caches") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("read", 1, directory.path());  // 16 records
  prepare.mutable_stop()->set_time_s(1);
  prepare.add_steps()->mutable_drop_caches();
  const v1::ResultChunk chunk = worker.RunPhase(prepare);
  REQUIRE(chunk.lanes(0).ops() > 16);
  REQUIRE(chunk.lanes(0).problem().code() == 0);
  REQUIRE(NamesOf(chunk.steps()) ==
          std::vector<std::string>{"prefill", "drop-caches", "open", "drop-passes"});
  REQUIRE(chunk.steps(3).seconds() > 0);
}

TEST_CASE("a deadline ends the phase early and is noted") {
  WorkerHarness worker;
  v1::Prepare prepare = Endless(2);
  prepare.mutable_stop()->set_deadline_s(0.003);
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  const v1::LanesDone done = worker.WaitDone();
  const v1::ResultChunk chunk = worker.Collect();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(done.ends(i).deadline_worker_ns() == worker.start().ns + 3'000'000);
    REQUIRE(chunk.lanes(i).deadline_worker_ns() == done.ends(i).deadline_worker_ns());
    REQUIRE_FALSE(chunk.lanes(i).stopped());
  }
  REQUIRE_FALSE(worker.mailbox().Holds([](const v1::WorkerEvent& e) { return e.has_deadline_reached(); }));
}

TEST_CASE("worn out, every lane does as many ops as the goal says") {
  WorkerHarness worker;
  v1::Prepare prepare = Endless(3);
  prepare.mutable_lanes(2)->set_sits_out(true);
  prepare.mutable_stop()->set_deadline_s(0.002);
  prepare.mutable_stop()->set_wear_out(true);
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  const v1::WorkerEvent reached =
      worker.mailbox().Take([](const v1::WorkerEvent& e) { return e.has_deadline_reached(); });
  REQUIRE(reached.deadline_reached().max_ops() > 0);
  REQUIRE_FALSE(worker.mailbox().Holds([](const v1::WorkerEvent& e) { return e.has_lanes_done(); }));
  const uint64_t goal = reached.deadline_reached().max_ops() + 100;  // another worker was faster
  worker.Goal(goal);
  worker.WaitDone();
  const v1::ResultChunk chunk = worker.Collect();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(chunk.lanes(i).ops() == goal);
    REQUIRE(chunk.lanes(i).deadline_worker_ns() != 0);
    REQUIRE_FALSE(chunk.lanes(i).stopped());
  }
  REQUIRE(chunk.lanes(2).ops() == 0);
}

TEST_CASE("lanes that wait for the goal can be stopped") {
  WorkerHarness worker;
  v1::Prepare prepare = Endless(2);
  prepare.mutable_stop()->set_deadline_s(0.001);
  prepare.mutable_stop()->set_wear_out(true);
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  worker.mailbox().Take([](const v1::WorkerEvent& e) { return e.has_deadline_reached(); });
  worker.Stop();
  const v1::LanesDone done = worker.WaitDone();
  REQUIRE(done.ends_size() == 2);
  for (const v1::LaneEnds& ends : done.ends()) REQUIRE(ends.stopped());
}

TEST_CASE("lanes that were done before the deadline count for the goal of the others") {
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("write", 2);
  prepare.mutable_stop()->set_deadline_s(60);
  prepare.mutable_stop()->set_wear_out(true);
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  const v1::WorkerEvent first = worker.mailbox().Take(
      [](const v1::WorkerEvent& e) { return e.has_deadline_reached() || e.has_lanes_done(); });
  REQUIRE(first.deadline_reached().max_ops() == 16);
  worker.WaitDone();
  REQUIRE(worker.Collect().lanes(0).deadline_worker_ns() == 0);
}

TEST_CASE("an unfinished file is finished when the results are collected, in no figure but the total") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 2, directory.path());
  prepare.mutable_stop()->set_deadline_s(1e-6);  // over when the first op ends
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  worker.WaitDone();
  REQUIRE(directory.SizeOf("cluster-iobench.data/lane-000001.0") == 4096);
  const v1::ResultChunk chunk = worker.Collect();
  for (uint32_t i = 0; i < 2; ++i) {
    const v1::LaneResult& lane = chunk.lanes(static_cast<int>(i));
    REQUIRE(lane.region_ops() == 1);
    REQUIRE(lane.region_bytes() == 4096);
    REQUIRE(lane.kinds(0).latency().count() == 1);
    REQUIRE(lane.ops() == 16);
    REQUIRE(lane.bytes() == 16 * 4096);
    REQUIRE(lane.settle_s() > 0);
    REQUIRE(directory.Read("cluster-iobench.data/lane-00000" + std::to_string(i) + ".0") ==
            Written(prepare, i, 16 * 4096));
  }
}

TEST_CASE("a file is finished as far as later phases need it, and flushed only if something follows") {
  const uint64_t needed = GENERATE(0u, 1u, 3 * 4096u, 1u << 30);
  const bool follows = GENERATE(true, false);
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 1, directory.path());
  prepare.mutable_stop()->set_max_ops(2);
  prepare.mutable_lanes(0)->set_finish_bytes(needed);
  prepare.set_leaves_unflushed(!follows);
  const v1::ResultChunk chunk = worker.RunPhase(prepare);
  const uint64_t ops = needed == 3 * 4096 ? 3 : needed > 3 * 4096 ? 16 : 2;
  CHECK(directory.SizeOf("cluster-iobench.data/lane-000000.0") == ops * 4096);
  CHECK(chunk.lanes(0).ops() == ops);
  CHECK((chunk.lanes(0).settle_s() > 0) == (follows || ops > 2));
}

TEST_CASE("what was measured is handed over before anything is finished") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 2, directory.path());
  prepare.mutable_stop()->set_max_ops(2);
  const v1::ResultChunk all = worker.RunPhase(prepare);
  REQUIRE(worker.chunk_count() == 2);
  CHECK(all.unfinished_ops() == 2 * 14);
  CHECK(all.unfinished_bytes() == 2 * 14 * 4096);
  CHECK(all.settled_size() == 2);
  CHECK(all.lanes_size() == 2);
  CHECK(all.has_host());
}

TEST_CASE("nothing is finished after the time until which lanes may settle") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 1, directory.path());
  prepare.mutable_stop()->set_max_ops(2);
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  worker.WaitDone();
  CHECK(worker.Collect({}, /*settle_until_ns=*/1).lanes(0).ops() == 2);
  CHECK(directory.SizeOf("cluster-iobench.data/lane-000000.0") == 2 * 4096);
}

TEST_CASE("data that earlier phases wrote and that are gone fail their lane, and are not written again") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  worker.RunPhase(PhaseOf("write", 2, directory.path()));
  directory.Write("cluster-iobench.data/lane-000001.0", std::string(5000, 'x'));
  v1::Prepare prepare = PhaseOf("read", 2, directory.path());
  for (v1::LanePlan& lane : *prepare.mutable_lanes()) lane.set_written_bytes(16 * 4096);
  const v1::ResultChunk chunk = worker.RunPhase(prepare);
  CHECK(chunk.lanes(0).problem().code() == 0);
  CHECK(chunk.lanes(0).ops() == 16);
  CHECK_THAT(chunk.lanes(1).problem().message(), Catch::Contains("ends at 5000") && Catch::Contains("60536 bytes"));
  CHECK(chunk.lanes(1).verify().missing_bytes() == 16 * 4096 - 5000);
  CHECK(chunk.lanes(1).verify().first(0).what() == v1::Mismatch::MISSING);
  CHECK(directory.SizeOf("cluster-iobench.data/lane-000001.0") == 5000);
}

TEST_CASE("a lane that was told to stop finishes its file, too") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  const v1::Prepare prepare = PhaseOf("write", 1, directory.path());
  worker.Prepare(prepare);
  worker.ArmIn(20'000'000);
  worker.Stop();  // before the start: not one op is timed
  const v1::LanesDone done = worker.WaitDone();
  REQUIRE(done.ends(0).took_part());
  REQUIRE(done.ends(0).stopped());
  REQUIRE(done.ends(0).ops_end_worker_ns() == done.ends(0).first_op_worker_ns());
  const v1::LaneResult lane = worker.Collect().lanes(0);
  REQUIRE(lane.region_ops() == 0);
  REQUIRE(lane.ops() == 16);
  REQUIRE(directory.Read("cluster-iobench.data/lane-000000.0") == Written(prepare, 0, 16 * 4096));
}

TEST_CASE("a run that quits leaves its files unfinished") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 1, directory.path());
  prepare.mutable_stop()->set_deadline_s(1e-6);
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  worker.WaitDone();
  worker.Quit();
  REQUIRE(worker.Collect().lanes(0).bytes() == 4096);
  REQUIRE(directory.SizeOf("cluster-iobench.data/lane-000000.0") == 4096);
}

TEST_CASE("the steps come in the order in which they were done") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  REQUIRE(NamesOf(worker.RunPhase(PhaseOf("write", 1, directory.path())).steps()) ==
          std::vector<std::string>{"create-files", "open"});
  v1::Prepare prepare = PhaseOf("read", 1, directory.path());
  prepare.add_steps()->mutable_drop_caches();
  const v1::Prepared prepared = worker.Prepare(prepare);
  REQUIRE(NamesOf(prepared.steps()) == std::vector<std::string>{"prefill", "drop-caches", "open"});
  REQUIRE_THAT(prepared.steps(1).outcome(), Catch::StartsWith("posix_fadvise"));
  worker.Disarm();
  REQUIRE(worker.Prepare(PhaseOf("read", 1)).steps().empty());  // the null engine has no files
}

TEST_CASE("each part of the timed region is timed by itself, and the options say which count") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 1, directory.path());
  SECTION("nothing but the ops") {
    const v1::LaneResult lane = worker.RunPhase(prepare).lanes(0);
    REQUIRE(lane.region_end_worker_ns() == lane.ops_end_worker_ns());
    REQUIRE(lane.close_s() > 0);
    REQUIRE(lane.open_s() > 0);
    REQUIRE(lane.fsync_s() == 0);  // never an fsync before the close unless it was asked for
    REQUIRE(lane.settle_s() > 0);
  }
  SECTION("with the close") {
    prepare.mutable_region()->set_close(true);
    const v1::LaneResult lane = worker.RunPhase(prepare).lanes(0);
    REQUIRE(lane.region_end_worker_ns() - lane.ops_end_worker_ns() >= NanosFrom(lane.close_s()));
    REQUIRE(lane.fsync_s() == 0);
  }
  SECTION("with the fsync") {
    prepare.mutable_region()->set_fsync(true);
    const v1::LaneResult lane = worker.RunPhase(prepare).lanes(0);
    REQUIRE(lane.fsync_s() > 0);
    REQUIRE(lane.region_end_worker_ns() - lane.ops_end_worker_ns() >= NanosFrom(lane.fsync_s()));
    REQUIRE(lane.settle_s() == 0);  // whole and flushed already
  }
  SECTION("with both, the fsync comes first") {
    prepare.mutable_region()->set_fsync(true);
    prepare.mutable_region()->set_close(true);
    const v1::LaneResult lane = worker.RunPhase(prepare).lanes(0);
    REQUIRE(lane.region_end_worker_ns() - lane.ops_end_worker_ns() >=
            NanosFrom(lane.fsync_s()) + NanosFrom(lane.close_s()));
  }
  SECTION("with the open, which is where the lane's clock starts then") {
    prepare.mutable_region()->set_open(true);
    const v1::ResultChunk chunk = worker.RunPhase(prepare);
    const v1::LaneResult& lane = chunk.lanes(0);
    REQUIRE(NamesOf(chunk.steps()) == std::vector<std::string>{"create-files"});
    REQUIRE(lane.first_op_worker_ns() >= worker.start().ns);
    const std::vector<WorkerPoint> points = FromProto(lane.timeline());
    REQUIRE(points[0] == WorkerPoint{{lane.first_op_worker_ns()}, 0, 0});
    REQUIRE(points[1].ops == 0);  // the first op, after the open
    REQUIRE(points[1].at.ns - points[0].at.ns >= NanosFrom(lane.open_s()) - 1000);
  }
}

TEST_CASE("a phase that reads leaves nothing to settle") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("read", 1, directory.path());
  prepare.mutable_region()->set_fsync(true);  // of other workers, which write in this phase
  const v1::LaneResult lane = worker.RunPhase(prepare).lanes(0);
  REQUIRE(lane.settle_s() == 0);
  REQUIRE(lane.fsync_s() == 0);
  REQUIRE(lane.region_end_worker_ns() == lane.ops_end_worker_ns());
  REQUIRE(lane.kinds(0).kind() == v1::OP_READ);
}

TEST_CASE("a lane that fails says where, and the others run on") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  worker.Prepare(PhaseOf("read", 2, directory.path()));
  // Two and a half records are left of the first lane's file.
  const std::string file = directory.data() + "/lane-000000.0";
  REQUIRE(::truncate(file.c_str(), 2 * 4096 + 2048) == 0);
  worker.ArmIn(2'000'000);
  const v1::LanesDone done = worker.WaitDone();
  REQUIRE_FALSE(done.ends(0).took_part());
  REQUIRE(done.ends(1).took_part());
  const v1::ResultChunk chunk = worker.Collect();
  const v1::Problem& problem = chunk.lanes(0).problem();
  REQUIRE(problem.code() == static_cast<int>(absl::StatusCode::kDataLoss));
  REQUIRE(problem.file() == file);
  REQUIRE(problem.offset() == 2 * 4096);
  REQUIRE(problem.operation() == "read");
  REQUIRE(problem.errno_value() == 0);
  REQUIRE_THAT(problem.message(), Catch::Contains("2048 of 4096 bytes"));
  REQUIRE(chunk.lanes(0).ops() == 2);
  REQUIRE(chunk.lanes(1).ops() == 16);
  REQUIRE(chunk.lanes(1).problem().code() == 0);
}

TEST_CASE("ops that fail until the time is over are in the lane's time, and no op ended in it") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("read", 1, directory.path());
  prepare.mutable_stop()->set_time_s(0.2);
  prepare.mutable_stop()->set_max_errors(UINT64_MAX);
  worker.Prepare(prepare);
  REQUIRE(::truncate((directory.data() + "/lane-000000.0").c_str(), 0) == 0);
  worker.ArmIn(2'000'000);
  const v1::LanesDone done = worker.WaitDone();
  const v1::LaneResult lane = worker.Collect().lanes(0);
  REQUIRE(lane.problem().code() == 0);
  CHECK(lane.region_ops() == 0);
  REQUIRE(lane.errors_size() == 1);
  CHECK(lane.errors(0).count() > 16);
  // As above, ticks and nanoseconds differ by millionths.
  CHECK(lane.ops_end_worker_ns() >= worker.start().ns + 200'000'000 - 10'000);
  CHECK(done.ends(0).ops_end_worker_ns() == lane.ops_end_worker_ns());
  CHECK(lane.stall_begin_worker_ns() == lane.first_op_worker_ns());
  CHECK(lane.stall_end_worker_ns() == lane.ops_end_worker_ns());
}

TEST_CASE("a lane reports how many of its errors belong to the warm-up") {
  for (const double warmup_s : {0.0, 1000.0}) {  // all 16 ops are within it, or none
    WorkerHarness worker;
    const TempDir directory;
    worker.ClaimData(directory);
    v1::Prepare prepare = PhaseOf("read", 1, directory.path());
    prepare.mutable_stop()->set_warmup_s(warmup_s);
    prepare.mutable_stop()->set_max_errors(16);
    worker.Prepare(prepare);
    REQUIRE(::truncate((directory.data() + "/lane-000000.0").c_str(), 0) == 0);
    worker.ArmIn(2'000'000);
    worker.WaitDone();
    const v1::LaneResult lane = worker.Collect().lanes(0);
    REQUIRE(lane.errors_size() == 1);
    CHECK(lane.errors(0).count() == 16);
    CHECK(lane.warmup_errors() == (warmup_s > 0 ? 16u : 0u));
  }
}

TEST_CASE("a trace that is written has the ops that succeeded, wherever others failed") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("random-read", 1, directory.path());
  prepare.mutable_stop()->set_max_errors(16);
  prepare.mutable_operation()->mutable_trace()->set_write_file(directory.path() + "/trace");
  worker.Prepare(prepare);
  REQUIRE(::truncate((directory.data() + "/lane-000000.0").c_str(), 3 * 4096) == 0);
  worker.ArmIn(2'000'000);
  worker.WaitDone();
  const v1::LaneResult lane = worker.Collect().lanes(0);
  REQUIRE(lane.problem().code() == 0);
  CHECK(lane.region_ops() == 3);
  std::multiset<uint64_t> offsets;
  std::istringstream trace(directory.Read("trace.0"));
  for (std::string line; std::getline(trace, line);) offsets.insert(std::stoull(line));
  CHECK(offsets == std::multiset<uint64_t>{0, 4096, 8192});
}

TEST_CASE("a phase that is measured again replaces its trace only if it is told to") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 1, directory.path());
  prepare.mutable_operation()->mutable_trace()->set_write_file(directory.path() + "/trace");
  worker.RunPhase(prepare);
  const std::string whole = directory.Read("trace.0");
  REQUIRE(std::count(whole.begin(), whole.end(), '\n') == 16);
  v1::WorkerRequest again;
  *again.mutable_prepare() = prepare;
  CHECK_THAT(worker.Ask(again).problem().message(), Catch::Contains("already exists"));
  prepare.mutable_files()->set_bytes_per_lane(8 * 4096);
  prepare.set_replaces_traces(true);
  const v1::ResultChunk chunk = worker.RunPhase(prepare);
  CHECK(chunk.lanes(0).problem().code() == 0);
  const std::string replaced = directory.Read("trace.0");
  CHECK(std::count(replaced.begin(), replaced.end(), '\n') == 8);
}

TEST_CASE("the step of a phase that quit says that its traces are not written") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  v1::Prepare prepare = PhaseOf("write", 2, directory.path());
  prepare.mutable_operation()->mutable_trace()->set_write_file(directory.path() + "/trace");
  worker.Prepare(prepare);
  worker.ArmIn(2'000'000);
  worker.WaitDone();
  worker.Quit();  // traces are written only for Collect
  const v1::ResultChunk chunk = worker.Collect();
  REQUIRE(NamesOf(chunk.steps()).back() == "write-trace");
  CHECK(chunk.steps(chunk.steps_size() - 1).outcome() == "not written: the phase was interrupted");
  worker.Disarm();  // waits for the lanes
  CHECK_FALSE(directory.Has("trace.0"));
}

TEST_CASE("a lane that cannot be prepared does not take part") {
  WorkerHarness worker;
  const TempDir directory;
  worker.ClaimData(directory);
  // A directory where the second lane's file should be.
  REQUIRE(::mkdir((directory.data() + "/lane-000001.0").c_str(), 0755) == 0);
  worker.Prepare(PhaseOf("write", 2, directory.path()));
  worker.ArmIn(2'000'000);
  const v1::LanesDone done = worker.WaitDone();
  REQUIRE(done.ends(0).took_part());
  REQUIRE_FALSE(done.ends(1).took_part());
  REQUIRE(worker.Collect().lanes(1).problem().errno_value() == EISDIR);
}

TEST_CASE("a phase in which no lane can take part is done as soon as it has started") {
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("write", 2);
  for (v1::LanePlan& lane : *prepare.mutable_lanes()) lane.set_sits_out(true);
  const v1::ResultChunk chunk = worker.RunPhase(prepare);
  REQUIRE(chunk.lanes(0).sat_out());
  REQUIRE(chunk.lanes(1).sat_out());
}

TEST_CASE("a worker is idle after Disarm whatever it did, and a new phase can follow") {
  WorkerHarness worker;
  SECTION("idle") {}
  SECTION("prepared") {
    worker.Prepare(PhaseOf("write", 2));
  }
  SECTION("armed for an hour from now") {
    worker.Prepare(PhaseOf("write", 2));
    worker.ArmIn(3600 * kNanosPerSecond);
  }
  SECTION("running") {
    v1::Prepare prepare = Endless(2);
    prepare.mutable_stop()->set_time_s(3600);
    worker.Prepare(prepare);
    worker.ArmIn(1'000'000);
  }
  SECTION("at the deadline") {
    v1::Prepare prepare = Endless(2);
    prepare.mutable_stop()->set_deadline_s(0.001);
    prepare.mutable_stop()->set_wear_out(true);
    worker.Prepare(prepare);
    worker.ArmIn(1'000'000);
    worker.mailbox().Take([](const v1::WorkerEvent& e) { return e.has_deadline_reached(); });
  }
  SECTION("done") {
    worker.Prepare(PhaseOf("write", 2));
    worker.ArmIn(1'000'000);
    worker.WaitDone();
  }
  SECTION("preparing") {
    v1::WorkerRequest request;
    *request.mutable_prepare() = PhaseOf("write", 2);
    worker.Post(request);
  }
  worker.Disarm();
  REQUIRE(worker.RunPhase(PhaseOf("write", 1)).lanes(0).ops() == 16);
}

TEST_CASE("in a mix by lane some lanes read and some write") {
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("random-mix", 2);
  prepare.mutable_operation()->set_mix_by_lane(true);
  prepare.mutable_operation()->set_read_percent(50);
  prepare.mutable_lanes(0)->set_mix(v1::LANE_MIX_READER);
  prepare.mutable_lanes(1)->set_mix(v1::LANE_MIX_WRITER);
  const v1::ResultChunk chunk = worker.RunPhase(prepare);
  REQUIRE(chunk.lanes(0).kinds_size() == 1);
  REQUIRE(chunk.lanes(0).kinds(0).kind() == v1::OP_READ);
  REQUIRE(chunk.lanes(0).kinds(0).ops() == 16);
  REQUIRE(chunk.lanes(1).kinds_size() == 1);
  REQUIRE(chunk.lanes(1).kinds(0).kind() == v1::OP_WRITE);
}

TEST_CASE("a rest comes before everything else, and is told with its length") {
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("read", 1);
  prepare.add_steps()->mutable_rest()->set_seconds(0.05);
  const int64_t begin_ns = MonotonicNowNs();
  const v1::Prepared prepared = worker.Prepare(prepare);
  REQUIRE(MonotonicNowNs() - begin_ns >= 50'000'000);
  REQUIRE(prepared.steps(0).name() == "rest");
  REQUIRE(prepared.steps(0).seconds() >= 0.05);
}

TEST_CASE("the client's counters cover the phase, and not the wait between its preparation and its start") {
  // They are read 1 ms before the start. On busy processors that can be too late, so that the preparation's values
  // remain; but not every time.
  bool without_the_wait = false;
  for (int attempt = 0; attempt < 10 && !without_the_wait; ++attempt) {
    WorkerHarness worker;
    v1::Prepare prepare = Endless(1);
    prepare.mutable_stop()->set_time_s(0.05);
    worker.Prepare(prepare);
    WorkerClock().SleepUntil(WorkerClock().Now() + 300'000'000);  // other workers are not ready yet
    const WorkerTime armed = worker.Now();
    REQUIRE_FALSE(worker.ArmIn(50'000'000).late());
    worker.WaitDone();
    const v1::ResultChunk chunk = worker.Collect();
    const int64_t since_armed_ns = worker.Now() - armed;
    const v1::LaneResult& lane = chunk.lanes(0);
    CHECK(chunk.host().seconds() > SecondsFrom(lane.ops_end_worker_ns() - lane.first_op_worker_ns()));
    CHECK(chunk.process_cpu_user_s() + chunk.process_cpu_system_s() > 0);
    without_the_wait = chunk.host().seconds() < SecondsFrom(since_armed_ns);
  }
  CHECK(without_the_wait);
}

TEST_CASE("a start that is called off leaves nothing of the client's counters behind") {
  WorkerHarness worker;
  worker.Prepare(PhaseOf("read", 1));
  worker.ArmIn(10'000'000'000);
  worker.Disarm();  // answered at once, though the start is far off
  CHECK(worker.RunPhase(PhaseOf("read", 1)).host().seconds() > 0);
}

TEST_CASE("the time between two bursts of an open loop is no stall, but time between ops") {
  WorkerHarness worker;
  v1::Prepare prepare = PhaseOf("write", 1);  // 16 ops, of which the first burst has 12
  prepare.set_arrival_share(1);
  v1::Arrivals& arrivals = *prepare.mutable_operation()->mutable_arrivals();
  arrivals.set_ops_per_s(20);
  arrivals.set_even(true);
  arrivals.set_burst_s(0.05);
  arrivals.set_burst_every_s(0.6);
  const v1::LaneResult lane = worker.RunPhase(prepare).lanes(0);
  REQUIRE(lane.ops_end_worker_ns() - lane.first_op_worker_ns() >= 550'000'000);
  CHECK(lane.stall_end_worker_ns() - lane.stall_begin_worker_ns() < 200'000'000);
  CHECK(lane.between_s() >= 0.5);
}

TEST_CASE("a lane says when it stood still, on its worker's clock") {
  WorkerHarness worker(/*clock_offset_ns=*/77 * kNanosPerSecond);
  v1::Prepare prepare = PhaseOf("write", 1);
  prepare.mutable_operation()->mutable_between()->set_burst_bytes(8 * 4096);
  prepare.mutable_operation()->mutable_between()->set_burst_pause_ms(50);
  const v1::LaneResult paused = worker.RunPhase(prepare).lanes(0);
  CHECK(paused.stall_begin_worker_ns() >= paused.first_op_worker_ns());
  CHECK(paused.stall_end_worker_ns() <= paused.ops_end_worker_ns());
  const int64_t ops_ns = paused.ops_end_worker_ns() - paused.first_op_worker_ns();
  CHECK(ops_ns >= 50'000'000);
  // The pause that was asked for does not count as a stall, however late the lane woke.
  CHECK(paused.stall_end_worker_ns() - paused.stall_begin_worker_ns() <= ops_ns - 49'999'000);
}

}  // namespace
}  // namespace iobench
