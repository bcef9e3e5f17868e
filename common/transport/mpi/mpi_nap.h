// Computes how long a rank may sleep between two polls of MPI, which cannot wake it. No I/O.
#ifndef COMMON_TRANSPORT_MPI_MPI_NAP_H_
#define COMMON_TRANSPORT_MPI_MPI_NAP_H_

#include <algorithm>
#include <cstdint>

namespace iobench {

// A poll costs 5 to 10 us. Right after a message another one is likely, and naps delay every round of requests, so naps
// are short then. A rank that waits for minutes, or whose lanes are running, should use almost no CPU time.
class MpiNap {
 public:
  static constexpr int64_t kTransferNs = 50'000;  // transfers advance only while a rank polls
  static constexpr int64_t kShortNs = 200'000;
  static constexpr int64_t kIdleNs = 2'000'000;  // 500 polls per second: 0.5 % of a core
  static constexpr int64_t kLanesNs = 10'000'000;
  static constexpr int64_t kStayShortNs = 5'000'000;  // how long naps stay short after the latest message

  // Scales naps so that polling does not use up the processors of a crowded host: 32 ranks on 2 processors nap four
  // times as long.
  MpiNap(int ranks_on_this_host, int processors)
      : crowding_(std::max(1, ranks_on_this_host / (4 * std::max(1, processors)))) {}

  void OnMessage(int64_t now_ns) { newest_message_ns_ = now_ns; }
  void SetLanesRunning(bool running) { lanes_running_ = running; }

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
