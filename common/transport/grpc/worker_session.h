// A worker that has joined a gRPC coordinator, over all connections that it makes.
#ifndef COMMON_TRANSPORT_GRPC_WORKER_SESSION_H_
#define COMMON_TRANSPORT_GRPC_WORKER_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "common/transport/event_queue.h"
#include "common/transport/grpc/unconfirmed.h"
#include "common/transport/transport.h"

namespace iobench {

// An event in the queue of all sessions. `bytes`: its size; 0: it does not count as waiting.
struct QueuedEvent {
  ReceivedEvent received;
  uint64_t bytes = 0;
};
using SessionEvents = WaitQueue<QueuedEvent>;

// An event from a worker. `bytes`: what it counts for while it waits.
struct WeighedEvent {
  v1::WorkerEvent event;
  uint64_t bytes = 0;
};

// A session's view of one connection of its worker.
class SessionStream {
 public:
  virtual ~SessionStream() = default;
  // Signals that a request is waiting to be written. Called without the session's lock.
  virtual void Kick() = 0;
  // Ends the stream, which is no longer needed: another connection of the same worker has taken its place, or the
  // worker did not leave in time.
  virtual void Cancel() = 0;
};

// When a connection breaks, the session waits for the worker to come back, for the duration of its lease: that of the
// latest Ping, once the worker is known to have received a lease. Before that, the worker has no lease and leaves, so
// it is lost at once. No message is lost or doubled meanwhile: requests are kept until they have arrived, and so are
// events at the worker's end. Callable from any thread. Streams pass themselves, so that late reports of an earlier
// connection are ignored.
class WorkerSession {
 public:
  // `reconnects`: false if a broken connection means that the worker is gone. `max_waiting_bytes`: how many bytes of
  // its events may be in the queue at a time. `events` must outlive it.
  WorkerSession(WorkerId id, std::string address, bool reconnects, uint64_t max_waiting_bytes,
                SessionEvents& events)
      : id_(id),
        address_(std::move(address)),
        reconnects_(reconnects),
        max_waiting_bytes_(max_waiting_bytes),
        events_(events) {}

  const std::string& address() const { return address_; }  // of its first connection

  // Makes `stream` the worker's connection; the worker has the first `requests_received` requests. Returns how many of
  // its events have arrived. NotFound: the worker is no longer part of the run. InvalidArgument: an impossible count.
  absl::StatusOr<uint64_t> Attach(std::shared_ptr<SessionStream> stream, uint64_t requests_received,
                                  CoordTime at);
  // Queues a request, which is sent as soon as there is a connection. Unavailable: the worker is gone.
  absl::Status Post(const v1::WorkerRequest& request);
  // Returns the next request to write on this connection, or nullopt.
  std::optional<v1::WorkerRequest> Take(const SessionStream& stream);
  // Puts an event into the queue. Events from an earlier connection are dropped, since the worker sends them again.
  // InvalidArgument: it confirms requests that were not sent. ResourceExhausted: too much is waiting. Both messages are
  // reasons for which a worker is lost.
  absl::Status Receive(const SessionStream& stream, WeighedEvent event, CoordTime at);
  // An event of this session was taken out of the queue.
  void RecordTaken(const QueuedEvent& event) { waiting_bytes_ -= event.bytes; }
  // Called when the connection has ended. `broke`: unexpectedly, so that the worker may come back. Returns how many ns
  // the session waits for it; call Expire after that. 0: it does not wait.
  int64_t Detach(const SessionStream& stream, bool broke, const std::string& reason, CoordTime at);
  // True between a Detach that returned how long the session waits and the worker's return or its end.
  bool MayComeBack();
  // Reports the worker as lost if it has not come back since its connection broke at `broke_at`.
  void Expire(CoordTime broke_at);
  // Ends the session and its connection. `reason`: why the worker is lost, if it was not told to leave.
  void BreakOff(const std::string& reason);

 private:
  void Push(QueuedEvent event);
  void End(const std::string& reason, CoordTime at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkerId id_;
  const std::string address_;
  const bool reconnects_;
  const uint64_t max_waiting_bytes_;
  SessionEvents& events_;
  std::atomic<uint64_t> waiting_bytes_{0};
  Mutex mutex_;
  std::shared_ptr<SessionStream> stream_ ABSL_GUARDED_BY(mutex_);  // null: no connection now
  Unconfirmed<v1::WorkerRequest> requests_ ABSL_GUARDED_BY(mutex_);
  uint64_t events_received_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t requests_posted_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t lease_request_ ABSL_GUARDED_BY(mutex_) = 0;  // number of the first request with a lease; 0: none
  int64_t posted_lease_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t lease_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: the worker may not know of any lease
  CoordTime broke_at_ ABSL_GUARDED_BY(mutex_);
  std::string why_broken_ ABSL_GUARDED_BY(mutex_);
  bool leave_posted_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_WORKER_SESSION_H_
