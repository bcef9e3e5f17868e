#include "common/transport/grpc/worker_stream.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/transport/grpc/call_queue.h"
#include "common/transport/grpc/grpc_runtime.h"
#include "common/transport/grpc_address.h"
#include "common/transport/guard/swelling.h"

namespace iobench {
namespace {

// What a queued event takes beyond its bytes.
constexpr uint64_t kQueuedBytes = 256;

const Swelling& EventSwelling() {
  static const Swelling* const swelling = new Swelling(*v1::WorkerEvent::descriptor());
  return *swelling;
}

}  // namespace

void WorkerStream::Await(RawService& service, CallQueue& queue) {
  queue_ = &queue;
  GiveToGrpc(this);
  context_.AsyncNotifyWhenDone(&over_);
  service.RequestJoin(&context_, &stream_, &queue.queue(), &queue.queue(), &called_);
}

std::string WorkerStream::Metadata(const char* key) const {
  const auto found = context_.client_metadata().find(key);
  if (found == context_.client_metadata().end()) return "";
  return std::string(found->second.data(), found->second.size());
}

void WorkerStream::Start(CallFacts call, std::shared_ptr<WorkerSession> session, uint64_t events_received) {
  MutexLock lock(mutex_);
  call_ = std::move(call);
  session_ = std::move(session);
  context_.AddInitialMetadata(kAcceptedKey, absl::StrCat(events_received));
  ++pending_count_;
  stream_.SendInitialMetadata(&accepted_);
  Read();
  started_ = true;
  WriteNext();
  FinishWhenIdle();
}

void WorkerStream::Refuse(const grpc::Status& status) {
  MutexLock lock(mutex_);
  end_reported_ = true;
  started_ = true;
  ending_ = true;
  farewell_ = status;
  FinishWhenIdle();
}

void WorkerStream::Kick() {
  MutexLock lock(mutex_);
  WriteNext();
}

void WorkerStream::Cancel() {
  MutexLock lock(mutex_);
  if (pending_count_ > 0) context_.TryCancel();
}

void WorkerStream::Dismiss() {
  MutexLock lock(mutex_);
  // Not Unavailable, after which the worker would try to come back.
  farewell_ = grpc::Status(grpc::StatusCode::ABORTED, "the coordinator has ended");
  ending_ = true;
  dismissed_ = true;
  FinishWhenIdle();
}

void WorkerStream::BreakOffIfNotJoined() {
  MutexLock lock(mutex_);
  if (pending_count_ == 0 || session_ != nullptr) return;
  observer_.TurnedAway(address_, "its worker did not say who it is");
  context_.TryCancel();
}

void WorkerStream::OperationEnded(void (WorkerStream::*ended)(bool ok), bool ok) {
  Reaction reaction(this);
  (this->*ended)(ok);
  {
    MutexLock lock(mutex_);
    if (--pending_count_ > 0) return;
  }
  observer_.StreamDone(*this);
}

void WorkerStream::OnCalled(bool ok) {
  if (!ok) return;  // the server is shut down
  {
    MutexLock lock(mutex_);
    ++pending_count_;  // of over_
    address_ = PeerText(context_.peer());
  }
  observer_.Called(*this);
}

void WorkerStream::OnReadEnded(bool ok) {
  const CoordTime received_at = CoordNow();
  MutexLock lock(mutex_);
  if (ok && HandleIncoming(received_at)) {
    Read();
    return;
  }
  read_ended_at_ = received_at;
  if (ok) {
    if (lost_reason_.empty()) lost_reason_ = "it sent an event out of place";
    farewell_ = grpc::Status(refusal_code_, lost_reason_);
    ReportEnd(End::kFinal);
  } else {
    // Not context_.IsCancelled(), which is also true after an event that was too large, and if the worker had gone
    // before the farewell was sent. Neither of these workers comes back.
    const bool broke = grpc_call_failed_before_recv_message(context_.c_call()) != 0;
    ReportEnd(broke ? End::kBroken : End::kFinal);
  }
  ending_ = true;
  FinishWhenIdle();
}

void WorkerStream::OnWriteEnded(bool ok) {
  MutexLock lock(mutex_);
  writing_ = false;
  // Not ok: the connection is broken. The pending read fails too.
  writable_ &= ok;
  WriteNext();
  FinishWhenIdle();
}

void WorkerStream::Read() {
  ++pending_count_;
  stream_.Read(&incoming_, &read_);
}

std::optional<WeighedEvent> WorkerStream::Incoming() {
  const uint64_t limit = session_ == nullptr ? kMaxJoinedBytes : max_event_bytes_;
  if (incoming_.Length() > limit) {
    lost_reason_ = absl::StrCat("it sent ", incoming_.Length(), " bytes ",
                                session_ == nullptr ? "about itself" : "in one event");
    return std::nullopt;
  }
  grpc::Slice bytes;
  if (!incoming_.TrySingleSlice(&bytes).ok() && !incoming_.DumpToSingleSlice(&bytes).ok()) return std::nullopt;
  incoming_.Clear();
  const std::string_view text(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  const uint64_t parsed_bytes = EventSwelling().BytesParsed(text, Swelling::kHonestSwelling * limit);
  if (parsed_bytes > Swelling::kHonestSwelling * limit) {
    lost_reason_ = absl::StrCat("it sent an event that takes more than ", Swelling::kHonestSwelling * limit, " bytes");
    return std::nullopt;
  }
  WeighedEvent weighed;
  weighed.bytes = std::max<uint64_t>(kQueuedBytes + text.size(), parsed_bytes / Swelling::kHonestSwelling);
  if (!weighed.event.ParseFromArray(text.data(), static_cast<int>(text.size()))) {
    lost_reason_ = "it sent a damaged event";
    return std::nullopt;
  }
  return weighed;
}

bool WorkerStream::HandleIncoming(CoordTime received_at) {
  std::optional<WeighedEvent> incoming = Incoming();
  if (!incoming.has_value()) return false;
  v1::WorkerEvent& event = incoming->event;
  const bool joins = session_ == nullptr;
  if (event.has_lost() || event.has_reconnected() || event.has_joined() != joins) return false;
  if (joins) {
    absl::StatusOr<std::shared_ptr<WorkerSession>> session = observer_.AddWorker(*this);
    if (!session.ok()) {
      lost_reason_ = std::string(session.status().message());
      if (absl::IsUnavailable(session.status())) refusal_code_ = grpc::StatusCode::UNAVAILABLE;
      if (absl::IsUnauthenticated(session.status())) refusal_code_ = grpc::StatusCode::UNAUTHENTICATED;
      return false;
    }
    event.mutable_joined()->set_address(is_local() ? kUnixPeer : address_);
    session_ = *std::move(session);
  }
  const absl::Status received = session_->Receive(*this, *std::move(incoming), received_at);
  if (!received.ok()) lost_reason_ = std::string(received.message());
  return received.ok();
}

void WorkerStream::WriteNext() {
  if (!started_ || writing_ || !writable_ || finished_ || session_ == nullptr) return;
  if (ending_ && !dismissed_) return;  // the worker has hung up
  std::optional<v1::WorkerRequest> next = session_->Take(*this);
  if (!next.has_value()) return;
  writing_ = true;
  ++pending_count_;
  // The others' answers are short.
  if (!next->has_ping() && !next->has_poll() && !next->has_adjust()) observer_.AsksForMuch(*this);
  grpc::ByteBuffer packed;
  bool owns = false;
  grpc::SerializationTraits<v1::WorkerRequest>::Serialize(*next, &packed, &owns).ok();
  stream_.Write(packed, &written_);
}

void WorkerStream::FinishWhenIdle() {
  if (!started_ || !ending_ || writing_ || finished_) return;
  finished_ = true;
  ++pending_count_;
  stream_.Finish(farewell_, &finish_);
}

void WorkerStream::ReportEnd(End end) {
  if (std::exchange(end_reported_, true)) return;
  const bool broke = end == End::kBroken, was_refused = !lost_reason_.empty();
  if (!was_refused) {
    lost_reason_ =
        broke ? "its connection broke" : "it was stopped, or sent an event that is too large or damaged";
  }
  if (session_ == nullptr) {
    if (!dismissed_) observer_.TurnedAway(address_, absl::StrCat(lost_reason_, was_refused ? "" : " before it joined"));
    return;
  }
  const int64_t lease_ns = session_->Detach(*this, broke, lost_reason_, read_ended_at_);
  if (lease_ns > 0) observer_.Broke(session_, read_ended_at_, lease_ns);
}

}  // namespace iobench
