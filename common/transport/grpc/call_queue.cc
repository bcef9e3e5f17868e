#include "common/transport/grpc/call_queue.h"

#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/transport/grpc/worker_stream.h"

namespace iobench {

CallQueue::~CallQueue() {
  Drain();
}

absl::Status CallQueue::Start() {
  IOBENCH_ASSIGN_OR_RETURN(thread_, StartThread([this] {
                             NameThisThread("iobench-calls");
                             await_call_(*this);
                             Serve();
                           }));
  return absl::OkStatus();
}

void CallQueue::Drain() {
  if (drained_) return;
  drained_ = true;
  queue_->Shutdown();
  // gRPC insists that a queue is empty at its end.
  thread_.joinable() ? thread_.join() : Serve();
}

// Runs until the queue is shut down and empty. The next call is taken when nothing else is waiting, or after some more
// events: gRPC looks at the connections only while its queue is empty, and a stranger's thousands of calls, taken one
// after the other, would keep it full.
void CallQueue::Serve() {
  using grpc::CompletionQueue;
  constexpr int kMaxEventsBeforeCall = 64;
  int events_before_call = 0;
  for (;;) {
    void* ended = nullptr;
    bool ok = false;
    const gpr_timespec until =
        call_due_ ? gpr_time_0(GPR_CLOCK_MONOTONIC) : gpr_inf_future(GPR_CLOCK_MONOTONIC);
    const CompletionQueue::NextStatus status = queue_->AsyncNext(&ended, &ok, until);
    if (status == CompletionQueue::SHUTDOWN) return;
    // Any other status: gRPC could not wait (out of memory, for example); the loop tries again.
    if (status == CompletionQueue::GOT_EVENT) static_cast<WorkerStream::Operation*>(ended)->Ended(ok);
    if (!call_due_ || (status == CompletionQueue::GOT_EVENT && ++events_before_call < kMaxEventsBeforeCall)) {
      continue;
    }
    call_due_ = false;
    events_before_call = 0;
    await_call_(*this);
  }
}

}  // namespace iobench
