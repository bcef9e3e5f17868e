// Computes how far ahead the common start must be so that every worker learns of it in time. Pure arithmetic.
#ifndef COORDINATOR_CLUSTER_START_LEAD_H_
#define COORDINATOR_CLUSTER_START_LEAD_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace iobench {

// Over a network: max(10 ms, 4 * longest round trip + 2 * time of a round to all workers), doubled after each late
// start (docs/definitions.md, "Start"). The round time is the median of the latest five, so that a single delay has no
// lasting effect.
//
// For workers in this process: the time to wake their lanes, plus 2 rounds or 0.1 ms. A late start doubles this, up to
// 10 ms; each punctual one reduces it by 2 %. Phases in this process may last less than a millisecond, and of thousands
// some meet a busy processor.
//
// One object serves all phases of a run, so that later ones profit from what earlier ones needed. Not thread-safe.
class StartLead {
 public:
  // How messages reach the workers: over a transport, or not at all because they are in this process.
  enum class Way { kNetwork, kNone };
  static constexpr int64_t kShortestNs = 10'000'000;
  static constexpr int64_t kLongestNs = 10'000'000'000;  // whatever a worker answers, and however late
  static constexpr int64_t kWakeNs = 250'000;        // time for a lane to wake up and spin until its start
  static constexpr int64_t kWakePerLaneNs = 30'000;  // lanes of one process wake one after the other
  static constexpr int64_t kMinSlackNs = 100'000;
  static constexpr int64_t kNetworkMarginNs = 500'000;

  // `lane_count`: lanes per worker.
  StartLead(Way way, uint32_t lane_count)
      : way_(way),
        wake_ns_(way == Way::kNone ? std::min(kWakeNs + int64_t{lane_count} * kWakePerLaneNs, kShortestNs)
                                   : kNetworkMarginNs) {
    rounds_ns_.fill(std::numeric_limits<int64_t>::max());
  }

  // Notes the time until all workers had answered a short request.
  void AddRound(int64_t round_ns) { rounds_ns_[round_count_++ % rounds_ns_.size()] = round_ns; }
  // Record whether the last start was late: a worker learned of it with less than MarginNeededNs() to go. Call one of
  // them after each attempt to start, except a last one that starts although it is late.
  void RecordLate() { factor_ *= 2; }
  void RecordPunctual() {
    if (way_ == Way::kNone) factor_ = std::max(1.0, factor_ * 0.98);
  }

  // Returns how far in the future T must be, in ns. `longest_round_trip_ns`: ClockSync's; not used within a process.
  int64_t Ns(int64_t longest_round_trip_ns) const {
    const double rounds_ns = 2.0 * static_cast<double>(MedianRoundNs());
    const double trips_ns = 4.0 * static_cast<double>(longest_round_trip_ns);
    if (way_ == Way::kNetwork) {
      return static_cast<int64_t>(
          std::min<double>(kLongestNs, factor_ * std::max<double>(kShortestNs, trips_ns + rounds_ns)));
    }
    const double shortest_ns = static_cast<double>(wake_ns_) + std::max<double>(kMinSlackNs, rounds_ns);
    return static_cast<int64_t>(std::min(factor_ * shortest_ns, std::max<double>(kShortestNs, shortest_ns)));
  }

  // The min. time that must remain when a worker learns of the start; with less, its answer is "late".
  int64_t MarginNeededNs() const { return wake_ns_; }

 private:
  int64_t MedianRoundNs() const {
    const size_t count = std::min(round_count_, rounds_ns_.size());
    if (count == 0) return 0;
    std::array<int64_t, 5> sorted = rounds_ns_;
    std::sort(sorted.begin(), sorted.end());  // those that were not noted come last
    return sorted[count / 2];
  }

  const Way way_;
  const int64_t wake_ns_;
  double factor_ = 1;
  std::array<int64_t, 5> rounds_ns_;  // the greatest value: not noted yet
  size_t round_count_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_START_LEAD_H_
