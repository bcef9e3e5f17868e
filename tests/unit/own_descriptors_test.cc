#include "worker/lane/own_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <thread>

#include "common/unique_fd.h"

#ifndef IOBENCH_TSAN  // under which lanes share the process's table

namespace iobench {
namespace {

bool IsOpen(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

size_t OpenDescriptorCount() {
  using Iterator = std::filesystem::directory_iterator;
  return static_cast<size_t>(std::distance(Iterator("/proc/self/fd"), Iterator()));
}

// The open descriptors as a thread with its own table sees them, and as the other threads do.
struct Seen {
  bool took = false;
  bool kept_is_open = false, other_is_open = false, stderr_is_open = false;
  int opened = -1;
};

Seen InThread(int kept, int other) {
  Seen seen;
  std::thread([&] {
    seen.took = UnshareDescriptors(kept);
    seen.kept_is_open = kept >= 0 && IsOpen(kept);
    seen.other_is_open = IsOpen(other);
    seen.stderr_is_open = IsOpen(STDERR_FILENO);
    seen.opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // left open: it goes with the table
  }).join();
  return seen;
}

TEST_CASE("a lane's thread keeps one descriptor and the standard ones, and others keep all of theirs") {
  const UniqueFd below(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd kept(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd above(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const int other : {below.get(), above.get()}) {
    const Seen seen = InThread(kept.get(), other);
    REQUIRE(seen.took);
    CHECK(seen.kept_is_open);
    CHECK_FALSE(seen.other_is_open);
    CHECK(seen.stderr_is_open);
    CHECK((IsOpen(below.get()) && IsOpen(kept.get()) && IsOpen(above.get())));
  }
}

TEST_CASE("what a lane's thread opens is nobody else's, and is closed with it") {
  const UniqueFd held(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const size_t count_before = OpenDescriptorCount();
  const Seen seen = InThread(-1, held.get());
  REQUIRE(seen.took);
  REQUIRE(seen.opened >= 0);
  CHECK_FALSE(seen.other_is_open);
  CHECK(OpenDescriptorCount() == count_before);
}

}  // namespace
}  // namespace iobench

#endif
