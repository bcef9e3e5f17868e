// Workers that live in the coordinator's process: nothing is installed, started or connected.
#ifndef COMMON_TRANSPORT_INPROCESS_TRANSPORT_H_
#define COMMON_TRANSPORT_INPROCESS_TRANSPORT_H_

#include <deque>
#include <span>
#include <string>

#include "common/transport/event_queue.h"
#include "common/transport/local_worker.h"
#include "common/transport/transport.h"

namespace iobench {

class InProcessTransport final : public Transport {
 public:
  // WorkerId = index in `workers`, which outlive the transport. Their Joined events are the first to come.
  // The destructor shuts down the workers that were not told to leave.
  explicit InProcessTransport(std::span<WorkerHandler* const> workers);

  // REQUIRES: worker < number of workers. The worker handles the request before Post returns.
  absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) override;
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override;
  bool ordered() const override { return true; }
  std::string name() const override { return "local"; }

 private:
  EventQueue events_;
  std::deque<LocalWorker> workers_;  // a deque: a worker's sink must not move
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_INPROCESS_TRANSPORT_H_
