// What a gRPC worker sends, over all connections that it makes.
#ifndef COMMON_TRANSPORT_GRPC_WORKER_MAIL_H_
#define COMMON_TRANSPORT_GRPC_WORKER_MAIL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/mutex.h"
#include "common/transport/grpc/unconfirmed.h"
#include "common/transport/transport.h"

namespace iobench {

// The mail's view of one connection.
class MailCarrier {
 public:
  virtual ~MailCarrier() = default;
  // Signals that an event is waiting to be written. Called without the mail's lock.
  virtual void Kick() = 0;
};

// The handler's sink, which outlives every connection: events are kept until the coordinator has them, and requests are
// counted, so that both ends can continue where the last connection broke. Callable from any thread.
class WorkerMail final : public EventSink {
 public:
  // `identity`: see kIdentityKey.
  explicit WorkerMail(std::string identity) : identity_(std::move(identity)) {}

  const std::string& identity() const { return identity_; }

  void Send(v1::WorkerEvent event) override {
    std::shared_ptr<MailCarrier> carrier;
    {
      MutexLock lock(mutex_);
      events_.Push(std::move(event));
      carrier = carrier_;
    }
    if (carrier != nullptr) carrier->Kick();
  }

  // Called when a connection has been accepted; the coordinator has the first `events_received` events. False: it
  // cannot have them. `carrier` is notified of further events.
  bool Attach(std::shared_ptr<MailCarrier> carrier, uint64_t events_received) {
    MutexLock lock(mutex_);
    if (!events_.Restart(events_received)) return false;
    carrier_ = std::move(carrier);
    joined_ = true;
    return true;
  }
  // Called when the connection has ended.
  void Detach() {
    MutexLock lock(mutex_);
    carrier_ = nullptr;
  }
  // Returns the next event to write, or nullopt. REQUIRES: only the attached connection calls it.
  std::optional<v1::WorkerEvent> Take() {
    MutexLock lock(mutex_);
    if (!events_.has_next()) return std::nullopt;
    std::optional<v1::WorkerEvent> event = events_.Take();
    event->set_requests_received(requests_received_);
    return event;
  }
  // Notes a request before it is handled. False: it confirms events that were not sent.
  bool Receive(const v1::WorkerRequest& request) {
    MutexLock lock(mutex_);
    if (!events_.Confirm(request.events_received())) return false;
    ++requests_received_;
    if (request.has_ping() && request.ping().lease_ms() > 0) {
      lease_ns_ = int64_t{request.ping().lease_ms()} * 1'000'000;
    }
    return true;
  }
  // Returns how many requests have arrived; nullopt: no connection has been accepted yet.
  std::optional<uint64_t> requests_received() {
    MutexLock lock(mutex_);
    return joined_ ? std::optional<uint64_t>(requests_received_) : std::nullopt;
  }
  // Returns the lease that the coordinator has granted; 0: none yet.
  int64_t lease_ns() {
    MutexLock lock(mutex_);
    return lease_ns_;
  }

 private:
  const std::string identity_;
  Mutex mutex_;
  std::shared_ptr<MailCarrier> carrier_ ABSL_GUARDED_BY(mutex_);  // null: no connection
  Unconfirmed<v1::WorkerEvent> events_ ABSL_GUARDED_BY(mutex_);
  uint64_t requests_received_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t lease_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  bool joined_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_WORKER_MAIL_H_
