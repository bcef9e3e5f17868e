// Sends a worker's events to the coordinator.
#ifndef WORKER_OUTBOX_H_
#define WORKER_OUTBOX_H_

#include <utility>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "common/status_util.h"
#include "common/transport/transport.h"

namespace iobench {

// Returns an event with the call id of the request; the caller adds the body.
inline v1::WorkerEvent ReplyTo(const v1::WorkerRequest& request) {
  v1::WorkerEvent event;
  event.set_call_id(request.call_id());
  return event;
}

// Returns the reply to a request that failed as a whole or is not possible now.
inline v1::WorkerEvent Refusal(const v1::WorkerRequest& request, const absl::Status& status) {
  v1::WorkerEvent event = ReplyTo(request);
  *event.mutable_problem() = ToProblem(status);
  return event;
}

// The destination of a worker's events. Any thread may call any function. After Close, nothing is sent, not even by a
// lane that returns from the kernel: Close waits for a Send in progress, so the sink may be destroyed afterwards.
class Outbox {
 public:
  // `sink` must stay valid until Close. Connecting again replaces it.
  void Connect(EventSink& sink) {
    MutexLock lock(mutex_);
    sink_ = &sink;
  }
  void Close() {
    MutexLock lock(mutex_);
    sink_ = nullptr;
  }
  // Drops the event if no sink is connected. Events of one thread stay in order.
  void Send(v1::WorkerEvent event) {
    MutexLock lock(mutex_);
    if (sink_ != nullptr) sink_->Send(std::move(event));
  }

 private:
  Mutex mutex_;
  EventSink* sink_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace iobench

#endif  // WORKER_OUTBOX_H_
