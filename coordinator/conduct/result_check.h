// Decides whether a worker's result of a phase can be true. A worker may be broken or hostile: figures that cannot be
// right must not enter any total.
#ifndef COORDINATOR_CONDUCT_RESULT_CHECK_H_
#define COORDINATOR_CONDUCT_RESULT_CHECK_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "common/time.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What the coordinator knows without the worker: what it asked for, and when, by its own clock.
struct ResultFrame {
  const v1::Operation& operation;       // that the worker was to run
  uint64_t bytes_per_lane = 0;          // size of a lane's files in this phase
  std::span<const v1::LanePlan> lanes;  // that the worker was given
  CoordTime start;                      // T
  CoordTime collected;                  // when its last chunk arrived
};

// Returns OK, or DataLoss with what is impossible, in words for the user: "lane 3 ended before it began". Pure.
//
// Checked are: each lane of the frame is there once, and no other; names have a plausible length; bytes and ops do not
// exceed what the lane's time and the largest op allow, and sums over the lanes do not wrap; parts do not exceed their
// whole (timed region, kinds of ops, errors in the warm-up, verification); a histogram counts as many ops as its kind
// has, and its sums agree with its extremes; times are in order and, mapped by the worker's pings, between T and the
// arrival of the result; timelines and slices ascend and end at the totals; durations are finite and not negative.
// Times are not compared with the phase's if the pings contradict each other, since mark clock_step then says that they
// cannot be mapped.
absl::Status CheckResult(const v1::WorkerPhaseResult& result, const ResultFrame& frame);

// Returns an upper bound of the size of an operation's ops. 0: it moves no data.
uint64_t LargestOpBytes(const v1::Operation& operation, uint64_t bytes_per_lane);

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_RESULT_CHECK_H_
