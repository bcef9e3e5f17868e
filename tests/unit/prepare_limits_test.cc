#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/text/units.h"
#include "tests/support/rights_guard.h"
#include "tests/unit/worker_harness.h"
#include "worker/prepare/phase_spec.h"
#include "worker/prepare/prepare_check.h"
#include "worker/prepare/trace_file.h"

namespace iobench {
namespace {

using Catch::Contains;

PhaseNeeds NeedsOfPhase(const v1::Prepare& prepare) {
  const OperationSpec* const spec = *FindOperation(prepare.operation().name());
  return NeedsOf(prepare, *spec, **EngineFor(*spec, prepare.operation().engine()));
}

TEST_CASE("a phase needs its buffers, once per lane and op in flight") {
  v1::Prepare prepare = PhaseOf("read", 10, "/x");
  prepare.mutable_operation()->set_record_bytes(4_MiB);
  const uint64_t one_buffer = NeedsOfPhase(prepare).memory_bytes;
  CHECK(one_buffer >= 10 * 8_MiB);  // for what is read, and for data that may have to be written first
  CHECK(one_buffer <= 10 * 9_MiB);
  prepare.mutable_operation()->set_engine("io_uring");
  prepare.mutable_operation()->set_depth(32);
  CHECK(NeedsOfPhase(prepare).memory_bytes >= 10 * 32 * 4_MiB);
}

TEST_CASE("a phase needs a second buffer for records that are generated one by one") {
  v1::Prepare prepare = PhaseOf("write", 10, "/x");
  prepare.mutable_operation()->set_record_bytes(4_MiB);
  SECTION("for verification") {
    prepare.mutable_data()->set_verify(true);
    CHECK(NeedsOfPhase(prepare).memory_bytes >= 10 * 8_MiB);
  }
  SECTION("for deduplication") {
    prepare.mutable_data()->set_dedupe_percent(20);
    CHECK(NeedsOfPhase(prepare).memory_bytes >= 10 * 8_MiB);
  }
  SECTION("and for a pattern only one") {
    prepare.mutable_data()->set_verify(true);
    prepare.mutable_data()->set_kind(v1::DataContent::PATTERN);
    CHECK(NeedsOfPhase(prepare).memory_bytes <= 10 * 5_MiB);
  }
}

TEST_CASE("streams need a buffer for each file of each lane") {
  v1::Prepare prepare = PhaseOf("fwrite", 8, "/x");
  prepare.mutable_operation()->set_record_bytes(1_MiB);
  prepare.mutable_files()->set_files_per_lane(1000);
  CHECK(NeedsOfPhase(prepare).memory_bytes >= 8 * 1000 * 1_MiB);
  prepare.mutable_operation()->set_record_bytes(1);  // buffers are whole pages
  CHECK(NeedsOfPhase(prepare).memory_bytes >= 8 * 1000 * 4_KiB);
  prepare.mutable_operation()->set_name("write");
  CHECK(NeedsOfPhase(prepare).memory_bytes <= 8 * 3_MiB);
}

TEST_CASE("a phase that replays a trace needs the trace and buffers for its longest op") {
  const v1::Prepare prepare = PhaseOf("write", 64, "/x");
  const OperationSpec* const spec = *FindOperation("write");
  TraceOps ops(1000, TraceOp{.offset = 0, .length = 4096, .delay_us = 0});
  ops[500].length = 64 << 20;
  const PhaseNeeds needs = NeedsOf(prepare, *spec, **EngineFor(*spec, "posix"), ops);
  CHECK(needs.memory_bytes >= 64 * 64_MiB + 1000 * sizeof(TraceOp));
}

TEST_CASE("a trace whose ops need more memory than the worker takes is refused") {
  WorkerRights rights;
  rights.max_memory_bytes = 1_GiB;
  const RightsGuard guard(rights);
  const TempDir directory;
  directory.Write("trace", "0 4096\n0 67108864\n");
  v1::Prepare prepare = PhaseOf("write", 64, directory.path());
  prepare.mutable_files()->set_bytes_per_lane(64_MiB);
  prepare.mutable_operation()->mutable_trace()->set_read_file(directory.path() + "/trace");
  const absl::Status refused = PhaseSpec::From(prepare, WorkerClock(), /*loop_ns=*/0).status();
  CHECK(absl::IsResourceExhausted(refused));
  CHECK_THAT(std::string(refused.message()),
             Contains("/trace with ops of up to 64 MiB") && Contains("--max-memory"));
}

TEST_CASE("a trace that does not fit into the worker's memory is not read") {
  WorkerRights rights;
  rights.max_memory_bytes = 1_MiB;
  const RightsGuard guard(rights);
  const TempDir directory;
  // The text alone is too long, then the text together with its ops, then neither.
  const std::vector<std::pair<int, bool>> cases = {{300'000, false}, {90'000, false}, {20'000, true}};
  for (const auto& [line_count, fits] : cases) {
    std::string text;
    for (int i = 0; i < line_count; ++i) text += "0 4096\n";
    directory.Write("trace", text);
    INFO(line_count << " lines");
    const absl::Status loaded = LoadTrace(directory.path() + "/trace", 1_MiB).status();
    CHECK(absl::IsResourceExhausted(loaded) == !fits);
    CHECK(loaded.ok() == fits);
  }
}

TEST_CASE("no needs wrap around") {
  v1::Prepare prepare = PhaseOf("write", 1000, "/x");
  prepare.mutable_operation()->set_buffer_bytes(UINT64_MAX - 5);
  prepare.mutable_files()->set_bytes_per_lane(UINT64_MAX / 500);
  const PhaseNeeds needs = NeedsOfPhase(prepare);
  CHECK(needs.memory_bytes == UINT64_MAX);
  CHECK(needs.data_bytes == UINT64_MAX);
  CHECK(absl::IsResourceExhausted(CheckNeeds(needs, 0)));
  v1::Prepare interleaved = PhaseOf("write", 1, "/x");
  interleaved.mutable_files()->set_bytes_per_lane(uint64_t{1} << 40);
  interleaved.mutable_lanes(0)->set_interleave_count(UINT32_MAX);
  CHECK(absl::IsResourceExhausted(CheckNeeds(NeedsOfPhase(interleaved), 0)));
}

TEST_CASE("a phase that needs more memory than the worker takes is refused with what to type") {
  const absl::Status refused = CheckNeeds({.memory_bytes = 3_GiB, .data_bytes = 0}, 2_GiB);
  CHECK(absl::IsResourceExhausted(refused));
  CHECK_THAT(std::string(refused.message()),
             Contains("3 GiB") && Contains("2 GiB") && Contains("--max-memory"));
  CHECK(CheckNeeds({.memory_bytes = 2_GiB, .data_bytes = 0}, 2_GiB).ok());
  CHECK(CheckNeeds({.memory_bytes = UINT64_MAX, .data_bytes = 0}, 0).ok());
}

// Each is one clear refusal, and the worker goes on.
TEST_CASE("a worker refuses whatever would take more than it has, and lives") {
  WorkerRights rights;
  rights.max_memory_bytes = 1_GiB;
  const RightsGuard guard(rights);
  WorkerHarness worker;
  const TempDir directory;
  struct Case {
    const char* name;
    const char* operation;
    std::function<void(v1::Prepare&)> ask;
  };
  const auto many_lanes = [](v1::Prepare& prepare, int count) {
    while (prepare.lanes_size() < count) {
      v1::LanePlan& lane = *prepare.add_lanes();
      lane.set_lane(static_cast<uint32_t>(prepare.lanes_size()));
      lane.set_file_owner(lane.lane());
    }
  };
  const Case cases[] = {
      {"200,000 lanes", "write", [&](v1::Prepare& p) { many_lanes(p, 200'000); }},
      {"4,097 lanes", "read", [&](v1::Prepare& p) { many_lanes(p, 4097); }},
      {"2^32 ops in flight", "read", [](v1::Prepare& p) { p.mutable_operation()->set_depth(UINT32_MAX); }},
      {"2^32 files", "write", [](v1::Prepare& p) { p.mutable_files()->set_files_per_lane(UINT32_MAX); }},
      {"a tree of 2^32 levels", "create",
       [](v1::Prepare& p) { p.mutable_operation()->mutable_tree()->set_depth(UINT32_MAX); }},
      {"2^32 directories in each", "create",
       [](v1::Prepare& p) {
         p.mutable_operation()->mutable_tree()->set_depth(2);
         p.mutable_operation()->mutable_tree()->set_branching(UINT32_MAX);
       }},
      {"2^64 items", "stat",
       [](v1::Prepare& p) { p.mutable_operation()->mutable_tree()->set_items_per_lane(UINT64_MAX); }},
      {"a tree with 2^64 items", "stat",
       [](v1::Prepare& p) { p.mutable_lanes(0)->mutable_tree()->set_items(UINT64_MAX); }},
      {"a tree with attributes of 2^32 bytes", "stat",
       [](v1::Prepare& p) { p.mutable_lanes(0)->mutable_tree()->set_xattr_bytes(UINT32_MAX); }},
      {"records of 2^63 bytes", "write",
       [](v1::Prepare& p) { p.mutable_operation()->set_record_bytes(uint64_t{1} << 63); }},
      {"buffers of 2^63 bytes", "write",
       [](v1::Prepare& p) { p.mutable_operation()->set_buffer_bytes(uint64_t{1} << 63); }},
      {"files of 2^63 bytes", "write",
       [](v1::Prepare& p) { p.mutable_files()->set_bytes_per_lane(uint64_t{1} << 63); }},
      {"an extent at 2^63", "write",
       [](v1::Prepare& p) {
         p.mutable_files()->set_shared_file(true);
         p.mutable_lanes(0)->set_extent_offset_bytes(uint64_t{1} << 63);
       }},
      {"more memory than it takes", "write",
       [](v1::Prepare& p) { p.mutable_operation()->set_record_bytes(1_GiB); }},
      {"a path of a megabyte", "write",
       [](v1::Prepare& p) { p.mutable_targets(0)->set_path("/" + std::string(1 << 20, 'x')); }},
      {"a path with a zero byte", "write",
       [](v1::Prepare& p) { p.mutable_targets(0)->mutable_path()->push_back('\0'); }},
      {"a relative existing file", "read",
       [](v1::Prepare& p) { p.mutable_files()->add_existing_files("../file"); }},
      {"an existing file that is written", "write",
       [&](v1::Prepare& p) { p.mutable_files()->add_existing_files(directory.path() + "/file"); }},
      {"an existing file that is updated", "read-modify-write",
       [&](v1::Prepare& p) { p.mutable_files()->add_existing_files(directory.path() + "/file"); }},
      {"an existing file of a metadata operation", "create",
       [&](v1::Prepare& p) { p.mutable_files()->add_existing_files(directory.path() + "/file"); }},
      {"an existing file that is emptied", "read",
       [&](v1::Prepare& p) {
         p.mutable_files()->add_existing_files(directory.path() + "/file");
         p.mutable_operation()->set_truncate(true);
       }},
  };
  directory.Write("file", "untouched");
  worker.ClaimData(directory);
  for (const Case& each : cases) {
    CAPTURE(each.name);
    if (!FindOperation(each.operation).ok()) continue;
    v1::WorkerRequest request;
    v1::Prepare& prepare = *request.mutable_prepare();
    prepare = PhaseOf(each.operation, 1, directory.path());
    prepare.mutable_operation()->mutable_tree()->set_items_per_lane(5);
    prepare.mutable_operation()->mutable_tree()->set_branching(1);
    each.ask(prepare);
    const v1::WorkerEvent answer = worker.Ask(request);
    CHECK(answer.problem().code() != 0);
    CHECK_FALSE(answer.problem().message().empty());
    CHECK(answer.problem().message().size() < 5000);
  }
  CHECK(directory.Read("file") == "untouched");
  CHECK(worker.RunPhase(PhaseOf("write", 2, directory.path())).lanes(1).bytes() == 16 * 4096);
}

}  // namespace
}  // namespace iobench
