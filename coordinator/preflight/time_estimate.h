// Estimates how long a run will take, from its plan alone. Pure.
#ifndef COORDINATOR_PREFLIGHT_TIME_ESTIMATE_H_
#define COORDINATOR_PREFLIGHT_TIME_ESTIMATE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "coordinator/preflight/untimed_work.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Over all repetitions. No figure but `untimed` includes what is done outside the timed parts of phases.
struct TimeEstimate {
  double timed_s = 0;  // of the phases that last for a given time, and of rests between phases
  uint64_t timed_phases = 0;
  // A mix of both kinds counts as one of each.
  uint64_t sized_phases = 0;  // that move a given number of bytes, however long it takes …
  uint64_t bytes = 0;         // … and what they move in all
  uint64_t item_phases = 0;   // that work on a given number of items …
  uint64_t items = 0;         // … in all …
  std::set<std::string_view> item_words;  // … which are called so (ItemsWordOf)
  double at_most_s = 0;       // of the sized and item phases, if each of them has a deadline; 0: one has none
  UntimedWork untimed;
};

// `has_data`: the run uses data that an earlier one has kept.
TimeEstimate EstimateTime(const v1::Plan& plan, uint32_t worker_count, bool has_data = false);

// Returns what a lane with this operation moves in a phase without a time limit.
uint64_t BytesOfLane(const v1::Plan& plan, const v1::Phase& phase, const v1::Operation& operation);

// What the parts of a phase do once, for a dry run: "2 parts, for 10 s" or "2 parts, 160 KiB and 2,000 items in all".
std::string PartsText(const v1::Plan& plan, const v1::Phase& phase, uint32_t worker_count);

// The rate of all clients together that the text assumes for phases by size.
inline constexpr double kAssumedBytesPerSecond = 1 << 30;

// Lines of a dry run: "time   2 min 05 s in phases with a time limit\n       12 GiB …". Each ends with a newline.
// `max_duration_s`: --max-duration; 0: none.
std::string EstimateText(const TimeEstimate& estimate, double max_duration_s);

// The same for a soak: how long a round takes, and how many there are at most.
std::string SoakEstimateText(const v1::Plan& plan, uint32_t worker_count);

// Shortens a phase to what is left of --max-duration: its time limit, if it has one, or else its deadline is at most
// `left_s`. Returns nullopt if that is too little to begin it: under 0.1 s, not more than its warm-up, or less than a
// period of its bursts, without which its rate would not be the planned one.
struct FittedPhase {
  v1::Phase phase;
  bool shortened = false;
};
std::optional<FittedPhase> FitInto(const v1::Phase& phase, double left_s);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_TIME_ESTIMATE_H_
