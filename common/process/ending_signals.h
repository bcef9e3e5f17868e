// The signals that end a run, and when a second one counts.
#ifndef COMMON_PROCESS_ENDING_SIGNALS_H_
#define COMMON_PROCESS_ENDING_SIGNALS_H_

#include <signal.h>

#include <array>
#include <cstdint>

namespace iobench {

inline constexpr std::array<int, 3> kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

// The first signal requests an orderly end, the second ends the program at once. timeout(1) signals its child and then
// their process group, so that one request arrives twice: a signal within this time after the first is the same request.
inline constexpr int64_t kSameRequestNs = 100'000'000;

}  // namespace iobench

#endif  // COMMON_PROCESS_ENDING_SIGNALS_H_
