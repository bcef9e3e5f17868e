#include "worker/check/block_writes.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <vector>

#include "common/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

constexpr int64_t kStepNs = 1'000'000;

// Writes in a directory, with a clock that advances by a millisecond each time it is read.
struct BlockRun {
  TempDir directory;
  UniqueFd fd{::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY)};
  std::atomic<bool> cancelled{false};
  int64_t now_ns = 0;
  v1::BlockWrites writes;

  BlockRun() {
    writes.set_block_count(4);
    writes.set_key(77);
  }
  v1::BlockCounts Write(int64_t ns) {
    v1::BlockCounts counts;
    const int64_t end_ns = now_ns + ns;
    REQUIRE(WriteBlocks(
                fd.get(), "f", "f", writes, end_ns, cancelled,
                [this] { return WorkerTime{now_ns += kStepNs}; }, counts)
                .ok());
    writes.set_begun(counts.begun());
    writes.set_acknowledged(counts.acknowledged());
    return counts;
  }
  v1::BlockCounts Check() {
    v1::BlockCounts counts;
    REQUIRE(CheckBlocks(fd.get(), "f", "f", writes, counts).ok());
    return counts;
  }
  void Overwrite(uint64_t offset, const std::vector<std::byte>& bytes) {
    std::fstream file(directory.path() + "/f", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
};

TEST_CASE("blocks say which write they are of") {
  std::vector<std::byte> block(kCheckBlockBytes);
  FillCheckBlock(5, 9, block);
  uint64_t number = 0;
  CHECK(ReadCheckBlock(5, block, number) == BlockState::kWritten);
  CHECK(number == 9);
  CHECK(ReadCheckBlock(6, block, number) == BlockState::kTorn);
  block[4000] ^= std::byte{1};
  CHECK(ReadCheckBlock(5, block, number) == BlockState::kTorn);
  block.assign(kCheckBlockBytes, std::byte{0});
  CHECK(ReadCheckBlock(5, block, number) == BlockState::kEmpty);
}

TEST_CASE("what was acknowledged is found, over several rounds and parts") {
  BlockRun run;
  const v1::BlockCounts first = run.Write(20 * kStepNs);
  CHECK(first.acknowledged() > 4);
  CHECK(first.acknowledged() == first.begun());
  CHECK(first.failed() == 0);
  CHECK(run.Check().checked() == 4);
  run.writes.set_straight_from(run.writes.begun());
  const v1::BlockCounts second = run.Write(20 * kStepNs);
  CHECK(second.acknowledged() > first.acknowledged());
  const v1::BlockCounts found = run.Check();
  CHECK(found.checked() == 4 + second.acknowledged() - first.acknowledged());
  CHECK(found.lost() + found.stale() + found.torn() == 0);
  CHECK(run.directory.SizeOf("f") == found.checked() * kCheckBlockBytes);
}

TEST_CASE("closing each time acknowledges too") {
  BlockRun run;
  run.writes.set_flush(v1::BlockWrites::CLOSE);
  CHECK(run.Write(20 * kStepNs).acknowledged() > 4);
  CHECK(run.Check().lost() == 0);
}

TEST_CASE("lost, older and torn blocks are told apart, with the first offset") {
  BlockRun run;
  run.Write(40 * kStepNs);
  REQUIRE(run.writes.acknowledged() >= 12);
  std::vector<std::byte> block(kCheckBlockBytes, std::byte{0});
  run.Overwrite(1 * kCheckBlockBytes, block);
  FillCheckBlock(77, 2, block);  // of the first round
  run.Overwrite(2 * kCheckBlockBytes, block);
  run.Overwrite(3 * kCheckBlockBytes, std::vector<std::byte>(512, std::byte{7}));
  const v1::BlockCounts found = run.Check();
  CHECK(found.lost() == 1);
  CHECK(found.stale() == 1);
  CHECK(found.torn() == 1);
  CHECK(found.first_bad_offset() == kCheckBlockBytes);
}

TEST_CASE("a block that claims a write that never began is wrong") {
  BlockRun run;
  run.Write(20 * kStepNs);
  std::vector<std::byte> block(kCheckBlockBytes);
  FillCheckBlock(77, 4'000'000, block);
  run.Overwrite(0, block);
  CHECK(run.Check().torn() == 1);
}

TEST_CASE("a file that is shorter or gone has lost its blocks") {
  BlockRun run;
  run.Write(20 * kStepNs);
  std::filesystem::resize_file(run.directory.path() + "/f", kCheckBlockBytes);
  CHECK(run.Check().lost() == 3);
  std::filesystem::remove(run.directory.path() + "/f");
  CHECK(run.Check().lost() == 4);
}

TEST_CASE("no more blocks are looked at than a file may have") {
  BlockRun run;
  run.Write(20 * kStepNs);
  run.writes.set_straight_from(1);
  run.writes.set_acknowledged(UINT64_MAX);
  CHECK(run.Check().checked() ==
        kMaxCheckBlocks - 3);  // of the four blocks of the round, only one was written
}

TEST_CASE("a file that reaches its max. size is full, and nothing more is written to it") {
  BlockRun run;
  CHECK_FALSE(run.Write(20 * kStepNs).full());
  run.writes.set_straight_from(run.writes.begun());
  const uint64_t full_at = run.writes.straight_from() + kMaxCheckBlocks - run.writes.block_count();
  run.writes.set_begun(full_at - 2);
  run.writes.set_acknowledged(full_at - 2);
  const v1::BlockCounts last = run.Write(20 * kStepNs);
  CHECK(last.full());
  CHECK(last.acknowledged() == full_at);
  CHECK(run.directory.SizeOf("f") == kMaxCheckBlocks * kCheckBlockBytes);
  const v1::BlockCounts none = run.Write(20 * kStepNs);
  CHECK(none.full());
  CHECK(none.begun() == full_at);
}

TEST_CASE("writing ends when it is cancelled, and counts the write that failed") {
  BlockRun run;
  run.cancelled = true;
  CHECK(run.Write(20 * kStepNs).begun() == 0);
  run.cancelled = false;
  run.Write(3 * kStepNs);
  run.writes.set_flush(v1::BlockWrites::CLOSE);
  std::filesystem::create_symlink("elsewhere", run.directory.path() + "/link");
  v1::BlockCounts counts;
  CHECK_FALSE(WriteBlocks(
                  run.fd.get(), "link", "link", run.writes, INT64_MAX, run.cancelled,
                  [&run] { return WorkerTime{run.now_ns}; }, counts)
                  .ok());
  CHECK_FALSE(run.directory.Has("elsewhere"));
}

}  // namespace
}  // namespace iobench
