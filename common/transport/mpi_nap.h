// How long a rank may sleep between two looks at MPI, which has no way to wake it. Pure arithmetic.
#ifndef COMMON_TRANSPORT_MPI_NAP_H_
#define COMMON_TRANSPORT_MPI_NAP_H_

#include <algorithm>
#include <cstdint>

namespace iobench {

// A look costs 5 to 10 us. Right after a message the next one is likely, and a round of requests is as slow as its
// naps; a rank that waits for minutes, or beside running lanes, must cost next to nothing.
class MpiNap {
 public:
  static constexpr int64_t kTransferNs = 50'000;  // bytes are moving, and only move while somebody looks
  static constexpr int64_t kShortNs = 200'000;
  static constexpr int64_t kIdleNs = 2'000'000;  // 500 looks a second: half a percent of a core
  static constexpr int64_t kLanesNs = 10'000'000;
  static constexpr int64_t kStayShortNs = 5'000'000;  // after the newest message

  // Ranks that share few processors must not eat them up by looking: 32 ranks on 2 processors nap four times longer.
  MpiNap(int ranks_on_this_host, int processors)
      : crowding_(std::max(1, ranks_on_this_host / (4 * std::max(1, processors)))) {}

  void OnMessage(int64_t now_ns) { newest_message_ns_ = now_ns; }
  void SetLanesRunning(bool running) { lanes_running_ = running; }

  int64_t NapNs(int64_t now_ns, bool transfers_under_way) const {
    if (transfers_under_way) return kTransferNs * crowding_;
    const int64_t silence_ns = now_ns - newest_message_ns_;
    if (silence_ns < kStayShortNs) return kShortNs * crowding_;
    if (lanes_running_) return kLanesNs;
    // A tenth of the silence so far: what comes late anyway is not made much later.
    return std::clamp(silence_ns / 10, std::min(kShortNs * crowding_, kIdleNs), kIdleNs);
  }

 private:
  const int64_t crowding_;
  int64_t newest_message_ns_ = 0;
  bool lanes_running_ = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_NAP_H_
