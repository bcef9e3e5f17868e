// The ping bursts of one clock over a phase: at most kMaxBursts, spread over its duration.
#ifndef COORDINATOR_CLUSTER_PING_LOG_H_
#define COORDINATOR_CLUSTER_PING_LOG_H_

#include <cstddef>
#include <vector>

#include "common/time.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// When the log is full, the burst whose neighbours are closest together is dropped, so that the others stay spread out.
// The first, the last and the two around each instant of KeepAround are never dropped. The limit keeps a record of
// thousands of clients small however long a phase is. Not thread-safe; all times are on the coordinator's clock.
class PingLog {
 public:
  static constexpr size_t kMaxBursts = 64;

  // REQUIRES: at least one sample, and later than all bursts added before.
  void Add(v1::PingBurst burst);
  // Keeps the bursts around an instant at which a figure needs the clock's offset.
  void KeepAround(CoordTime instant) { instants_.push_back(instant); }
  // Drops all but the newest burst, which remains a valid bound for the next phase, and forgets the kept instants.
  void StartPhase();

  // Ascending by time. Valid until the next change.
  const std::vector<v1::PingBurst>& bursts() const { return bursts_; }

 private:
  void Thin();

  std::vector<v1::PingBurst> bursts_;
  std::vector<CoordTime> instants_;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_PING_LOG_H_
