#include "common/transport/grpc/worker_session.h"

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/text/units.h"

namespace iobench {

absl::StatusOr<uint64_t> WorkerSession::Attach(std::shared_ptr<SessionStream> stream,
                                               uint64_t requests_received, CoordTime at) {
  std::shared_ptr<SessionStream> earlier;
  uint64_t received = 0;
  {
    MutexLock lock(mutex_);
    if (ended_) return absl::NotFoundError("the coordinator has given this worker up");
    if (!requests_.Restart(requests_received)) {
      return absl::InvalidArgumentError("the worker says that it has requests which were not sent");
    }
    const bool is_first = events_received_ == 0;
    earlier = std::exchange(stream_, std::move(stream));
    received = events_received_;
    if (!is_first) {
      ReceivedEvent back{id_, {}, at};
      back.event.mutable_reconnected();
      Push({std::move(back)});
    }
  }
  if (earlier != nullptr) earlier->Cancel();
  return received;
}

absl::Status WorkerSession::Post(const v1::WorkerRequest& request) {
  std::shared_ptr<SessionStream> stream;
  {
    MutexLock lock(mutex_);
    if (ended_) return absl::UnavailableError(absl::StrCat("the worker at ", address_, " is gone"));
    if (request.has_leave()) leave_posted_ = true;
    ++requests_posted_;
    if (request.ping().lease_ms() > 0) {
      posted_lease_ns_ = int64_t{request.ping().lease_ms()} * 1'000'000;
      if (lease_request_ == 0) lease_request_ = requests_posted_;
    }
    requests_.Push(request);
    stream = stream_;
  }
  if (stream != nullptr) stream->Kick();
  return absl::OkStatus();
}

std::optional<v1::WorkerRequest> WorkerSession::Take(const SessionStream& stream) {
  MutexLock lock(mutex_);
  if (stream_.get() != &stream || !requests_.has_next()) return std::nullopt;
  std::optional<v1::WorkerRequest> request = requests_.Take();
  request->set_events_received(events_received_);
  return request;
}

absl::Status WorkerSession::Receive(const SessionStream& stream, WeighedEvent event, CoordTime at) {
  const uint64_t requests_received = event.event.requests_received();
  MutexLock lock(mutex_);
  if (stream_.get() != &stream) return absl::OkStatus();
  if (!requests_.Confirm(requests_received)) {
    return absl::InvalidArgumentError("it confirmed requests that were not sent");
  }
  if (waiting_bytes_ + event.bytes > max_waiting_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", max_waiting_bytes_, " bytes of its messages were waiting to be handled"));
  }
  if (lease_request_ > 0 && requests_received >= lease_request_) lease_ns_ = posted_lease_ns_;
  ++events_received_;
  Push({{id_, std::move(event.event), at}, event.bytes});
  return absl::OkStatus();
}

void WorkerSession::Push(QueuedEvent event) {
  waiting_bytes_ += event.bytes;
  events_.Push(std::move(event));
}

int64_t WorkerSession::Detach(const SessionStream& stream, bool broke, const std::string& reason,
                              CoordTime at) {
  std::shared_ptr<SessionStream> last_reference;  // dropped after the lock
  MutexLock lock(mutex_);
  if (stream_.get() != &stream) return 0;
  last_reference = std::exchange(stream_, nullptr);
  if (!broke || leave_posted_ || !reconnects_ || lease_ns_ == 0) {
    End(reason, at);
    return 0;
  }
  broke_at_ = at;
  why_broken_ = reason;
  return lease_ns_;
}

bool WorkerSession::MayComeBack() {
  MutexLock lock(mutex_);
  return !ended_ && stream_ == nullptr && lease_ns_ > 0;
}

void WorkerSession::Expire(CoordTime broke_at) {
  MutexLock lock(mutex_);
  if (ended_ || stream_ != nullptr || broke_at_ != broke_at) return;
  End(absl::StrCat(why_broken_, ", and it did not come back within ", FormatSeconds(SecondsFrom(lease_ns_))),
      CoordNow());
}

void WorkerSession::BreakOff(const std::string& reason) {
  std::shared_ptr<SessionStream> stream;
  {
    MutexLock lock(mutex_);
    if (ended_) return;
    stream = std::exchange(stream_, nullptr);
    End(reason, CoordNow());
  }
  if (stream != nullptr) stream->Cancel();
}

void WorkerSession::End(const std::string& reason, CoordTime at) {
  ended_ = true;
  requests_ = {};
  if (leave_posted_) return;
  ReceivedEvent lost{id_, {}, at};
  lost.event.mutable_lost()->set_reason(absl::StrCat(address_, ": ", reason));
  Push({std::move(lost)});
}

}  // namespace iobench
