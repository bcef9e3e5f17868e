#include "worker/worker_service.h"

#include <unistd.h>

#include "common/timeline.h"
#include "tests/unit/worker_harness.h"

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
  REQUIRE(facts.program_version() == IOBENCH_VERSION);
  REQUIRE(facts.pid() == ::getpid());
  REQUIRE(facts.processors() >= 1);
  REQUIRE(facts.memory_bytes() > 0);
}

TEST_CASE("a phase on the null engine goes from Prepare to Collect, every lane with all its ops") {
  WorkerHarness worker;
  REQUIRE(worker.Prepare(PhaseOf("write", 3)).problems().empty());
  const v1::Armed armed = worker.ArmIn(20'000'000, 1'000'000);
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
    REQUIRE(ends.lane() == static_cast<uint32_t>(i));
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

}  // namespace
}  // namespace iobench
