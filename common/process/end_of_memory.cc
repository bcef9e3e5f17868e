#include "common/process/end_of_memory.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace iobench {
namespace {

int exit_code_then = 1;
std::atomic<bool> has_ended{false};

bool IsLimited(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void Say(const char* text) {
  static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
}

// Only what needs no memory, and what a signal handler may call. The first thread that gets here speaks.
[[noreturn]] void End(const char* what) {
  if (has_ended.exchange(true)) {
    while (true) ::pause();
  }
  Say("cluster-iobench: ");
  Say(what);
  Say(IsLimited(RLIMIT_AS)     ? ": the address space of a process is limited here: raise `ulimit -v`"
      : IsLimited(RLIMIT_DATA) ? ": the memory of a process is limited here: raise `ulimit -d`"
                               : ": use fewer lanes or smaller records, or raise the limit of memory or threads "
                                 "(ulimit -a; memory.max and pids.max of the control group)");
  Say("\n");
  ::_exit(exit_code_then);
}

[[noreturn]] void OnTerminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    End("the system refuses memory");
  } catch (const std::system_error& error) {
    if (error.code().value() == EAGAIN || error.code().value() == ENOMEM) End("the system refuses a thread");
  } catch (...) {  // NOLINT(bugprone-empty-catch): abort() below ends it
  }
  std::abort();
}

// C libraries abort when malloc fails. Where memory is limited, that is nearly always the reason.
extern "C" void OnAbort(int) {
  if (IsLimited(RLIMIT_AS) || IsLimited(RLIMIT_DATA)) End("a library aborted, for want of memory as it seems");
  ::signal(SIGABRT, SIG_DFL);
  ::raise(SIGABRT);
}

}  // namespace

void EndClearlyWithoutMemory(int exit_code) {
  exit_code_then = exit_code;
  // By default, malloc takes 64 MiB of address space for each of several threads, and none is left for threads.
  if (IsLimited(RLIMIT_AS)) ::mallopt(M_ARENA_MAX, 1);
  std::set_terminate(OnTerminate);
  ::signal(SIGABRT, OnAbort);
}

}  // namespace iobench
