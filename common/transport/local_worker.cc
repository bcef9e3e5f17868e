#include "common/transport/local_worker.h"

#include <utility>

#include "common/clock.h"

namespace iobench {

void LocalWorker::Sink::Send(v1::WorkerEvent event) {
  const CoordTime now = CoordNow();
  events_.Push({id_, std::move(event), now});
}

LocalWorker::LocalWorker(WorkerId id, WorkerHandler& handler, EventQueue& events, const std::string& address)
    : handler_(handler), sink_(id, events) {
  v1::WorkerEvent joined;
  *joined.mutable_joined() = handler_.Facts();
  joined.mutable_joined()->set_address(address);
  sink_.Send(std::move(joined));
}

LocalWorker::~LocalWorker() {
  if (!left_) handler_.Shutdown();
}

absl::Status LocalWorker::Post(const v1::WorkerRequest& request) {
  if (left_) return absl::UnavailableError("the worker has left");
  handler_.Handle(request, sink_);
  if (request.has_leave()) {
    left_ = true;
    handler_.Shutdown();
  }
  return absl::OkStatus();
}

}  // namespace iobench
