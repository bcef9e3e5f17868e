// One phase as a worker's session sees it, however its lanes are run.
#ifndef WORKER_PHASE_CONTROL_H_
#define WORKER_PHASE_CONTROL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "iobench/v1/control.pb.h"
#include "worker/task_runner.h"

namespace iobench {

class Janitor;

// PhaseRunner's header has the contract of each function; it runs each lane on a thread of its own. The functions
// that may block there (Prepare, RecordStart, Collect, WaitForLanes) are called by the session's tasks, and WaitForLanes
// by Shutdown too; the others return at once and may be called from any thread.
class PhaseControl {
 public:
  using EventTaker = std::function<void(v1::WorkerEvent)>;

  virtual ~PhaseControl() = default;
  virtual absl::StatusOr<v1::Prepared> Prepare() = 0;
  virtual v1::Armed Arm(const v1::Arm& arm, WorkerTime now) = 0;
  virtual void Stop() = 0;
  virtual void Quit() = 0;
  virtual void SetGoal(uint64_t ops_goal) = 0;
  virtual void Cancel() = 0;
  virtual v1::Progress Progress(const v1::Poll& poll) const = 0;
  virtual void RecordStart() = 0;
  virtual absl::Status Collect(std::span<const WorkerTime> instants, std::optional<WorkerTime> settle_until,
                               const std::function<void(v1::ResultChunk)>& give) = 0;
  virtual bool HasShortResults() = 0;
  virtual bool WaitForLanes(int64_t until_ns) = 0;
  virtual void CloseDirectories() = 0;
};

// The parts of which a worker's sessions are made. Shared by all sessions, and callable from any thread.
struct SessionParts {
  std::function<std::unique_ptr<TaskRunner>()> make_tasks;
  std::function<std::shared_ptr<PhaseControl>(const v1::Prepare& prepare, const WorkerClock& clock,
                                              double loop_ns, PhaseControl::EventTaker take_event)>
      make_phase;
  Janitor* janitor =
      nullptr;  // outlives the session; null: nobody clears up after this worker if it is killed
};

// Returns the parts of a real worker: a thread for its tasks, and one for each lane of a phase.
SessionParts ThreadedParts();

}  // namespace iobench

#endif  // WORKER_PHASE_CONTROL_H_
