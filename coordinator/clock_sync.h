// Keeps every worker's clock known: verifies at the start who shares the coordinator's clock, pings the others around
// and during each phase, one worker a client.
#ifndef COORDINATOR_CLOCK_SYNC_H_
#define COORDINATOR_CLOCK_SYNC_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/clock_map.h"
#include "coordinator/cluster.h"
#include "coordinator/ping_log.h"

namespace iobench {

class ClockSync {
 public:
  // `own_boot_id`: the coordinator's. `always_measure`: ping even workers that share the clock (tests).
  ClockSync(Cluster& cluster, std::string own_boot_id, bool always_measure)
      : cluster_(cluster), own_boot_id_(std::move(own_boot_id)), always_measure_(always_measure) {}

  // Four pings to each worker. Decides who shares a clock: equal boot ids, unless the pings contradict it. Those that
  // they do contradict run on cloned machines, which the cluster then tells apart. Also measures how long a round of
  // messages to everybody takes. Once, after Gather and before anything is made of the members' clients.
  absl::Status Verify();
  // For people, one for each client that is a clone.
  const std::vector<std::string>& notes() const { return notes_; }

  // One burst to one worker of each clock that is not the coordinator's. Before and after a phase.
  absl::Status Burst();
  // A pong that came with a poll. Ignored where it adds nothing.
  void Note(const Member& member, const v1::PingSample& sample);
  // A figure of this phase needs the offsets at this instant.
  void KeepAround(CoordTime instant);
  // Forgets the bursts but the newest: a phase begins.
  void StartPhase();

  // How often clocks must be asked in a phase: half the time apart, ClockMap's error grows by kMaxDriftPpm of it. 0:
  // all share the coordinator's.
  int64_t poll_interval_ns() const;
  // Of each clock that is not the coordinator's the first live worker that fits.
  std::vector<uint32_t> OneOfEachClock(const std::function<bool(const Member&)>& fits) const;

  // Of this worker since StartPhase; empty: shares the coordinator's clock.
  const std::vector<v1::PingBurst>& BurstsOf(uint32_t worker) const {
    return logs_[clock_of_[worker]].bursts();
  }
  // From the bursts so far; where they contradict each other, from the newest alone.
  ClockMap MapOf(uint32_t worker) const;

  int64_t longest_round_trip_ns() const {
    return longest_round_trip_ns_;
  }                                               // each worker's best, the worst of those
  int64_t round_ns() const { return round_ns_; }  // a message to all and back, at the start

 private:
  struct Pings {
    v1::PingBurst burst;
    int64_t best_round_trip_ns = INT64_MAX;
  };
  // `count` pings to each of `workers`, at most 32 at a time, so that they do not queue behind each other.
  absl::Status PingAll(const std::vector<uint32_t>& workers, int count, std::vector<Pings>& pings);
  size_t measured_clock_count() const { return logs_.empty() ? 0 : logs_.size() - 1; }

  Cluster& cluster_;
  const std::string own_boot_id_;
  const bool always_measure_;
  std::vector<uint32_t> clock_of_;  // worker number -> clock; clock 0 is the coordinator's
  std::vector<PingLog> logs_;       // per clock; [0] stays empty
  std::vector<std::string> notes_;
  int64_t longest_round_trip_ns_ = 0;
  int64_t round_ns_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_CLOCK_SYNC_H_
