// Pings that ride on requests which are sent anyway.
#ifndef COORDINATOR_CLUSTER_PING_RIDE_H_
#define COORDINATOR_CLUSTER_PING_RIDE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "common/time.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// One round of requests, one for each worker, on the cluster's thread. With so many clocks that a burst has only one
// ping for each (ClockSync::pings_ride), the round takes the place of a burst: the request asks for a pong, and its
// answer bounds the clock as a ping's does, because the worker's own time between request and answer is not part of the
// bounds. With fewer clocks, nothing rides.
class PingRide {
 public:
  // One worker of each clock for which `fits` is true is pinged. Both must outlive it.
  PingRide(ClockSync& clocks, const Cluster& cluster, const std::function<bool(const Member&)>& fits);

  // Call it just before the request is sent. True: the request must ask for a pong.
  bool Takes(uint32_t worker);
  // Adds the pong of an answer to the clock's bursts; does nothing if none was asked for.
  void Note(const Member& member, const v1::Pong& pong, CoordTime received_at);
  // For Cluster::Patience: as many as in a burst, so that pings do not queue behind each other.
  uint32_t at_a_time() const { return sent_.empty() ? 0 : ClockSync::kRidingAtATime; }

 private:
  ClockSync& clocks_;
  const Cluster& cluster_;
  std::vector<bool> rides_;      // index = worker number; empty: no worker
  std::vector<CoordTime> sent_;  // the same
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_PING_RIDE_H_
