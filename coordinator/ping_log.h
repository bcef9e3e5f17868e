// What is kept of the pings of one clock over a phase: at most kMostBursts, spread over it.
#ifndef COORDINATOR_PING_LOG_H_
#define COORDINATOR_PING_LOG_H_

#include <cstddef>
#include <vector>

#include "common/time.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// When it is full, the burst is dropped whose neighbours are nearest to each other: so the rest stays spread. Never
// dropped are the first, the last, and the two around each instant of KeepAround.
class PingLog {
 public:
  static constexpr size_t kMostBursts = 64;

  // Later than all that were added before.
  void Add(v1::PingBurst burst);
  // A figure needs the clock's offset at this instant.
  void KeepAround(CoordTime instant) { instants_.push_back(instant); }
  // Forgets all but the newest burst, which is a sound bound for the next phase too.
  void StartPhase();

  const std::vector<v1::PingBurst>& bursts() const { return bursts_; }

 private:
  void Thin();

  std::vector<v1::PingBurst> bursts_;
  std::vector<CoordTime> instants_;
};

}  // namespace iobench

#endif  // COORDINATOR_PING_LOG_H_
