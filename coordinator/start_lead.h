// How far ahead the common start must lie so that every worker hears of it in time. Pure arithmetic.
#ifndef COORDINATOR_START_LEAD_H_
#define COORDINATOR_START_LEAD_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace iobench {

// max(10 ms, 4 * the longest round trip + 2 * the time of a round to everybody), doubled for each start that was late
// (docs/measurement.md, "Start"). The round is the median of the newest five, so that one hiccup costs nothing later.
class StartLead {
 public:
  static constexpr int64_t kShortestNs = 10'000'000;

  // How long it took until everybody had answered a short request.
  void NoteRound(int64_t round_ns) { rounds_ns_[round_count_++ % rounds_ns_.size()] = round_ns; }
  // A start was too late: the next ones get twice the time, for good.
  void NoteLate() { factor_ *= 2; }

  int64_t Ns(int64_t longest_round_trip_ns) const {
    return factor_ * std::max(kShortestNs, 4 * longest_round_trip_ns + 2 * MedianRoundNs());
  }

 private:
  int64_t MedianRoundNs() const {
    const size_t count = std::min(round_count_, rounds_ns_.size());
    if (count == 0) return 0;
    std::array<int64_t, 5> sorted = rounds_ns_;
    std::sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(count));
    return sorted[count / 2];
  }

  int64_t factor_ = 1;
  std::array<int64_t, 5> rounds_ns_{};
  size_t round_count_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_START_LEAD_H_
