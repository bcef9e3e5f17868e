// One of the queues in which gRPC reports that operations have ended, with the thread that serves it.
#ifndef COMMON_TRANSPORT_GRPC_CALL_QUEUE_H_
#define COMMON_TRANSPORT_GRPC_CALL_QUEUE_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"

namespace iobench {

// The streams whose calls came by this queue have all their operations on it, so that each stream has one thread. gRPC
// spreads connections over the queues of a server.
class CallQueue {
 public:
  // `await_call` lets gRPC take one more call, on this queue. On the queue's thread.
  CallQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue, std::function<void(CallQueue&)> await_call)
      : queue_(std::move(queue)), await_call_(std::move(await_call)) {}
  ~CallQueue();  // as Drain

  // REQUIRES: the server has started. ResourceExhausted: the system refuses the thread.
  absl::Status Start();
  // A call was taken, and the next one may be awaited soon. On the queue's thread.
  void CallTaken() { call_due_ = true; }
  // Returns when no operation is left. REQUIRES: the server is shut down. May be called again.
  void Drain();

  grpc::ServerCompletionQueue& queue() { return *queue_; }

 private:
  void Serve();

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  const std::function<void(CallQueue&)> await_call_;
  bool call_due_ = false;  // on the queue's thread
  bool drained_ = false;
  std::thread thread_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_CALL_QUEUE_H_
