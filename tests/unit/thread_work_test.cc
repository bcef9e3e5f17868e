#include "worker/client/thread_work.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

constexpr char kIo[] = "rchar: 1000\nwchar: 200\nsyscr: 30\nsyscw: 4\nread_bytes: 9\nwrite_bytes: 9\n";
constexpr char kStatus[] = "Name:\tlane\nvoluntary_ctxt_switches:\t50\nnonvoluntary_ctxt_switches:\t70\n";

std::string InCall(long number) {
  return absl::StrCat(number, " 0x7 0x7ff0 0x1000 0x20000 0x0 0x0 0x7ffe 0x7fff\n");
}

TEST_CASE("a thread in a call that reads at an offset names call, descriptor and offset") {
  int descriptor = -1;
  const ThreadLook look = ThreadLookFrom(InCall(SYS_pread64), kIo, kStatus, 0, descriptor);
  CHECK(look.call == "pread64");
  CHECK(descriptor == 7);
  CHECK(look.offset == 0x20000u);
  CHECK(look.activity == 1284);
}

TEST_CASE("the sleeps of a thread that writes are no activity, those of any other are") {
  int descriptor = -1;
  CHECK(ThreadLookFrom(InCall(SYS_pwrite64), kIo, kStatus, 0, descriptor).activity == 1234);
  CHECK(ThreadLookFrom(InCall(SYS_fsync), kIo, kStatus, 0, descriptor).activity == 1284);
  CHECK_FALSE(ThreadLookFrom(InCall(SYS_fsync), kIo, kStatus, 0, descriptor).offset.has_value());
}

TEST_CASE("a thread that sleeps by the clock gets on as the clock does") {
  int descriptor = -1;
  const uint64_t first = ThreadLookFrom(InCall(SYS_clock_nanosleep), kIo, kStatus, 1000, descriptor).activity;
  CHECK(ThreadLookFrom(InCall(SYS_clock_nanosleep), kIo, kStatus, 1001, descriptor).activity == first + 1);
}

TEST_CASE("a thread that runs or faults is in no call, and files that cannot be read say nothing") {
  int descriptor = 3;
  for (const std::string text : {"running\n", "-1 0x7ffe 0x7fff\n", ""}) {
    const ThreadLook look = ThreadLookFrom(text, kIo, kStatus, 5, descriptor);
    CHECK(look.call.empty());
    CHECK(descriptor == -1);
    CHECK(look.activity == 1284);
  }
  CHECK(ThreadLookFrom("", "", "", 5, descriptor).activity == 0);
  CHECK(ThreadLookFrom(InCall(9999), kIo, kStatus, 5, descriptor).call == "system call 9999");
}

TEST_CASE("a thread that waits for a pipe shows the same activity until something comes") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  std::atomic<pid_t> thread{0};
  std::atomic<int> taken{0};
  std::thread reader([&] {
    thread = static_cast<pid_t>(::syscall(SYS_gettid));
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1) ++taken;
  });
  while (thread == 0 || ReadThreadWork(thread).call != "read") ::usleep(1000);
  const ThreadLook before = ReadThreadWork(thread);
  CHECK(before.file.starts_with("pipe:"));
  ::usleep(20'000);
  CHECK(ReadThreadWork(thread).activity == before.activity);
  REQUIRE(::write(ends[1], "x", 1) == 1);
  while (taken == 0) ::usleep(1000);
  CHECK(ReadThreadWork(thread).activity != before.activity);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  // join() returns while the kernel may still be taking the thread down.
  while (ReadThreadWork(thread).activity != 0) ::usleep(1000);
}

}  // namespace
}  // namespace iobench
