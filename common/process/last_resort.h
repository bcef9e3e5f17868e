// Ends a process that hangs in a library.
#ifndef COMMON_PROCESS_LAST_RESORT_H_
#define COMMON_PROCESS_LAST_RESORT_H_

namespace iobench {

// Where threads or memory are limited, gRPC may wait without an end for a thread that it could not start, on the very
// thread that checks the time. The kernel's alarm ends the process anyway: after `seconds`, it prints `text` on standard
// error and ends with `exit_code`. A later call replaces an earlier one. `text` must stay valid.
void EndAfter(double seconds, const char* text, int exit_code);
// What might have hung has ended.
void CancelEnd();

}  // namespace iobench

#endif  // COMMON_PROCESS_LAST_RESORT_H_
