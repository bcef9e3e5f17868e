// What an NFS client asked of its server, as a mix that can be replayed. Pure: turns differences of counters into
// messages.
#ifndef COORDINATOR_MIX_OBSERVED_MIX_H_
#define COORDINATOR_MIX_OBSERVED_MIX_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/mix.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The mount whose counters are read; for the mix file.
struct ObservedMount {
  std::string client = {};
  std::string mount_point = {};
  std::string source = {};
  std::string filesystem = {};
  std::string started_at = {};  // ISO 8601
};

// Collects the intervals between readings of one mount's counters. Rates are means over the intervals that count.
class ObservedLoad {
 public:
  // `at_s`: the interval's start, since the first reading. REQUIRES: seconds > 0.
  void Add(double at_s, double seconds, const v1::NfsDelta& delta);
  // Notes an interval in which the mount was missing or replaced, so that its counters say nothing.
  void AddLost() { ++lost_intervals_; }

  size_t interval_count() const { return intervals_.size(); }
  uint32_t lost_intervals() const { return lost_intervals_; }

  // Returns the whole observation, and the parts that replay it: docs/observe.md says which request becomes which
  // operation. Requests below 0.1 % of those that are replayed have no part, because each part needs a worker. There
  // are no parts if there were no requests.
  v1::MixGroup Group(const ObservedMount& mount) const;

 private:
  struct Sums {
    uint64_t ops = 0;
    uint64_t rtt_ms = 0, execute_ms = 0;
  };
  struct Interval {
    double at_s, seconds;
    std::map<std::string, uint64_t> ops;
  };

  // Mean bytes of the requests that an operation stands for; 0: they have no data.
  uint64_t MeanBytesOf(std::string_view operation) const;
  // The median length of the intervals, the lower one of two. REQUIRES: there are intervals.
  double MedianSeconds() const;
  v1::Observation ObservationOf(const ObservedMount& mount) const;

  std::map<std::string, Sums> sums_;
  std::vector<Interval> intervals_;
  double seconds_ = 0;
  uint64_t read_bytes_ = 0, write_bytes_ = 0, retransmissions_ = 0;
  uint32_t lost_intervals_ = 0;
};

// Returns the mix of one client, with notes on what the counters cannot tell.
v1::Mix MixOfObservation(v1::MixGroup group);

// Joins mixes whose clients replay together: their groups one after the other, with names that differ. Notes that
// several mixes share appear once. InvalidArgument: the result would not be a mix, because some have percentages.
absl::StatusOr<v1::Mix> MergeMixes(std::span<const v1::Mix> mixes);

// Returns the text of a file that FindMix can read: a comment on how to replay it, and the mix.
std::string MixFileText(const v1::Mix& mix);

}  // namespace iobench

#endif  // COORDINATOR_MIX_OBSERVED_MIX_H_
