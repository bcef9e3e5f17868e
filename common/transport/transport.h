// The transport interface: carries requests to workers and events back, as the same protobuf messages on every
// transport.
#ifndef COMMON_TRANSPORT_TRANSPORT_H_
#define COMMON_TRANSPORT_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/time.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Of connections that break and come back again and again, in each period at most so many lines are printed.
inline constexpr int64_t kFlappingPeriodNs = 30 * kNanosPerSecond;
inline constexpr size_t kMaxFlappingLines = 8;

// Identifies a connection. Ids are assigned in the order in which workers are added and are never reused. The worker
// numbers that users see come from the roster.
using WorkerId = uint32_t;

struct ReceivedEvent {
  WorkerId worker = 0;
  v1::WorkerEvent event;
  CoordTime received_at;  // when the bytes arrived, before any queueing
};

// The coordinator's end. Only the thread that created it may use it.
class Transport {
 public:
  virtual ~Transport() = default;

  // Sends a request without waiting for an answer; may block briefly on a full pipe. Unavailable: the worker is gone;
  // its Lost event follows or has already been delivered. Posting to a lost worker is harmless.
  virtual absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) = 0;

  // Returns the next event of any worker: replies, events that workers send on their own, Joined when a worker arrives,
  // and Lost when it is gone. The transport creates Lost, exactly once for each worker that had joined and did not
  // Leave. DeadlineExceeded: no event by `deadline`.
  virtual absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) = 0;

  // Called when the coordinator has dropped this worker, which may be dead or hung: nothing waits for it any longer,
  // not even the transport's destructor. Events that it still sends are delivered.
  virtual void GiveUp(WorkerId worker) { (void)worker; }

  // True while the worker's connection is broken and it may still come back: the transport itself reports it as lost
  // when its time to do so is over.
  virtual bool MayComeBack(WorkerId worker) const { return static_cast<void>(worker), false; }

  // A hint: while lanes run, the transport may poll less often, so that waiting does not slow the lanes down.
  virtual void SetLanesRunning(bool running) { (void)running; }

  // True if the transport gives workers a fixed order (MPI ranks, in-process workers): worker number = WorkerId.
  virtual bool ordered() const = 0;

  virtual std::string name() const = 0;  // as in --transport
};

// Receives a worker's events. Callable from any thread; events of one thread stay in order.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Send(v1::WorkerEvent event) = 0;
};

// Handles a worker's requests. Handle must not block: file work runs on other threads, and replies go to the sink when
// they are ready. One thread at a time calls it. A Ping is answered before Handle returns.
class WorkerHandler {
 public:
  virtual ~WorkerHandler() = default;
  // Describes the worker. The worker's end of the transport sends it as the Joined event, before any other event.
  virtual v1::WorkerFacts Facts() const = 0;
  virtual void Handle(const v1::WorkerRequest& request, EventSink& sink) = 0;
  // Called when the coordinator has sent Leave, or the worker is to end: stops the lanes and discards the run. No event
  // is sent afterwards. May block for a second until the lanes have ended; lanes stuck in the kernel are abandoned.
  virtual void Shutdown() = 0;

  // Called by the worker's end of the transport every 50 ms or so, on the thread that may call Abandon. Unavailable: no
  // request has arrived for the duration of the lease (Ping.lease_ms), so the coordinator is gone, frozen or cut off.
  // Time without calls does not count, because this process was then stopped itself.
  virtual absl::Status CheckLease() { return absl::OkStatus(); }
  // Called in place of Shutdown when the coordinator has disappeared without a Leave. Also removes the run's data if
  // all other workers that use it have left in the same way. May block for some seconds longer.
  virtual void Abandon() { Shutdown(); }
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_TRANSPORT_H_
