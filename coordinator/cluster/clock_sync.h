// Tracks every worker's clock offset. Verifies at the start which workers share the coordinator's clock, and pings the
// others around and during each phase, one worker per client.
#ifndef COORDINATOR_CLUSTER_CLOCK_SYNC_H_
#define COORDINATOR_CLUSTER_CLOCK_SYNC_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/clock_map.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/ping_log.h"

namespace iobench {

// One object per run. Only the cluster's thread may use it; it sends its pings with Cluster::Call. Call Verify first,
// then StartPhase, Burst … Burst for each phase. A ping is an exchange of one message each way, which bounds the
// difference of the two clocks however asymmetric the path is (common/clock_map.h has the formula).
class ClockSync {
 public:
  // The workers whose clocks are measured: those that do not share the coordinator's, or (for tests) all.
  enum class Measured { kOtherClocks, kAllClocks };

  // With more clocks than this, there is one ping for each.
  static constexpr size_t kMaxBurstClocks = 1000;

  // `own_boot_id`: the coordinator's. All times are on the cluster's clock. `cluster` must outlive it.
  // `max_burst_clocks`: another value is for tests.
  ClockSync(Cluster& cluster, std::string own_boot_id, Measured measured,
            size_t max_burst_clocks = kMaxBurstClocks)
      : cluster_(cluster),
        own_boot_id_(std::move(own_boot_id)),
        measured_(measured),
        max_burst_clocks_(max_burst_clocks) {}

  // Sends four pings to each worker (fewer with more than 500, but at least one) and determines which workers share a
  // clock: those with equal boot ids, unless the pings contradict that. In that case they run on cloned machines, which
  // the cluster then distinguishes. Also measures how long a round of messages to all workers takes. Call it once,
  // after Gather and before using the members' clients. Errors, here and in Burst: those of Cluster::Call, for which a
  // lost worker is no error.
  absl::Status Verify();
  // Notes for the user, one for each client that is a clone.
  const std::vector<std::string>& notes() const { return notes_; }

  // Sends one ping burst to one worker of each clock other than the coordinator's: 16 pings, or fewer (at least one)
  // with more than 125 clocks, 2,000 in all. A burst in which the clock was stepped is repeated up to twice and then
  // left out. Call it before and after a phase. If pings ride, clocks with a ping in the last 10 s are left out.
  absl::Status Burst();
  // True with more than `max_burst_clocks` clocks: a burst then has only one ping for each, so a request that is sent to
  // all workers in any case does as well (PingRide).
  bool pings_ride() const;
  // How many requests with such pings are in flight at a time. They follow each other without a gap; with half of
  // kAtATime, a ping waits behind as many others as in a burst.
  static constexpr uint32_t kRidingAtATime = 16;
  // Adds the pong that answered a request of another kind, as a burst of one ping. It is dropped if the worker shares
  // the coordinator's clock, or if it contradicts itself because the clock was stepped.
  void Note(const Member& member, CoordTime sent, const v1::Pong& pong, CoordTime returned);
  // Keeps the bursts around this instant, because a figure of the phase needs the offsets then.
  void KeepAround(CoordTime instant);
  // Starts a phase: drops all bursts but the newest.
  void StartPhase();

  // Returns what was impossible about a ping of this worker, such as that it answered before it was asked, or spent
  // longer on the answer than the whole exchange took. Such pings bound nothing and are left out. Empty: none.
  const std::string& ImpossiblePing(uint32_t worker) const { return impossible_[worker]; }

  // Returns the interval at which clocks must be polled during a phase: between two polls, ClockMap's error grows by
  // kMaxDriftPpm of half the interval. It is 1 s, or 1 ms per clock with more than 1,000 of them, but at most 10 s.
  // 0: all workers share the coordinator's clock.
  int64_t poll_interval_ns() const;
  // Returns, for each clock other than the coordinator's, the first live worker for which `fits` is true.
  std::vector<uint32_t> OneOfEachClock(const std::function<bool(const Member&)>& fits) const;

  // Returns this worker's bursts since StartPhase; empty if it shares the coordinator's clock.
  const std::vector<v1::PingBurst>& BurstsOf(uint32_t worker) const {
    return logs_[clock_of_[worker]].bursts();
  }
  // Returns a map from the bursts so far, or only from the newest if they contradict each other. Without any burst it
  // is the identity: the worker shares the coordinator's clock or is lost.
  ClockMap MapOf(uint32_t worker) const;

  // The max., over all workers and bursts so far, of a burst's best round trip, without the worker's own time. At most
  // kLongestRoundTripNs, so that a worker that answers slowly on purpose delays the others' start only to a limited
  // extent.
  static constexpr int64_t kLongestRoundTripNs = kNanosPerSecond;
  int64_t longest_round_trip_ns() const { return longest_round_trip_ns_; }
  // The time that a message to all workers and back took in Verify.
  int64_t round_ns() const { return round_ns_; }

 private:
  struct Pings {
    v1::PingBurst burst;
    int64_t best_round_trip_ns = INT64_MAX;
  };
  // Returns whether the exchange is possible; otherwise notes why not.
  bool IsPossible(uint32_t worker, const v1::PingSample& sample);
  void AddRoundTrip(int64_t round_trip_ns);
  // Sends `count` pings to each of `workers`, at most 32 workers at a time, so that pings do not queue behind each
  // other.
  absl::Status PingAll(const std::vector<uint32_t>& workers, int count, std::vector<Pings>& pings);
  bool HasNewPings(uint32_t worker) const;
  size_t measured_clock_count() const { return logs_.empty() ? 0 : logs_.size() - 1; }

  Cluster& cluster_;
  const std::string own_boot_id_;
  const Measured measured_;
  const size_t max_burst_clocks_;
  std::vector<uint32_t> clock_of_;       // worker number -> clock; clock 0 is the coordinator's
  std::vector<PingLog> logs_;            // by clock; [0] stays empty
  std::vector<std::string> impossible_;  // by worker number
  std::vector<std::string> notes_;
  int64_t longest_round_trip_ns_ = 0;
  int64_t round_ns_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_CLOCK_SYNC_H_
