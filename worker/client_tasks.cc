#include "worker/client_tasks.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/status_util.h"
#include "worker/client/client_probe.h"
#include "worker/client/net_peer.h"
#include "worker/client/remount.h"
#include "worker/client/system_caches.h"
#include "worker/demands.h"
#include "worker/outbox.h"
#include "worker/storage/lustre.h"

namespace iobench {

absl::StatusOr<v1::WorkerEvent> ClientTasks::Inspect(const v1::WorkerRequest& request) {
  v1::WorkerEvent event = ReplyTo(request);
  v1::Inspected& inspected = *event.mutable_inspected();
  for (const v1::Target& target : request.inspect().targets()) {
    *inspected.add_targets() = ProbeTarget(target.path(), facts_.boot_id());
  }
  if (request.inspect().demands().has_stripe()) {
    for (const v1::Target& target : request.inspect().targets()) {
      const absl::Status can = CheckStripe(target.path());
      if (!can.ok()) *inspected.add_problems() = ToProblem(can);
    }
  }
  for (const std::string& file : request.inspect().existing_files()) {
    *inspected.add_existing_files() = ProbeExistingFile(file);
  }
  for (const absl::Status& unmet : UnmetDemands(request.inspect().demands())) {
    *inspected.add_problems() = ToProblem(unmet);
  }
  *inspected.mutable_limits() = LimitsOfThisWorker();
  return event;
}

absl::StatusOr<v1::WorkerEvent> ClientTasks::NetTest(const v1::WorkerRequest& request) {
  v1::WorkerEvent event = ReplyTo(request);
  IOBENCH_ASSIGN_OR_RETURN(*event.mutable_net_tested(), TakePartInNetTest(request.net_test()));
  return event;
}

absl::StatusOr<v1::WorkerEvent> ClientTasks::FileActions(const v1::WorkerRequest& request) {
  if (janitor_ != nullptr) janitor_->RecordFileActions(request.run_id(), request.file_actions());
  v1::WorkerEvent event = ReplyTo(request);
  IOBENCH_RETURN_IF_ERROR(check_files_.Do(
      request.run_id(), request.file_actions(), [this] { return clock_.Now(); },
      *event.mutable_file_actions_done()));
  return event;
}

absl::StatusOr<v1::WorkerEvent> ClientTasks::Sample(const v1::WorkerRequest& request) {
  if (!facts_.sampler()) {
    return absl::FailedPreconditionError("this worker was not started with --sampler");
  }
  if (request.sample().interval_ms() == 0) return absl::InvalidArgumentError("Sample without an interval");
  if (!sampler_) {
    sampler_.emplace([reader = std::make_shared<ServerCounterReader>(clock_)] { return reader->Read(); });
  }
  IOBENCH_ASSIGN_OR_RETURN(std::vector<v1::ServerInterval> intervals,
                           sampler_->Take(int64_t{request.sample().interval_ms()} * 1'000'000));
  v1::WorkerEvent event = ReplyTo(request);
  v1::Samples& samples = *event.mutable_samples();
  for (v1::ServerInterval& interval : intervals) {
    *samples.add_intervals() = std::move(interval);
  }
  return event;
}

absl::StatusOr<v1::WorkerEvent> ClientTasks::ClientStep(const v1::WorkerRequest& request) {
  const v1::Step& step = request.client_step().step();
  if (step.has_drop_caches() && facts_.sampler()) return DropServerCaches(request);
  if (!step.has_remount() && !step.has_eat_memory()) {
    return absl::UnimplementedError("this worker does not know this step");
  }
  const int64_t begin_ns = MonotonicNowNs();
  v1::WorkerEvent event = ReplyTo(request);
  v1::StepResult& done = *event.mutable_client_step_done()->mutable_step();
  done.set_name(step.has_remount() ? "remount" : "eat-memory");
  IOBENCH_ASSIGN_OR_RETURN(*done.mutable_outcome(), step.has_remount()
                                                        ? Remount(step.remount().mount_point())
                                                        : EatMemory(step.eat_memory().percent()));
  done.set_seconds(SecondsFrom(MonotonicNowNs() - begin_ns));
  return event;
}

// Its rights are checked first: others may use the server, and writing back takes their storage's time.
absl::StatusOr<v1::WorkerEvent> ClientTasks::DropServerCaches(const v1::WorkerRequest& request) {
  const int64_t begin_ns = MonotonicNowNs();
  if (CheckDropsSystemCaches().ok()) WriteBackAll();
  const absl::Status dropped = DropSystemCaches();
  v1::WorkerEvent event = ReplyTo(request);
  v1::StepResult& done = *event.mutable_client_step_done()->mutable_step();
  done.set_name("drop-server-caches");
  done.set_outcome(dropped.ok() ? "sync and drop_caches" : std::string(dropped.message()));
  done.set_system_caches(dropped.ok());
  done.set_seconds(SecondsFrom(MonotonicNowNs() - begin_ns));
  return event;
}

absl::StatusOr<std::string> ClientTasks::EatMemory(uint32_t percent) {
  if (eaten_memory_ && eaten_memory_->percent() != percent) eaten_memory_.reset();
  if (!eaten_memory_) {
    IOBENCH_ASSIGN_OR_RETURN(eaten_memory_, EatenMemory::Eat(percent));
  }
  return eaten_memory_->ToText();
}

}  // namespace iobench
