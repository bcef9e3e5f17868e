// Which engines tests can run in this build.
#ifndef TESTS_SUPPORT_RUNS_HERE_H_
#define TESTS_SUPPORT_RUNS_HERE_H_

#include "common/model/engine.h"

namespace iobench {

// glibc starts the threads of POSIX AIO from its own threads, which ThreadSanitizer's runtime does not know, so it
// crashes in them.
inline bool RunsHere([[maybe_unused]] const EngineSpec& engine) {
#if defined(IOBENCH_TSAN)
  return engine.name != "posix-aio";
#else
  return true;
#endif
}

}  // namespace iobench

#endif  // TESTS_SUPPORT_RUNS_HERE_H_
