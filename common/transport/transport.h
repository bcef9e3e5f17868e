// Carries requests out to workers and events back in. The same protobuf on every transport.
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

// Names a connection, in the order in which workers were added; never reused. The roster gives worker numbers.
using WorkerId = uint32_t;

struct ReceivedEvent {
  WorkerId worker = 0;
  v1::WorkerEvent event;
  CoordTime received_at;  // stamped when the bytes arrived, before any queue
};

// The coordinator's end. One thread uses it, the one that made it.
class Transport {
 public:
  virtual ~Transport() = default;

  // Sends without waiting for an answer; may block shortly on a full pipe. Unavailable: that worker is gone (a Lost
  // event follows or has been delivered). Posting to a lost worker is harmless.
  virtual absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) = 0;

  // The next event of any worker: replies, events that workers send by themselves, Joined when one arrives, Lost
  // when one is gone (made by the transport, exactly once per worker that had joined and did not Leave).
  // DeadlineExceeded: nothing by `deadline`.
  virtual absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) = 0;

  // A hint: while lanes run, waiting may be lazier so that it costs the lanes nothing.
  virtual void SetLanesRunning(bool running) { (void)running; }

  // True where workers keep a fixed order of their own (MPI ranks, in-process): worker number = WorkerId.
  virtual bool ordered() const = 0;

  virtual std::string name() const = 0;  // "local" | "grpc" | "mpi"
};

// Where a worker's events go. Any thread may send; events of one thread stay in order.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Send(v1::WorkerEvent event) = 0;
};

// A worker's answer to requests. Handle never blocks: file work runs on other threads, replies go to the sink when
// ready. Called by one thread at a time. A Ping is answered before Handle returns.
class WorkerHandler {
 public:
  virtual ~WorkerHandler() = default;
  // What the worker is. The transport's worker end sends it as the Joined event before anything else.
  virtual v1::WorkerFacts Facts() const = 0;
  virtual void Handle(const v1::WorkerRequest& request, EventSink& sink) = 0;
  // The coordinator is gone or said Leave: stop lanes, forget the run. No event is sent afterwards. May block until
  // lanes have ended (a few seconds at most; lanes stuck in the kernel are abandoned).
  virtual void Shutdown() = 0;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_TRANSPORT_H_
