// What a thread of this process is doing, as the kernel sees it, for threads that may hang in a file system.
#ifndef WORKER_CLIENT_THREAD_WORK_H_
#define WORKER_CLIENT_THREAD_WORK_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iobench {

// Callable from any thread, and never blocks on a file system: only /proc/self/task/TID is read. Costs about 30 us.
struct ThreadLook {
  // Changes while the thread makes progress: it reads, writes, or goes to sleep again. In a call that writes, sleeps do
  // not count, because the kernel wakes a writer that it throttles even if nothing is written back. A thread that
  // sleeps by the clock (think time, a pace) always counts as making progress. 0: the thread has ended, or unknown.
  uint64_t activity = 0;
  // The system call that it waits in, such as "pwrite64", or "system call 291"; empty: it is in none, or unknown.
  std::string call;
  std::string file;                // of the call's descriptor; empty: it has none, or unknown
  std::optional<uint64_t> offset;  // in that file; nullopt: the call has none
};
ThreadLook ReadThreadWork(pid_t thread);

// The same from the text of /proc/TID/syscall, io and status. `now_ns`: of any clock, for threads that sleep by the
// clock. Leaves out the file, whose descriptor is returned in `descriptor`; -1: none. Pure.
ThreadLook ThreadLookFrom(std::string_view syscall, std::string_view io, std::string_view status,
                          int64_t now_ns, int& descriptor);

}  // namespace iobench

#endif  // WORKER_CLIENT_THREAD_WORK_H_
