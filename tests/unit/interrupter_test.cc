#include "common/process/interrupter.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>

namespace iobench {
namespace {

constexpr int64_t kLookEveryNs = 1'000'000;

// A pipe that nobody writes to: a read of it waits.
struct Silence {
  Silence() { REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
  ~Silence() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ReadErrno() const {
    char byte;
    return ::read(ends[0], &byte, 1) < 0 ? errno : 0;
  }
  int ends[2];
};

TEST_CASE("a call that waits ends once it is over, and not before") {
  const Silence silence;
  std::atomic<int> looks{0};
  const auto interrupter = Interrupter::Create([&looks] { return ++looks >= 5; }, kLookEveryNs);
  REQUIRE(interrupter.ok());
  CHECK_FALSE((*interrupter)->over());
  CHECK(silence.ReadErrno() == EINTR);
  CHECK((*interrupter)->over());
  CHECK(looks == 5);  // then it only signals
  CHECK(silence.ReadErrno() == EINTR);  // a call that begins later
}

TEST_CASE("afterwards the thread's signals are blocked as before") {
  sigset_t before, after;
  REQUIRE(::pthread_sigmask(SIG_BLOCK, nullptr, &before) == 0);
  { REQUIRE(Interrupter::Create([] { return true; }, kLookEveryNs).ok()); }
  REQUIRE(::pthread_sigmask(SIG_BLOCK, nullptr, &after) == 0);
  for (int number = 1; number < SIGRTMAX; ++number)
    CHECK(::sigismember(&before, number) == ::sigismember(&after, number));
}

}  // namespace
}  // namespace iobench
