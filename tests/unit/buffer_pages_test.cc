// Large buffers ask for huge pages, and what the kernel gave is read from the kernel.
#include "worker/data/buffer_pages.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "catch2/catch.hpp"
#include "common/proc_file.h"
#include "worker/data/aligned_buffer.h"

namespace iobench {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

LargeBuffer At(uintptr_t address, size_t bytes) {
  return {.memory = {reinterpret_cast<const std::byte*>(address), bytes}};
}

bool Lists(const AlignedBuffer& buffer) {
  const std::vector<LargeBuffer> all = LargeBuffers();
  return std::any_of(all.begin(), all.end(), [&](const LargeBuffer& each) {
    return each.memory.data() == buffer.data() && each.memory.size() == buffer.size();
  });
}

// "VmFlags: rd wr …" of the mapping that holds the address.
std::string FlagsAt(const std::byte* data) {
  const std::string smaps = ReadWholeFile("/proc/self/smaps").value_or("");
  bool inside = false;
  for (const absl::string_view line : absl::StrSplit(smaps, '\n')) {
    const std::vector<std::string> range = absl::StrSplit(line.substr(0, line.find(' ')), '-');
    uint64_t from = 0, to = 0;
    if (range.size() == 2 && absl::SimpleHexAtoi(range[0], &from) && absl::SimpleHexAtoi(range[1], &to)) {
      const auto at = reinterpret_cast<uintptr_t>(data);
      inside = from <= at && at < to;
    }
    if (inside && absl::StartsWith(line, "VmFlags:")) return std::string(line);
  }
  return "";
}

// Two mappings: 4 MiB, half of it resident, of which three quarters are in huge pages; and a small one.
constexpr std::string_view kSmaps =
    "10000000-10400000 rw-p 00000000 00:00 0 \n"
    "Size:               4096 kB\n"
    "Rss:                2048 kB\n"
    "AnonHugePages:      1536 kB\n"
    "VmFlags: rd wr mr mw me ac hg \n"
    "10400000-10401000 rw-p 00000000 00:00 0                          [heap]\n"
    "Rss:                   4 kB\n"
    "AnonHugePages:         0 kB\n";

}  // namespace

TEST_CASE("a mapping that is partly in huge pages counts in proportion") {
  const LargeBuffer buffers[] = {At(0x10000000, kMiB), At(0x10200000, kMiB)};
  CHECK(HugePageBytesBySmaps(kSmaps, buffers) == 3 * kMiB / 2);
  const LargeBuffer across[] = {At(0x103ff000, 8 * kKiB)};  // 4 KiB in each of the two
  CHECK(HugePageBytesBySmaps(kSmaps, across) == 3 * kKiB);
  const LargeBuffer elsewhere[] = {At(0x20000000, kMiB)};
  CHECK(HugePageBytesBySmaps(kSmaps, elsewhere) == 0);
}

TEST_CASE("a kernel without huge pages says nothing of them") {
  const LargeBuffer buffers[] = {At(0x10000000, kMiB)};
  CHECK(HugePageBytesBySmaps("10000000-10400000 rw-p 00000000 00:00 0 \nRss: 2048 kB\n", buffers) == std::nullopt);
  CHECK(HugePageBytesBySmaps("", buffers) == std::nullopt);
}

TEST_CASE("a large buffer for ops begins at a huge page and asks for them, and a small one does not") {
  auto large = AlignedBuffer::AllocateForOps(kMiB);
  auto small = AlignedBuffer::AllocateForOps(kMiB - 1);
  REQUIRE((large.ok() && small.ok()));
  CHECK(large->size() == kMiB);
  CHECK(reinterpret_cast<uintptr_t>(large->data()) % kHugePageBytes == 0);
  CHECK(std::all_of(large->data(), large->data() + kMiB, [](std::byte each) { return each == std::byte{0}; }));
  CHECK(Lists(*large));
  CHECK_FALSE(Lists(*small));
  if (::access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0) {
    CHECK(absl::StrContains(FlagsAt(large->data()), " hg"));
    CHECK_FALSE(absl::StrContains(FlagsAt(small->data()), " hg"));
  }
  CHECK(AlignedBuffer::AllocateForOps(SIZE_MAX).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(AlignedBuffer::AllocateForOps(size_t{1} << 60).status().code() == absl::StatusCode::kResourceExhausted);
}

TEST_CASE("a large buffer is listed until it is gone, wherever it was moved") {
  auto made = AlignedBuffer::AllocateForOps(3 * kMiB);
  REQUIRE(made.ok());
  const size_t before = LargeBuffers().size();
  {
    AlignedBuffer moved = *std::move(made);
    CHECK(Lists(moved));
    AlignedBuffer other = *AlignedBuffer::AllocateForOps(kMiB);
    CHECK(LargeBuffers().size() == before + 1);
    std::swap(moved, other);
    CHECK((Lists(moved) && Lists(other)));
  }
  CHECK(LargeBuffers().size() == before - 1);
}

TEST_CASE("a buffer takes at most 1 MiB more than its size, so that it ends with a whole huge page") {
  CHECK(AlignedBuffer::FootprintForOps(100) == 4 * kKiB);
  CHECK(AlignedBuffer::FootprintForOps(kMiB) == 2 * kMiB);
  CHECK(AlignedBuffer::FootprintForOps(3 * kMiB) == 4 * kMiB);
  CHECK(AlignedBuffer::FootprintForOps(4 * kMiB + 8 * kKiB) == 4 * kMiB + 8 * kKiB);
  CHECK(AlignedBuffer::FootprintForOps(UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("the kernel's two answers are the same") {
  auto buffer = AlignedBuffer::AllocateForOps(16 * kMiB);
  REQUIRE(buffer.ok());
  const LargeBuffer buffers[] = {{.memory = {buffer->data(), buffer->size()}}};
  const std::optional<uint64_t> scanned = HugePageBytesByScan(buffers);
  const std::optional<uint64_t> read = HugePageBytesBySmaps(*ReadWholeFile("/proc/self/smaps"), buffers);
  CHECK(HugePageBytesIn(buffers) == (scanned ? scanned : read));
  if (scanned && read) CHECK(*scanned == *read);
}

TEST_CASE("a buffer is on the NUMA node of the thread that touched it, and not on another one") {
  cpu_set_t before, one;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  auto buffer = AlignedBuffer::AllocateForOps(16 * kMiB);
  auto small = AlignedBuffer::AllocateForOps(kMiB + 4 * kKiB);
  unsigned node = 0;
  REQUIRE(::getcpu(nullptr, &node) == 0);
  ::sched_setaffinity(0, sizeof before, &before);
  REQUIRE((buffer.ok() && small.ok()));

  std::vector<LargeBuffer> buffers = LargeBuffers();
  REQUIRE(buffers.size() == 2);
  CHECK((buffers[0].node == node && buffers[1].node == node));
  const uint64_t bytes = 17 * kMiB + 4 * kKiB;
  CHECK(LocalBytesIn(buffers) == bytes);
  for (LargeBuffer& each : buffers) ++each.node;
  CHECK(LocalBytesIn(buffers) == 0);
  (buffers[0].memory.size() == 16 * kMiB ? buffers[0] : buffers[1]).node = node;
  CHECK(LocalBytesIn(buffers) == 16 * kMiB);
}

}  // namespace iobench
