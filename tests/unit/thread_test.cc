// Threads that the system gives, and those that it refuses.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "common/process/thread.h"

namespace iobench {
namespace {

// The stack of a thread that is started now.
size_t StackBytesOfThread() {
  size_t bytes = 0;
  auto thread = StartThread([&bytes] {
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
    ::pthread_attr_getstacksize(&attributes, &bytes);
    ::pthread_attr_destroy(&attributes);
  });
  if (thread.ok()) thread->join();
  return bytes;
}

// From now on, the kernel refuses this process any other thread or process, as if a limit were reached.
bool RefuseThreads() {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {.len = std::size(instructions), .filter = instructions};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool WithoutThreads(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(RefuseThreads() && work() ? 0 : 1);
  int state = 0;
  REQUIRE(::waitpid(child, &state, 0) == child);
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

TEST_CASE("a thread does its work") {
  std::atomic<int> done{0};
  auto thread = StartThread([&] { done = 1; });
  REQUIRE(thread.ok());
  thread->join();
  CHECK(done == 1);
  CHECK(DoConcurrently([] { return 7; }).get() == 7);
  CHECK(TryThreads(5).ok());
}

TEST_CASE("a thread that the system refuses is a status, not an exception") {
  CHECK(WithoutThreads([] { return absl::IsResourceExhausted(StartThread([] {}).status()); }));
  CHECK(WithoutThreads([] { return absl::IsResourceExhausted(TryThreads(3)); }));
}

TEST_CASE("work for which there is no thread is done by whoever asks for its result") {
  CHECK(WithoutThreads([] { return DoConcurrently([] { return 7; }).get() == 7; }));
}

TEST_CASE("a refused thread is explained by the limit in the way") {
  CHECK(absl::StrContains(Refused("start a thread", EPERM).message(), "seccomp"));
  CHECK(absl::StrContains(Refused("start a thread", EAGAIN).message(), "cannot start a thread: Resource temporarily unavailable"));
}

TEST_CASE("small stacks are of at most 1 MiB, for threads that start later") {
  const pid_t child = ::fork();
  if (child == 0) {
    UseSmallThreadStacks();
    const size_t bytes = StackBytesOfThread();
    ::_exit(bytes > 0 && bytes <= (size_t{1} << 20) ? 0 : 1);
  }
  int state = 0;
  REQUIRE(::waitpid(child, &state, 0) == child);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK((WIFEXITED(state) && WEXITSTATUS(state) == 0));
#endif
}

}  // namespace
}  // namespace iobench
