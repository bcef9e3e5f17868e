// Computes how long a rank may sleep between two polls, because MPI cannot wake it. No I/O.
#ifndef COMMON_TRANSPORT_MPI_MPI_NAP_H_
#define COMMON_TRANSPORT_MPI_MPI_NAP_H_

#include <algorithm>
#include <cstdint>

namespace iobench {

// Decides from recent activity; it neither sleeps nor reads a clock. A poll costs 5 to 10 us. Right after a message,
// another is likely, and naps delay every round of requests, so naps are short then. A rank that waits for minutes, or
// whose lanes are running, should use almost no CPU time.
class MpiNap {
 public:
  // While bytes are under way: transfers advance only while a rank polls.
  static constexpr int64_t kTransferNs = 50'000;
  // Just after a message.
  static constexpr int64_t kShortNs = 200'000;
  // The longest nap without running lanes: 500 polls per second, 0.5 % of a core.
  static constexpr int64_t kIdleNs = 2'000'000;
  // While lanes run, whose CPU time matters more than prompt answers: 0.3 to 0.4 % of a core was measured.
  static constexpr int64_t kLanesNs = 10'000'000;
  // How long naps stay short after the latest message.
  static constexpr int64_t kStayShortNs = 5'000'000;

  // Scales naps so that polling does not use up the processors of a crowded host: 32 ranks on 2 processors nap four
  // times as long.
  MpiNap(int ranks_on_this_host, int processors)
      : crowding_(std::max(1, ranks_on_this_host / (4 * std::max(1, processors)))) {}

  // Call it for each letter sent or received. `now_ns` is CLOCK_MONOTONIC, as in NapNs.
  void OnMessage(int64_t now_ns) { newest_message_ns_ = now_ns; }
  void SetLanesRunning(bool running) { lanes_running_ = running; }

  // Returns how long to sleep before the next poll, in ns. `transfers_under_way`: a letter is partly sent or received.
  int64_t NapNs(int64_t now_ns, bool transfers_under_way) const {
    if (transfers_under_way) return kTransferNs * crowding_;
    const int64_t silence_ns = now_ns - newest_message_ns_;
    if (silence_ns < kStayShortNs) return kShortNs * crowding_;
    if (lanes_running_) return kLanesNs;
    // A tenth of the silence so far, so that a late message is delayed by at most another tenth.
    return std::clamp(silence_ns / 10, std::min(kShortNs * crowding_, kIdleNs), kIdleNs);
  }

 private:
  const int64_t crowding_;
  int64_t newest_message_ns_ = 0;
  bool lanes_running_ = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_MPI_NAP_H_
