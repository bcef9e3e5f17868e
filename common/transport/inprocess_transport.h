// A transport for workers in the coordinator's own process, without network or other processes.
#ifndef COMMON_TRANSPORT_INPROCESS_TRANSPORT_H_
#define COMMON_TRANSPORT_INPROCESS_TRANSPORT_H_

#include <deque>
#include <span>
#include <string>

#include "common/transport/event_queue.h"
#include "common/transport/local_worker.h"
#include "common/transport/transport.h"

namespace iobench {

// The transport of `--transport local`. Events arrive from the threads of the workers, requests are handled on the
// coordinator's thread. It creates no Lost events, because a worker in the same process cannot disappear on its own.
class InProcessTransport final : public Transport {
 public:
  // WorkerId is the index in `workers`, which must outlive the transport. Their Joined events come first. The
  // destructor calls Shutdown() of every worker that has not received Leave.
  explicit InProcessTransport(std::span<WorkerHandler* const> workers);

  // The worker handles the request before Post returns. Unavailable: the worker has handled Leave. REQUIRES: worker <
  // number of workers.
  absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) override;
  // Events are stamped when a worker sends them. DeadlineExceeded: no event by `deadline`.
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override;
  bool ordered() const override { return true; }
  std::string name() const override { return "local"; }

 private:
  EventQueue events_;
  std::deque<LocalWorker> workers_;  // a deque: a worker's sink must not move
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_INPROCESS_TRANSPORT_H_
