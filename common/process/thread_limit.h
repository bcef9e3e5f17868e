// How many threads and processes this process may still start.
#ifndef COMMON_PROCESS_THREAD_LIMIT_H_
#define COMMON_PROCESS_THREAD_LIMIT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace iobench {

// The closest of the limits: RLIMIT_NPROC, pids.max of the control groups, the kernel's own. To Linux, a process is a
// thread, too.
struct ThreadLimit {
  uint64_t left = UINT64_MAX;  // UINT64_MAX: no limit is known
  std::string name;            // "pids.max of the control group /bench is 60"
  std::string advice;          // how to raise it
  // Processes of one host with equal values share the limit: the group's directory, or the user.
  std::string shared_by;
};

// `root`: "" outside of tests.
ThreadLimit ThreadLimitOfThisProcess(const std::string& root = "");

// Whether `needed` more threads and processes can be started. ResourceExhausted: "WHAT needs NEEDED threads and
// processes, but only … may be started here: …, ADVICE or the way to raise the limit".
absl::Status CheckThreads(const ThreadLimit& limit, uint64_t needed, const std::string& what, const std::string& advice);

// Returns the ResourceExhausted of a thread or process that could not be started: "cannot WHAT: …", with the limit that
// is in the way, and how to raise it.
absl::Status Refused(const std::string& what, int errno_value);

// Returns the bytes that may still be mapped (RLIMIT_AS, `ulimit -v`); UINT64_MAX: no limit.
uint64_t AddressSpaceLeft();

}  // namespace iobench

#endif  // COMMON_PROCESS_THREAD_LIMIT_H_
