#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "common/model/engine.h"
#include "common/model/operation.h"
#include "tests/support/damage.h"
#include "tests/support/runs_here.h"
#include "tests/unit/worker_harness.h"

namespace iobench {
namespace {

// Limits what would only take long, fill the disk, or lie outside the test's directory.
void Bound(const TempDir& directory, v1::Prepare& prepare) {
  const auto at_most = [](uint64_t value, uint64_t most) {
    return value < uint64_t{1} << 40 ? std::min(value, most) : value;
  };
  if (prepare.operation().engine() != "null") {
    v1::FileLayout& files = *prepare.mutable_files();
    files.set_bytes_per_lane(at_most(files.bytes_per_lane() % (uint64_t{1} << 40), 1 << 20));
    files.set_files_per_lane(std::min(files.files_per_lane(), 64u));
    for (v1::LanePlan& lane : *prepare.mutable_lanes()) {
      lane.set_extent_offset_bytes(at_most(lane.extent_offset_bytes(), 1 << 20));
      lane.set_interleave_count(std::min(lane.interleave_count(), 16u));
    }
    v1::Tree& tree = *prepare.mutable_operation()->mutable_tree();
    tree.set_items_per_lane(at_most(tree.items_per_lane(), 30));
    tree.set_file_bytes(at_most(tree.file_bytes(), 10'000));
    tree.set_depth(std::min(tree.depth(), 21u));
    tree.set_branching(tree.depth() > 2 ? std::min(tree.branching(), 2u) : std::min(tree.branching(), 10u));
    if (tree.depth() > 5 && tree.depth() <= 20) tree.set_branching(std::min(tree.branching(), 1u));
  }
  v1::Operation& operation = *prepare.mutable_operation();
  operation.set_buffer_bytes(at_most(operation.buffer_bytes(), 1 << 20));
  operation.mutable_between()->set_processor_cache_bytes(
      std::min<uint64_t>(operation.between().processor_cache_bytes(), 1 << 20));
  if (operation.depth() > 64 && operation.depth() <= 4096) operation.set_depth(64);
  if (!operation.trace().write_file().empty())
    operation.mutable_trace()->set_write_file(directory.path() + "/trace");
  operation.mutable_trace()->set_offset_latency(false);  // it would write into the current directory
  for (v1::Step& step : *prepare.mutable_steps()) {
    if (step.rest().seconds() > 0.001 && step.rest().seconds() < 1e8) step.mutable_rest()->set_seconds(0.001);
  }
}

v1::Prepare AnyPhase(const TempDir& directory, Damage& damage) {
  const std::span<const OperationSpec> operations = Operations();
  const std::span<const EngineSpec> engines = Engines();
  v1::Prepare prepare =
      PhaseOf(std::string(operations[damage.Below(operations.size())].name), 2, directory.path());
  v1::Operation& operation = *prepare.mutable_operation();
  const EngineSpec* engine = nullptr;
  do {
    engine = &engines[damage.Below(engines.size())];
  } while (!RunsHere(*engine));
  operation.set_engine(std::string(engine->name));
  operation.set_stride_records(3);
  operation.set_read_percent(50);
  operation.mutable_tree()->set_items_per_lane(20);
  operation.mutable_tree()->set_branching(1);
  operation.mutable_tree()->set_xattr_bytes(8);
  operation.mutable_tree()->set_file_bytes(damage.Below(2) * 4000);
  if (damage.Below(3) == 0) {
    prepare.mutable_data()->set_verify(true);
    prepare.mutable_stamp()->set_unit_bytes(512);
    prepare.mutable_stamp()->set_generation(2);
    prepare.mutable_stamp()->set_prefill_generation(1);
  }
  prepare.mutable_region()->set_close(damage.Below(2) == 0);
  prepare.mutable_stop()->set_deadline_s(0.003);
  return prepare;
}

TEST_CASE("a lane that only reads or writes is refused where nothing mixes") {
  WorkerHarness worker;
  for (const char* const name : {"stat", "read", "write", "seeks"}) {
    v1::WorkerRequest request;
    *request.mutable_prepare() = PhaseOf(name, 1);
    request.mutable_prepare()->mutable_operation()->mutable_tree()->set_items_per_lane(10);
    request.mutable_prepare()->mutable_lanes(0)->set_mix(v1::LANE_MIX_READER);
    const v1::WorkerEvent answer = worker.Ask(request);
    CHECK(answer.problem().code() == 3);
    CHECK_THAT(answer.problem().message(), Catch::Contains("must only read or only write"));
  }
  worker.RunPhase(PhaseOf("read", 1));  // it still works
}

TEST_CASE("a worker answers whatever it is asked to prepare, and lives") {
  const char* const many = std::getenv("IOBENCH_FUZZ_COUNT");
  const uint64_t count = many == nullptr ? 150 : std::strtoull(many, nullptr, 10);
  const char* const first = std::getenv("IOBENCH_FUZZ_FIRST");
  const TempDir directory;
  WorkerHarness worker;
  worker.ClaimData(directory);
  uint64_t ran = 0, refused = 0;
  for (uint64_t seed = first == nullptr ? 0 : std::strtoull(first, nullptr, 10); seed < count; ++seed) {
    Damage damage(seed);
    v1::WorkerRequest request;
    v1::Prepare& prepare = *request.mutable_prepare();
    prepare = AnyPhase(directory, damage);
    for (uint64_t i = damage.Below(5); i > 0; --i) damage.One(prepare);
    Bound(directory, prepare);
    CAPTURE(seed, prepare.ShortDebugString());
    const v1::WorkerEvent answer = worker.Ask(request);
    if (!answer.has_prepared()) {
      REQUIRE(answer.problem().code() != 0);
      REQUIRE_FALSE(answer.problem().message().empty());
      ++refused;
      continue;
    }
    ++ran;
    worker.ArmIn(500'000);
    // A phase that waits for a goal, or would last for hours, is told to end.
    const bool ends_by_itself =
        prepare.stop().deadline_s() > 0 && prepare.stop().deadline_s() < 1 && !prepare.stop().wear_out();
    if (!ends_by_itself) worker.Quit();
    worker.WaitDone();
    worker.Collect();
  }
  CHECK(ran > 0);
  CHECK(refused > 0);
}

}  // namespace
}  // namespace iobench
