// Starts threads. The system may refuse: limits of processes, threads or memory, a filter of system calls. Nothing else
// in the program starts a thread, since std::thread and std::async would end it with an exception
// (tests/structure/test_threads.py).
#ifndef COMMON_PROCESS_THREAD_H_
#define COMMON_PROCESS_THREAD_H_

#include <cerrno>
#include <cstdint>
#include <future>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/thread_limit.h"

namespace iobench {

// Starts a thread, which the caller joins or detaches. ResourceExhausted: Refused("start a thread", …).
template <typename Work>
absl::StatusOr<std::thread> StartThread(Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    return Refused("start a thread", error.code().value());
  } catch (const std::bad_alloc&) {
    return Refused("start a thread", ENOMEM);
  }
}

// Names the calling thread in `top -H`, `ps -L` and /proc. At most 15 characters. A thread inherits the name of the one that
// starts it, in general "cluster-iobench".
void NameThisThread(const char* name);

// Gives threads that are started from now on stacks of 1 MiB instead of RLIMIT_STACK, which is 8 MiB in general. glibc
// keeps 40 MiB of the stacks of threads that have ended: with more than five lanes, each phase unmapped stacks and
// mapped others, for which all lanes had to wait. Call it before other threads start. No effect in builds with
// sanitizers, whose frames are larger.
void UseSmallThreadStacks();

// Does the work in the call that asks for the result.
template <typename Work>
auto DoWhenAsked(Work work) -> std::future<decltype(work())> {
  return std::async(std::launch::deferred, std::move(work));
}

// Does the work on a thread of its own, or, where none can be started, in the call that asks for the result. The
// future's destructor waits for the thread.
template <typename Work>
auto DoConcurrently(Work work) -> std::future<decltype(work())> {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    return DoWhenAsked(std::move(work));
  } catch (const std::bad_alloc&) {
    return DoWhenAsked(std::move(work));
  }
}

// Starts `count` threads that exist at the same time, and ends them; takes about 20 us for each. For libraries that
// start threads themselves and hang when they cannot, as gRPC does. Fails as StartThread does.
absl::Status TryThreads(uint32_t count);

}  // namespace iobench

#endif  // COMMON_PROCESS_THREAD_H_
