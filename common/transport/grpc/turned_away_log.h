// Sums up the connections that a coordinator turned away, so that a stranger cannot flood its output.
#ifndef COMMON_TRANSPORT_GRPC_TURNED_AWAY_LOG_H_
#define COMMON_TRANSPORT_GRPC_TURNED_AWAY_LOG_H_

#include <cstdint>
#include <functional>
#include <string>

#include "common/mutex.h"
#include "common/text/repeated_lines.h"

namespace iobench {

// Usable from any thread. In each period of 10 s, it passes on at most 8 lines, and only one for the same host and
// reason. Further ones are counted and reported at the end of the period. Only Tick passes lines on, because output may
// block, and the threads that call Add serve all workers.
class TurnedAwayLog {
 public:
  using Tell = std::function<void(const std::string& line)>;
  // `tell` may be null. It is called by Tick, without a lock held.
  explicit TurnedAwayLog(Tell tell);

  // `peer`: "10.0.0.7:4242" or "unix socket". `reason` completes "10.0.0.7:4242 was turned away: …".
  void Add(const std::string& peer, const std::string& reason, int64_t now_ns);
  // Passes on the lines, and what was left out when its period is over. Call it at least about once a second.
  void Tick(int64_t now_ns);

 private:
  const Tell tell_;
  Mutex mutex_;
  RepeatedLines lines_ ABSL_GUARDED_BY(mutex_);  // by host and reason
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_TURNED_AWAY_LOG_H_
