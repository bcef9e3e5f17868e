// A worker and a hostile coordinator: any sequence of requests, without any right to touch files. Each is answered or
// refused, lanes of the null engine run, and in the end the worker leaves.
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/transport.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messages.h"
#include "worker/rights/worker_rights.h"
#include "worker/worker_service.h"

using namespace iobench;

namespace {

constexpr size_t kMaxRequests = 24;
constexpr int64_t kPatienceNs = 50 * kNanosPerSecond;

// Awaits the answers of the worker, and checks that they could be sent.
class Coordinator final : public EventSink {
 public:
  void Send(v1::WorkerEvent event) override {
    Require(event.IsInitialized() && event.ByteSizeLong() < (64u << 20), "an event can be sent");
    MutexLock lock(mutex_);
    if (event.call_id() == last_call_ && !(event.has_chunk() && !event.chunk().last())) answered_ = true;
    changed_.NotifyAll();
  }
  void Expect(uint64_t call_id) {
    MutexLock lock(mutex_);
    last_call_ = call_id;
    answered_ = false;
  }
  bool AwaitAnswer(int64_t until_ns) {
    MutexLock lock(mutex_);
    return changed_.WaitUntil(mutex_, until_ns, [&] { return answered_; });
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  uint64_t last_call_ ABSL_GUARDED_BY(mutex_) = 0;
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
};

std::unique_ptr<WorkerHandler> WorkerWithoutRights() {
  WorkerRights rights;
  rights.actions.clear();
  rights.may_compare_existing_files = false;
  rights.coordinator_host = "coordinator.invalid";
  rights.max_lanes = 16;
  rights.max_memory_bytes = 64u << 20;
  auto paths = AllowedPaths::Below({"/nonexistent-root-of-a-fuzzer"});
  Require(paths.ok(), "a list of roots");
  rights.paths = *std::move(paths);
  SetWorkerRights(std::move(rights));
  return MakeWorkerService({.host_override = "fuzzed", .boot_id_override = "fuzzed", .measure_costs = false});
}

// Limits what would only take long. A lane of the null engine does millions of ops per second until it is stopped.
void Shorten(v1::WorkerRequest& request) {
  if (request.has_file_actions())
    request.mutable_file_actions()->set_start_worker_ns(WorkerClock().Now().ns + 200'000);
  if (request.has_net_test()) request.mutable_net_test()->set_seconds(0.01);
  if (!request.has_prepare()) return;
  v1::Prepare& prepare = *request.mutable_prepare();
  for (v1::Step& step : *prepare.mutable_steps()) {
    if (step.has_rest() && step.rest().seconds() > 0.001) step.mutable_rest()->set_seconds(0.001);
  }
  if (prepare.files().files_per_lane() > 1000) prepare.mutable_files()->set_files_per_lane(1000);
  while (prepare.lanes_size() > 32) prepare.mutable_lanes()->RemoveLast();
}

void Handle(WorkerHandler& worker, Coordinator& coordinator, v1::WorkerRequest request, uint64_t call_id) {
  request.set_call_id(call_id);
  coordinator.Expect(call_id);
  worker.Handle(request, coordinator);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<WorkerHandler> worker = WorkerWithoutRights();
  Coordinator coordinator;
  uint64_t call_id = 0;
  for (v1::WorkerRequest& request : MessagesOf<v1::WorkerRequest>(PartsOf(data, size, kMaxRequests))) {
    if (request.has_leave()) continue;
    Shorten(request);
    const bool arms = request.has_arm();
    if (arms) request.mutable_arm()->set_start_worker_ns(WorkerClock().Now().ns + 200'000);
    const bool may_wait = request.has_collect();  // answered when the lanes have ended
    Handle(*worker, coordinator, std::move(request), ++call_id);
    if (!may_wait) Require(coordinator.AwaitAnswer(MonotonicNowNs() + kPatienceNs), "a request is answered");
    if (arms) ::usleep(500);
  }
  // However far the worker got, the run can be ended.
  v1::WorkerRequest quit;
  quit.mutable_adjust()->set_quit(true);
  Handle(*worker, coordinator, quit, ++call_id);
  v1::WorkerRequest disarm;
  disarm.mutable_adjust()->set_disarm(true);
  Handle(*worker, coordinator, disarm, ++call_id);
  Require(coordinator.AwaitAnswer(MonotonicNowNs() + kPatienceNs), "a worker can be disarmed");
  worker->Shutdown();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  return MutateParts(data, size, max_size, seed,
                     [](size_t) { return std::make_unique<v1::WorkerRequest>(); });
}
