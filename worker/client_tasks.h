// What a worker does besides phases: it inspects its client and changes it, tests the network, reads counters, and works
// on check files.
#ifndef WORKER_CLIENT_TASKS_H_
#define WORKER_CLIENT_TASKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "iobench/v1/control.pb.h"
#include "worker/check/check_files.h"
#include "worker/client/eaten_memory.h"
#include "worker/janitor.h"
#include "worker/sampler/sampler.h"

namespace iobench {

// Each task acts on one request and returns its answer, or why the request is refused. Tasks may block, on files, the
// network or the kernel. Only one thread may call them; FileActions, Cancel and LaneThreads may be called from any.
class ClientTasks {
 public:
  // `facts`: those that the worker has sent; `clock`: of its times. `janitor` must outlive this object; nullptr: nobody
  // cleans up if the process is killed.
  ClientTasks(const WorkerClock& clock, const v1::WorkerFacts& facts, Janitor* janitor)
      : clock_(clock), facts_(facts), janitor_(janitor) {}

  // What the request's targets and existing files are, which of its demands are not met, and the process's limits.
  absl::StatusOr<v1::WorkerEvent> Inspect(const v1::WorkerRequest& request);
  absl::StatusOr<v1::WorkerEvent> NetTest(const v1::WorkerRequest& request);
  absl::StatusOr<v1::WorkerEvent> FileActions(const v1::WorkerRequest& request);
  // The server's counters since the previous Sample. FailedPrecondition: the worker is no sampler.
  absl::StatusOr<v1::WorkerEvent> Sample(const v1::WorkerRequest& request);
  // Remounts a file system, takes memory away from the page cache until this object is destroyed, or, on a sampler, drops
  // the server's caches.
  absl::StatusOr<v1::WorkerEvent> ClientStep(const v1::WorkerRequest& request);

  // The threads that perform FileActions now. Any thread may call it.
  std::vector<pid_t> LaneThreads() const { return check_files_.LaneThreads(); }
  // Ends FileActions that wait or repeat.
  void Cancel() { check_files_.Cancel(); }
  // Removes the check files that this worker has created.
  void RemoveCheckFiles() { check_files_.RemoveAll(); }

 private:
  absl::StatusOr<v1::WorkerEvent> DropServerCaches(const v1::WorkerRequest& request);
  absl::StatusOr<std::string> EatMemory(uint32_t percent);  // returns what was done

  const WorkerClock clock_;
  const v1::WorkerFacts facts_;
  Janitor* const janitor_;
  CheckFiles check_files_;
  std::optional<Sampler> sampler_;  // from the first Sample on
  std::optional<EatenMemory> eaten_memory_;
};

}  // namespace iobench

#endif  // WORKER_CLIENT_TASKS_H_
