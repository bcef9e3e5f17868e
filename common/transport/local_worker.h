// A worker in the coordinator's own process, seen as one id of a Transport.
#ifndef COMMON_TRANSPORT_LOCAL_WORKER_H_
#define COMMON_TRANSPORT_LOCAL_WORKER_H_

#include <string>

#include "absl/status/status.h"
#include "common/transport/event_queue.h"
#include "common/transport/transport.h"

namespace iobench {

// Its events go to the queue, Joined first. `handler` and `events` outlive it; the coordinator's thread uses it.
class LocalWorker {
 public:
  // `address` stands in the worker's facts, for people.
  LocalWorker(WorkerId id, WorkerHandler& handler, EventQueue& events, const std::string& address);
  ~LocalWorker();  // Shutdown(), unless Leave has done so
  LocalWorker(const LocalWorker&) = delete;
  LocalWorker& operator=(const LocalWorker&) = delete;

  // Handles the request on this thread. Leave shuts the worker down before Post returns. Unavailable after Leave.
  absl::Status Post(const v1::WorkerRequest& request);

 private:
  class Sink final : public EventSink {
   public:
    Sink(WorkerId id, EventQueue& events) : id_(id), events_(events) {}
    void Send(v1::WorkerEvent event) override;

   private:
    const WorkerId id_;
    EventQueue& events_;
  };

  WorkerHandler& handler_;
  Sink sink_;
  bool left_ = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_LOCAL_WORKER_H_
