// A worker in the coordinator's own process, as one member of a Transport.
#ifndef COMMON_TRANSPORT_LOCAL_WORKER_H_
#define COMMON_TRANSPORT_LOCAL_WORKER_H_

#include <string>

#include "absl/status/status.h"
#include "common/transport/event_queue.h"
#include "common/transport/transport.h"

namespace iobench {

// The worker's events go to the queue, Joined first. `handler` and `events` must outlive it. Only the coordinator's
// thread may use it; the handler may send events from any thread. The in-process transport consists of these; the MPI
// transport has one for rank 0.
class LocalWorker {
 public:
  // `address`: the address that the worker's facts show, for display.
  LocalWorker(WorkerId id, WorkerHandler& handler, EventQueue& events, const std::string& address);
  ~LocalWorker();  // calls Shutdown(), unless Leave already did
  LocalWorker(const LocalWorker&) = delete;
  LocalWorker& operator=(const LocalWorker&) = delete;

  // Handles the request on the calling thread. Leave shuts the worker down before Post returns; after that, Post
  // returns Unavailable.
  absl::Status Post(const v1::WorkerRequest& request);

 private:
  // Puts the worker's events into the queue with its id and the time.
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
  // Leave was handled, and the worker was shut down.
  bool left_ = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_LOCAL_WORKER_H_
