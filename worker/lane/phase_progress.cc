// What a phase has done so far, and what its threads are doing, for polls while it lasts.
#include "common/clock.h"
#include "worker/client/thread_work.h"
#include "worker/lane/phase_runner.h"

namespace iobench {
namespace {

// Naming more hanging threads would not make a message more useful.
constexpr int kMaxNamedThreads = 8;

}  // namespace

v1::Progress PhaseRunner::Progress(const v1::Poll& poll) const {
  v1::Progress progress;
  LatencyBins latency;
  if (poll.closely()) AddThreadWork(progress);
  if (!prepared_.load(std::memory_order_acquire)) return progress;
  for (const auto& lane : lanes_) {
    const LiveCell* const live = lane->live();
    if (live == nullptr) continue;
    progress.set_bytes(progress.bytes() + live->bytes.load(std::memory_order_relaxed));
    progress.set_ops(progress.ops() + live->ops.load(std::memory_order_relaxed));
    if (poll.latency()) lane->AddLatenciesTo(latency);
    if (spec_.stop.time_s() == 0) {
      progress.set_total_bytes(progress.total_bytes() + lane->bytes_per_pass());
      progress.set_total_ops(progress.total_ops() + lane->ops_per_pass());
    }
  }
  if (poll.latency()) *progress.mutable_latency() = latency.ToProto();
  MutexLock lock(mutex_);
  if (start_) progress.set_lanes_running(static_cast<uint32_t>(lanes_.size() - ops_over_));
  return progress;
}

void PhaseRunner::AddThreadWork(v1::Progress& progress) const {
  // A rest is a wait that the plan asks for, so it counts as activity.
  if (resting_.load(std::memory_order_relaxed))
    progress.set_activity(static_cast<uint64_t>(MonotonicNowNs()));
  {
    MutexLock lock(mutex_);
    if (!lanes_made_) return;
  }
  const bool counts = prepared_.load(std::memory_order_acquire);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const pid_t thread = at_work_[i].thread.load(std::memory_order_relaxed);
    const char* const step = at_work_[i].step.load(std::memory_order_relaxed);
    if (thread == 0 || step == nullptr) continue;
    const ThreadLook look = ReadThreadWork(thread);
    progress.set_activity(progress.activity() + look.activity);
    if (progress.work_size() == kMaxNamedThreads) continue;
    v1::ThreadWork& work = *progress.add_work();
    work.set_lane(static_cast<int32_t>(lanes_[i]->number()));
    work.set_step(step);
    work.set_call(look.call);
    work.set_file(look.file.empty() ? lanes_[i]->FirstFile() : look.file);
    if (look.offset) work.set_offset(*look.offset);
    const LiveCell* const live = counts ? lanes_[i]->live() : nullptr;
    if (live != nullptr) work.set_ops(live->ops.load(std::memory_order_relaxed));
  }
}

}  // namespace iobench
