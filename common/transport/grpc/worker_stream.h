// One connection of a worker at the coordinator: the operations of its call.
#ifndef COMMON_TRANSPORT_GRPC_WORKER_STREAM_H_
#define COMMON_TRANSPORT_GRPC_WORKER_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/grpc_address.h"
#include "common/transport/grpc/worker_session.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/coordinator_service.grpc.pb.h"

namespace iobench {

class CallQueue;
class WorkerStream;

// The service with messages as bytes: an event is parsed only once it is known what it would take (Swelling).
using RawService = v1::Coordinator::WithRawMethod_Join<v1::Coordinator::Service>;

// What a stream reports to the coordinator, on the queue's thread unless said otherwise.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  // A worker has called. Answer with Start or Refuse.
  virtual void Called(WorkerStream& stream) = 0;
  // Returns an error if this worker may not join.
  virtual absl::StatusOr<std::shared_ptr<WorkerSession>> AddWorker(WorkerStream& stream) = 0;
  virtual void TurnedAway(const std::string& address, const std::string& reason) = 0;  // on any thread
  // Called when the connection of this worker broke at `at`; the worker may come back within `lease_ns`.
  virtual void Broke(std::shared_ptr<WorkerSession> session, CoordTime at, int64_t lease_ns) = 0;
  // A request whose answer may be as large as results is about to be written. On any thread.
  virtual void AsksForMuch(const WorkerStream& stream) = 0;
  // The stream's last call, which may destroy it.
  virtual void StreamDone(WorkerStream& stream) = 0;
};

// What a worker's call says about the worker.
struct CallFacts {
  std::string attempt;   // see kAttemptKey
  std::string identity;  // see kIdentityKey
};

// One connection of a worker, from the wait for its call until gRPC has reported the end of all operations. They end on
// the queue's thread; the other functions may be called from any thread.
//
// gRPC's callback API would need less code, but it has two threads at least, which hand every event over to each other:
// with thousands of workers, that takes a seventh of the coordinator's processor time (docs/scaling.md).
class WorkerStream final : public SessionStream {
 public:
  // An operation, whose address the queue returns when it has ended. Call Ended then, on the queue's thread.
  class Operation {
   public:
    Operation(WorkerStream& stream, void (WorkerStream::*ended)(bool ok)) : stream_(stream), ended_(ended) {}
    void Ended(bool ok) { stream_.OperationEnded(ended_, ok); }

   private:
    WorkerStream& stream_;
    void (WorkerStream::*const ended_)(bool ok);
  };

  // `max_event_bytes`: what events may have (GrpcListenOptions), once they are parsed kHonestSwelling times as much.
  WorkerStream(StreamObserver& observer, uint64_t max_event_bytes)
      : observer_(observer), max_event_bytes_(max_event_bytes) {}

  // Waits for the next call. Call it once, before anything else. StreamDone follows without Called if the server is
  // shut down first.
  void Await(RawService& service, CallQueue& queue);
  CallQueue& queue() const { return *queue_; }  // on which it was awaited

  // Once the worker has called:
  const std::string& address() const { return address_; }
  bool is_local() const { return IsUnixPeer(address_); }
  // Returns the value of a key in the metadata of the call, or an empty text.
  std::string Metadata(const char* key) const;
  const CallFacts& call() const { return call_; }  // those of Start

  // Accepts the call. `session`: that of a worker that comes back; null: the worker has not joined yet.
  // `events_received`: how many of this worker's events arrived over earlier connections.
  void Start(CallFacts call, std::shared_ptr<WorkerSession> session, uint64_t events_received);
  void Refuse(const grpc::Status& status);

  void Kick() override;
  void Cancel() override;
  // Called when the coordinator is being destroyed: posted requests are still written, but nothing more is reported.
  void Dismiss();
  // Cancels the call, unless it has ended or its worker has joined.
  void BreakOffIfNotJoined();

 private:
  void OperationEnded(void (WorkerStream::*ended)(bool ok), bool ok);
  void OnCalled(bool ok);
  void OnReadEnded(bool ok);
  void OnWriteEnded(bool ok);
  void OnOther(bool) {}

  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Parses what has arrived. Nullopt: it is damaged or too large.
  std::optional<WeighedEvent> Incoming() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns false for an event that a worker may not send now.
  bool HandleIncoming(CoordTime received_at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishWhenIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // kBroken: the worker may come back.
  enum class End { kFinal, kBroken };
  void ReportEnd(End end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  StreamObserver& observer_;
  const uint64_t max_event_bytes_;
  CallQueue* queue_ = nullptr;  // of Await
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&context_};
  Operation called_{*this, &WorkerStream::OnCalled};
  Operation accepted_{*this, &WorkerStream::OnOther};
  Operation read_{*this, &WorkerStream::OnReadEnded};
  Operation written_{*this, &WorkerStream::OnWriteEnded};
  Operation finish_{*this, &WorkerStream::OnOther};
  Operation over_{*this, &WorkerStream::OnOther};  // the call as a whole
  std::string address_;                            // written by OnCalled, as call_ is by Start
  CallFacts call_;
  grpc::ByteBuffer incoming_;  // gRPC's while a read is pending, otherwise under mutex_

  Mutex mutex_;
  std::shared_ptr<WorkerSession> session_ ABSL_GUARDED_BY(mutex_);  // null: the worker has not joined
  int pending_count_ ABSL_GUARDED_BY(mutex_) = 1;  // operations that have not ended; at first called_
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool writable_ ABSL_GUARDED_BY(mutex_) = true;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;  // call Finish as soon as no write is pending
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool dismissed_ ABSL_GUARDED_BY(mutex_) = false;
  bool end_reported_ ABSL_GUARDED_BY(mutex_) = false;
  CoordTime read_ended_at_ ABSL_GUARDED_BY(mutex_) = {};
  std::string lost_reason_ ABSL_GUARDED_BY(mutex_);
  grpc::StatusCode refusal_code_ ABSL_GUARDED_BY(mutex_) = grpc::StatusCode::INVALID_ARGUMENT;
  grpc::Status farewell_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_WORKER_STREAM_H_
