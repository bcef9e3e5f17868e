#include "coordinator/analysis/phase/open_loop_figures.h"

#include <algorithm>
#include <limits>
#include <set>

#include "common/histogram.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

struct Asked {
  double lanes = 0;      // that share the rates
  double gap_per_s = 0;  // sum of the rates: at the lower end of a ramp, and within bursts
};

double GapPerS(const v1::Arrivals& arrivals) {
  if (arrivals.burst_s() > 0) return arrivals.ops_per_s() * arrivals.burst_every_s() / arrivals.burst_s();
  return arrivals.end_ops_per_s() > 0 ? std::min(arrivals.ops_per_s(), arrivals.end_ops_per_s())
                                      : arrivals.ops_per_s();
}

// False for a worker that was lost before the phase. Records of versions without lost_in_phase show only by what became
// known of a worker's ops that it was lost later. For records of versions without rate_share_count.
bool HadShareOfRate(const v1::WorkerPhaseResult& worker) {
  return !worker.lost() || worker.lost_in_phase() || worker.lanes_size() > 0 || worker.done_coord_ns() != 0 ||
         worker.last_known_bytes() > 0;
}

// The same as CountedShare, for such records. They do not say whether a worker refused the phase, so its share counts.
double CountedShareOfOldRecord(const PhaseView& view, const v1::Assignment* assignment) {
  double shares = 0, counted = 0;
  for (const AlignedWorker& worker : view.aligned.workers) {
    if (view.assignments.Of(worker.number) != assignment || !HadShareOfRate(*worker.result)) continue;
    ++shares;
    if (worker.missing_reason.empty()) ++counted;
  }
  return counted / shares;
}

// The part of an assignment's rate that was asked of workers that count. Each worker that was there when the rate was
// divided had the same share, even if it refused the phase afterwards. REQUIRES: at least one counts.
double CountedShare(const PhaseView& view, const v1::Assignment* assignment) {
  double shares = 0, counted = 0;
  for (const AlignedWorker& worker : view.aligned.workers) {
    const uint32_t share_count = worker.result->rate_share_count();
    if (view.assignments.Of(worker.number) != assignment || share_count == 0) continue;
    shares = share_count;
    if (worker.missing_reason.empty()) ++counted;
  }
  return shares > 0 ? counted / shares : CountedShareOfOldRecord(view, assignment);
}

// Adds what the plan asks of all lanes that count (or of those of one assignment).
Asked AddAsked(const PhaseView& view, const v1::Assignment* only, v1::OpenLoopReport& open_loop) {
  std::set<const v1::Assignment*> added;
  Asked asked;
  for (const AlignedLane& lane : view.aligned.lanes) {
    const v1::Assignment* const assignment = view.assignments.Of(lane.worker);
    if (assignment == nullptr || !assignment->operation().has_arrivals()) continue;
    if (only != nullptr && assignment != only) continue;
    const v1::Arrivals& arrivals = assignment->operation().arrivals();
    ++asked.lanes;
    if (!arrivals.per_lane() && !added.insert(assignment).second) continue;
    const double share = arrivals.per_lane() ? 1 : CountedShare(view, assignment);
    const bool is_ramp = arrivals.end_ops_per_s() > 0;
    open_loop.set_asked_ops_per_s(open_loop.asked_ops_per_s() + share * arrivals.ops_per_s());
    open_loop.set_asked_end_ops_per_s(open_loop.asked_end_ops_per_s() +
                                      (is_ramp ? share * arrivals.end_ops_per_s() : 0));
    open_loop.set_even(arrivals.even());
    asked.gap_per_s += share * GapPerS(arrivals);
  }
  return asked;
}

// Ops of the lane that failed after its warm-up.
uint64_t MeasuredErrors(const v1::LaneResult& lane) {
  uint64_t errors = 0;
  for (const v1::ErrorCount& failed : lane.errors()) errors += failed.count();
  // A saved file may hold anything.
  return errors - std::min(errors, lane.warmup_errors());
}

}  // namespace

std::optional<v1::OpenLoopReport> OpenLoopOf(const PhaseView& view, const v1::Assignment* only) {
  v1::OpenLoopReport open_loop;
  const Asked asked = AddAsked(view, only, open_loop);
  if (asked.lanes == 0) return std::nullopt;
  Histogram response, service, lag;
  uint64_t missed = 0;
  for (const AlignedWorker& worker : view.aligned.workers) {
    if (only != nullptr && view.assignments.Of(worker.number) != only) continue;
    // The rates do not include such a worker either.
    if (!worker.missing_reason.empty()) continue;
    missed += worker.result->missed_arrivals();
    for (const v1::LaneResult& lane : worker.result->lanes()) {
      if (!lane.has_service() && !lane.has_response()) continue;
      if (!AddLatencies(lane, response).ok()) continue;
      AddServiceTimes(lane, service).IgnoreError();  // FillClientTables names damaged ones
      lag.AddProto(lane.lag()).IgnoreError();
      missed += MeasuredErrors(lane);
    }
  }
  open_loop.set_due_ops(response.count() + missed);
  open_loop.set_missed_ops(missed);
  open_loop.set_done_percent(open_loop.due_ops() == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                      : 100.0 * static_cast<double>(response.count()) /
                                                            static_cast<double>(open_loop.due_ops()));
  *open_loop.mutable_response_us() = LatencyOf(response);
  *open_loop.mutable_lag_us() = LatencyOf(lag);
  *open_loop.mutable_service_us() = LatencyOf(service);
  open_loop.set_gap_us(1e6 * asked.lanes / asked.gap_per_s);
  return open_loop;
}

void FillOpenLoop(const PhaseView& view, v1::PhaseReport& report) {
  if (std::optional<v1::OpenLoopReport> open_loop = OpenLoopOf(view, nullptr); open_loop.has_value()) {
    *report.mutable_open_loop() = *std::move(open_loop);
  }
}

}  // namespace iobench
