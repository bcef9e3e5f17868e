// What a phase hands over when its timed regions have ended, and how its lanes settle then.
#include <algorithm>
#include <utility>

#include "common/status_util.h"
#include "worker/lane/phase_runner.h"
#include "worker/lane/phase_steps.h"

namespace iobench {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

// When the last lane ended its ops.
Ticks LastOpsEnd(std::span<const std::unique_ptr<Lane>> lanes) {
  Ticks last{0};
  for (const auto& lane : lanes) last = std::max(last, lane->ops_end());
  return last;
}

}  // namespace

absl::Status PhaseRunner::Collect(std::span<const WorkerTime> instants,
                                  std::optional<WorkerTime> settle_until,
                                  const std::function<void(v1::ResultChunk)>& give) {
  absl::Status cancelled = absl::CancelledError("disarmed before the results were collected");
  if (!WaitAllArrived(kRegionOver)) return cancelled;
  if (!std::exchange(measured_noted_, true)) RecordMeasured();
  const bool tail_follows = !settled_ && std::any_of(lanes_.begin(), lanes_.end(),
                                                     [](const auto& lane) { return lane->HasTail(); });
  if (tail_follows) {
    v1::ResultChunk measured;
    for (const auto& lane : lanes_) {
      const Lane::Unfinished unfinished = lane->WhatIsUnfinished();
      measured.set_unfinished_ops(measured.unfinished_ops() + unfinished.ops);
      measured.set_unfinished_bytes(measured.unfinished_bytes() + unfinished.bytes);
    }
    GiveLanes(instants, give, std::move(measured));
  }
  if (settle_until && clock_.Now() >= *settle_until) Quit();  // before anything is begun
  OpenMeeting(kRegionOver);
  if (!WaitForSettling(settle_until)) return cancelled;
  if (!std::exchange(settled_, true)) {
    if (std::optional<v1::StepResult> step = TraceStep(spec_, lanes_)) steps_.push_back(*std::move(step));
    if (std::optional<v1::StepResult> step = OpLogStep(spec_, lanes_)) steps_.push_back(*std::move(step));
  }
  v1::ResultChunk last;
  last.set_last(true);
  if (!tail_follows) {
    GiveLanes(instants, give, std::move(last));
    return absl::OkStatus();
  }
  for (const auto& lane : lanes_) *last.add_settled() = lane->Settled();
  AddTotals(last);
  give(std::move(last));
  return absl::OkStatus();
}

void PhaseRunner::RecordMeasured() {
  if (std::optional<v1::StepResult> step = PassesStep(spec_, lanes_)) steps_.push_back(*std::move(step));
  if (spec_.arrivals == nullptr) return;
  // The last op ends after the time limit; ops due in between are not begun, and do not count as missed.
  const double limit_s = spec_.stop.time_s();
  missed_arrivals_ =
      spec_.arrivals->MissedBefore(LastOpsEnd(lanes_), limit_s > 0 ? NanosFrom(limit_s) : INT64_MAX);
}

bool PhaseRunner::WaitForSettling(std::optional<WorkerTime> until) {
  if (until) {
    MutexLock lock(mutex_);
    const bool settled = lane_moved_on_.WaitUntil(
        mutex_, until->ns - clock_.offset_ns(), [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return cancelled_ || arrived_[kSettled] == lanes_.size();
        });
    if (!settled) StopLanes(UnfinishedFiles::kLeft);
  }
  return WaitAllArrived(kSettled);
}

void PhaseRunner::AddTotals(v1::ResultChunk& chunk) const {
  chunk.set_measured(true);
  chunk.mutable_steps()->Assign(steps_.begin(), steps_.end());
  *chunk.mutable_host() = host_;
  chunk.set_missed_arrivals(missed_arrivals_);
  if (buffers_.bytes() > 0) *chunk.mutable_buffers() = buffers_;
  for (const auto& lane : lanes_) {
    if (chunk.has_mpi_io()) break;
    if (const std::optional<v1::MpiIoFacts> facts = lane->mpi_io_facts()) *chunk.mutable_mpi_io() = *facts;
  }
  chunk.set_process_cpu_user_s(process_cpu_user_s_);
  chunk.set_process_cpu_system_s(process_cpu_system_s_);
}

// `end` becomes the chunk that completes the lanes' results.
void PhaseRunner::GiveLanes(std::span<const WorkerTime> instants,
                            const std::function<void(v1::ResultChunk)>& give, v1::ResultChunk end) {
  v1::ResultChunk chunk;
  size_t chunk_bytes = 0;
  for (const auto& lane : lanes_) {
    v1::LaneResult& result = *chunk.add_lanes();
    result = lane->ResultOn(*scale_, instants);
    chunk_bytes += result.ByteSizeLong();
    if (chunk_bytes < kChunkBytes) continue;
    give(std::exchange(chunk, {}));
    chunk_bytes = 0;
  }
  *end.mutable_lanes() = std::move(*chunk.mutable_lanes());
  AddTotals(end);
  give(std::move(end));
}

bool PhaseRunner::HasShortResults() {
  {
    MutexLock lock(mutex_);
    if (cancelled_ || regions_over_ < lanes_.size() || open_[kRegionOver]) return false;
  }
  // The lane that ended last may still be reading counters.
  return WaitAllArrived(kRegionOver) && HaveShortResults(lanes_);
}

}  // namespace iobench
