#include "worker/engine/rotating_buffers.h"

#include <set>

#include "tests/unit/engine_suite.h"

namespace iobench {
namespace {

using Starts = RotatingBuffers::Starts;

constexpr size_t kBorder = RotatingBuffers::kAlignmentBytes;

bool OnBorder(const std::byte* place) {
  return reinterpret_cast<uintptr_t>(place) % kBorder == 0;
}

TEST_CASE("places come in turn, each on a border, as many as fit") {
  RotatingBuffers buffers;
  REQUIRE_FALSE(buffers.in_use());
  REQUIRE(buffers.Allocate(5 * kBorder + 100, kBorder, Starts::kOnRecords, nullptr).ok());
  REQUIRE(buffers.in_use());
  REQUIRE(buffers.place_count() == 5);
  std::byte* const first = buffers.Take();
  REQUIRE(OnBorder(first));
  for (size_t i = 1; i < 5; ++i) REQUIRE(buffers.Take() == first + i * kBorder);
  REQUIRE(buffers.Take() == first);
  REQUIRE(buffers.Take() == first + kBorder);
}

TEST_CASE("an op that is no multiple of 4 KiB has room behind any border") {
  RotatingBuffers buffers;
  REQUIRE(buffers.Allocate(8 * kBorder, 6000, Starts::kOnRecords, nullptr).ok());
  REQUIRE(buffers.place_count() == 2);  // 6000 bytes behind up to 4095 need three blocks
  const std::byte* const first = buffers.Take();
  REQUIRE(buffers.Take() == first + 3 * kBorder);
}

TEST_CASE("an op of a trace has room behind any border, whatever the longest op is") {
  RotatingBuffers buffers;
  REQUIRE(buffers.Allocate(4 * kBorder, kBorder, Starts::kAnywhere, nullptr).ok());
  REQUIRE(buffers.place_count() == 2);
  const std::byte* const first = buffers.Take();
  REQUIRE(buffers.Take() == first + 2 * kBorder);
}

TEST_CASE("less memory than an op needs is one place") {
  RotatingBuffers buffers;
  REQUIRE(buffers.Allocate(1, 2 * kBorder, Starts::kOnRecords, nullptr).ok());
  REQUIRE(buffers.place_count() == 1);
  const std::byte* const place = buffers.Take();
  REQUIRE(buffers.Take() == place);
}

// The buffers that an op was given: where it reads to, and what it would write.
struct Noting {
  std::vector<std::pair<std::byte*, const std::byte*>>* places;
  Payload* payload;
  std::byte* read_buffer;

  int64_t operator()(const Op& op) const {
    places->emplace_back(read_buffer, payload->Next(op));
    return op.length;
  }
};

TEST_CASE("ops read to and write from the place whose turn it is, aligned as their offset is") {
  auto payload = Payload::Create(1, 2, 3, 6000);
  REQUIRE(payload.ok());
  RotatingBuffers buffers;
  REQUIRE(buffers.Allocate(30'000, 6000, Starts::kOnRecords, &*payload).ok());
  std::vector<std::pair<std::byte*, const std::byte*>> places;
  const WithRotatingBuffers<Noting> in_turn{{&places, &*payload, nullptr}, &buffers, &*payload};
  for (uint64_t i = 0; i < 3; ++i) {
    REQUIRE(in_turn({.kind = OpKind::kWrite, .object = 0, .offset = i * 6000, .length = 6000}) == 6000);
  }
  const std::byte* const first = places[0].first;
  REQUIRE(OnBorder(first));
  REQUIRE(places[1].first == first + 3 * kBorder + 6000 % kBorder);
  REQUIRE(places[2].first == first + 12'000 % kBorder);  // of two places it is the first's turn again
  for (const auto& [read, written] : places) REQUIRE(read == written);
}

TEST_CASE("in turn, every engine that can writes blocks that all differ, and reads them") {
  const auto can = [](const EngineSpec& engine) { return engine.features.Has(EngineFeature::kBuffers); };
  int engine_count = 0;
  ForEachEngine(can, [&engine_count](const EngineSpec& engine, Call call) {
    ++engine_count;
    for (const uint64_t buffer_bytes : {uint64_t{40'000}, uint64_t{1} << 20}) {
      INFO(buffer_bytes);
      constexpr uint64_t kBytes = 50 * 4096 + 1000;
      const TempDirectory directory;
      EngineLane lane(engine.name, call, {.buffer_bytes = buffer_bytes});
      lane.Opens(directory, {{.name = "a", .bytes = kBytes}}, kCreate);
      REQUIRE(lane.Runs("random-write", 4096).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.engine().Flush().ok());
      const std::string content = directory.ContentOf("a");
      REQUIRE(content.size() == kBytes);
      std::set<std::string> blocks;
      for (size_t at = 0; at < content.size(); at += 4096) blocks.insert(content.substr(at, 4096));
      REQUIRE(blocks.size() == 51);
      REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
      REQUIRE(lane.recorder().bytes() == kBytes);
      REQUIRE(lane.last_read.find_first_not_of('\0') ==
              std::string::npos);  // nothing came into the one buffer
      REQUIRE(directory.ContentOf("a") == content);
      REQUIRE(lane.engine().Close().ok());
    }
  });
  REQUIRE(engine_count == 8);  // posix and mmap: 3 calls each; stdio: 2
}

TEST_CASE("updates write new data over what they read, in the place whose turn it is") {
  for (const char* engine : {"posix", "mmap"}) {
    INFO(engine);
    const TempDirectory directory;
    directory.Put("a", std::string(20 * 4096, 'x'));
    EngineLane lane(engine, Call::kStream, {.buffer_bytes = 3 * 4096});
    lane.Opens(directory, {{.name = "a", .bytes = 20 * 4096}}, {.read = true, .write = true});
    REQUIRE(lane.Runs("update", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.engine().Flush().ok());
    const std::string content = directory.ContentOf("a");
    REQUIRE(content.find("xxxxxxxx") == std::string::npos);
    REQUIRE(content.size() == 20 * 4096);
    REQUIRE(lane.engine().Close().ok());
  }
}

}  // namespace
}  // namespace iobench
