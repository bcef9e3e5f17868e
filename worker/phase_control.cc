#include "worker/phase_control.h"

#include <utility>

#include "worker/lane/phase_runner.h"
#include "worker/task_thread.h"

namespace iobench {
namespace {

// Holds the runner by shared_ptr, as the lanes' threads do.
class ThreadedPhase final : public PhaseControl {
 public:
  explicit ThreadedPhase(std::shared_ptr<PhaseRunner> runner) : runner_(std::move(runner)) {}

  absl::StatusOr<v1::Prepared> Prepare() override { return runner_->Prepare(); }
  v1::Armed Arm(const v1::Arm& arm, WorkerTime now) override { return runner_->Arm(arm, now); }
  void Stop() override { runner_->Stop(); }
  void Quit() override { runner_->Quit(); }
  void SetGoal(uint64_t ops_goal) override { runner_->SetGoal(ops_goal); }
  void Cancel() override { runner_->Cancel(); }
  v1::Progress Progress(const v1::Poll& poll) const override { return runner_->Progress(poll); }
  void RecordStart() override { runner_->RecordStart(); }
  absl::Status Collect(std::span<const WorkerTime> instants, std::optional<WorkerTime> settle_until,
                       const std::function<void(v1::ResultChunk)>& give) override {
    return runner_->Collect(instants, settle_until, give);
  }
  bool HasShortResults() override { return runner_->HasShortResults(); }
  bool WaitForLanes(int64_t until_ns) override { return runner_->WaitForLanes(until_ns); }
  void CloseDirectories() override { runner_->CloseDirectories(); }

 private:
  const std::shared_ptr<PhaseRunner> runner_;
};

}  // namespace

SessionParts ThreadedParts() {
  return {.make_tasks = [] { return std::make_unique<TaskThread>(); },
          .make_phase =
              [](const v1::Prepare& prepare, const WorkerClock& clock, double loop_ns,
                 PhaseControl::EventTaker take_event) {
                return std::make_shared<ThreadedPhase>(
                    std::make_shared<PhaseRunner>(prepare, clock, loop_ns, std::move(take_event)));
              }};
}

}  // namespace iobench
