// A phase whose lanes run one after the other on the simulation's thread, instead of each on its own.
#ifndef WORKER_SIMULATED_SIMULATED_PHASE_H_
#define WORKER_SIMULATED_SIMULATED_PHASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/mutex.h"
#include "iobench/v1/control.pb.h"
#include "worker/lane/lane.h"
#include "worker/phase_control.h"
#include "worker/prepare/phase_spec.h"
#include "worker/simulated/simulation_loop.h"

namespace iobench {

// The lanes, their ops and results are those of a real worker. Only phases of the null engine that end by themselves
// can be simulated; others are refused with FailedPrecondition. The lanes of all workers of a process begin one after
// the other, so the skew of their starts says nothing about a cluster.
class SimulatedPhase final : public PhaseControl, public std::enable_shared_from_this<SimulatedPhase> {
 public:
  // `loop` must outlive it.
  SimulatedPhase(v1::Prepare prepare, const WorkerClock& clock, double loop_ns, EventTaker take_event,
                 SimulationLoop& loop);

  absl::StatusOr<v1::Prepared> Prepare() override;
  v1::Armed Arm(const v1::Arm& arm, WorkerTime now) override;
  void Stop() override { StopLanes(&Lane::Stop); }
  void Quit() override { StopLanes(&Lane::Quit); }
  void SetGoal(uint64_t) override {}  // no lane waits for one
  void Cancel() override;
  v1::Progress Progress(const v1::Poll& poll) const override;
  void RecordStart() override { before_ = loop_.LatestCounters(); }
  absl::Status Collect(std::span<const WorkerTime> instants, std::optional<WorkerTime> settle_until,
                       const std::function<void(v1::ResultChunk)>& give) override;
  bool HasShortResults() override;
  bool WaitForLanes(int64_t) override { return true; }  // they never hang
  void CloseDirectories() override {}

 private:
  enum class State { kNew, kPrepared, kRan, kCancelled };

  void StopLanes(void (Lane::*stop)());
  // Runs on the loop's thread at the start, or earlier if the results of stopped lanes are asked for.
  void RunLanes(WorkerTime start);
  bool Enter(State from, State to);

  const v1::Prepare prepare_;
  const WorkerClock clock_;
  const double loop_ns_;
  const EventTaker take_event_;
  SimulationLoop& loop_;

  // Used by the loop's thread; others may read the lanes in kPrepared and kRan.
  PhaseSpec spec_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<v1::StepResult> steps_;
  SimulationLoop::Counters before_;
  TickPair early_pair_;
  std::optional<TickScale> scale_;
  v1::HostDelta host_;

  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kNew;
  bool armed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace iobench

#endif  // WORKER_SIMULATED_SIMULATED_PHASE_H_
