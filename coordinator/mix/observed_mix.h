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

  // Returns the whole observation, and the parts that replay it, at rates whose requests come closest to it
  // (replay_rates.h); each request says at which rate it is replayed, and why not at its own. Operations below 0.1 % of
  // all have no part, because each part needs a worker. There are no parts if there were no requests.
  v1::MixGroup Group(const ObservedMount& mount) const;

 private:
  struct Sums {
    uint64_t ops = 0;
    uint64_t rtt_ms = 0, execute_ms = 0;
  };
  struct Interval {
    double at_s, seconds;
    std::map<std::string, uint64_t> ops;
    uint64_t read_bytes, write_bytes;
    uint64_t OpsOf(std::string_view request_class) const;
    uint64_t BytesOf(std::string_view request_class) const;  // 0: no data
  };
  // Of the requests of a class: this share has this size.
  struct SizedShare {
    double share;
    double mean_bytes;
  };

  // Mean bytes of the requests of a class (replay_rates.h); 0: they have no data.
  uint64_t MeanBytesOf(std::string_view request_class) const;
  // The sizes of the requests of a class: one, the mean of all; or two, if the means of the intervals are of two kinds.
  std::vector<SizedShare> SizesOf(std::string_view request_class) const;
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
