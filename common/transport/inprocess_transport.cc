#include "common/transport/inprocess_transport.h"

#include <cassert>
#include <optional>
#include <utility>

namespace iobench {

InProcessTransport::InProcessTransport(std::span<WorkerHandler* const> workers) {
  for (WorkerHandler* handler : workers) {
    workers_.emplace_back(static_cast<WorkerId>(workers_.size()), *handler, events_, "local");
  }
}

absl::Status InProcessTransport::Post(WorkerId worker, const v1::WorkerRequest& request) {
  assert(worker < workers_.size());
  return workers_[worker].Post(request);
}

absl::StatusOr<ReceivedEvent> InProcessTransport::WaitEvent(CoordTime deadline) {
  std::optional<ReceivedEvent> event = events_.PopUntil(deadline.ns);
  if (!event) return absl::DeadlineExceededError("no event of any worker");
  return *std::move(event);
}

}  // namespace iobench
