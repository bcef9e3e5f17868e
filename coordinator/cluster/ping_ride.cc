#include "coordinator/cluster/ping_ride.h"

namespace iobench {

PingRide::PingRide(ClockSync& clocks, const Cluster& cluster, const std::function<bool(const Member&)>& fits)
    : clocks_(clocks), cluster_(cluster) {
  if (!clocks.pings_ride()) return;
  rides_.resize(cluster.members().size());
  sent_.resize(cluster.members().size());
  for (const uint32_t worker : clocks.OneOfEachClock(fits)) rides_[worker] = true;
}

bool PingRide::Takes(uint32_t worker) {
  if (rides_.empty() || !rides_[worker]) return false;
  sent_[worker] = cluster_.Now();
  return true;
}

void PingRide::Note(const Member& member, const v1::Pong& pong, CoordTime received_at) {
  if (rides_.empty() || !rides_[member.number]) return;
  rides_[member.number] = false;  // an answer in several parts has one pong
  clocks_.Note(member, sent_[member.number], pong, received_at);
}

}  // namespace iobench
