// A worker that only answers. The requests determine its behaviour, so that it can be used at the far end of any
// transport.
#ifndef TESTS_UNIT_TRANSPORT_ECHO_WORKER_H_
#define TESTS_UNIT_TRANSPORT_ECHO_WORKER_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "common/clock.h"
#include "common/transport/event_queue.h"
#include "common/transport/transport.h"

namespace iobench {

// Ping is answered inside Handle; with a lease of kNoLeaseMs, the lease is over. All other requests are answered by a thread of its own, in the order of the requests:
//   Inspect  an Inspected with the targets' paths as mount sources (so that requests of any size come back)
//   Arm      Armed; then, on its own, LaneEnded and LanesDone
//   Adjust   Adjusted
//   Collect  as many chunks as there are instants, numbered by the lane of their only result, the last one marked
//   Leave    Left, inside Handle
class EchoWorker final : public WorkerHandler {
 public:
  static constexpr uint32_t kNoLeaseMs = 1;

  explicit EchoWorker(std::string host) : host_(std::move(host)), thread_([this] { AnswerLater(); }) {}
  ~EchoWorker() override {
    later_.Push(nullptr);
    thread_.join();
  }

  v1::WorkerFacts Facts() const override {
    v1::WorkerFacts facts;
    facts.set_host(host_);
    return facts;
  }

  void Handle(const v1::WorkerRequest& request, EventSink& sink) override {
    const int64_t received_ns = MonotonicNowNs();
    if (request.has_ping()) {
      if (request.ping().lease_ms() == kNoLeaseMs) lease_is_over_ = true;
      v1::WorkerEvent event = ReplyTo(request);
      event.mutable_pong()->set_received_worker_ns(received_ns);
      event.mutable_pong()->set_replied_worker_ns(MonotonicNowNs());
      sink.Send(std::move(event));
    } else if (request.has_leave()) {
      v1::WorkerEvent event = ReplyTo(request);
      event.mutable_left();
      sink.Send(std::move(event));
    } else {
      later_.Push([this, request, &sink] { Answer(request, sink); });
    }
  }

  // Waits for pending answers, as a worker waits for its lanes.
  void Shutdown() override {
    later_.Push([this] { idle_.Push(true); });
    idle_.PopUntil(INT64_MAX);
    ++shutdown_count_;
  }

  absl::Status CheckLease() override {
    return lease_is_over_ ? absl::UnavailableError("its lease is over") : absl::OkStatus();
  }

  int shutdown_count() const { return shutdown_count_; }

 private:
  static v1::WorkerEvent ReplyTo(const v1::WorkerRequest& request) {
    v1::WorkerEvent event;
    event.set_call_id(request.call_id());
    return event;
  }

  void Answer(const v1::WorkerRequest& request, EventSink& sink) {
    v1::WorkerEvent event = ReplyTo(request);
    switch (request.body_case()) {
      case v1::WorkerRequest::kInspect:
        for (const v1::Target& target : request.inspect().targets()) {
          event.mutable_inspected()->add_targets()->set_mount_source(target.path());
        }
        sink.Send(std::move(event));
        break;
      case v1::WorkerRequest::kArm: {
        event.mutable_armed();
        sink.Send(std::move(event));
        v1::WorkerEvent ended;
        ended.mutable_lane_ended();
        sink.Send(std::move(ended));
        v1::WorkerEvent done;
        done.mutable_lanes_done()->add_ends();
        sink.Send(std::move(done));
        break;
      }
      case v1::WorkerRequest::kAdjust:
        event.mutable_adjusted();
        sink.Send(std::move(event));
        break;
      case v1::WorkerRequest::kCollect:
        for (int i = 0; i < request.collect().instants_worker_ns_size(); ++i) {
          v1::WorkerEvent chunk = ReplyTo(request);
          chunk.mutable_chunk()->add_lanes()->set_lane(static_cast<uint32_t>(i));
          chunk.mutable_chunk()->set_last(i + 1 == request.collect().instants_worker_ns_size());
          sink.Send(std::move(chunk));
        }
        break;
      default:
        event.mutable_problem()->set_message("not a request that the echo worker knows");
        sink.Send(std::move(event));
    }
  }

  void AnswerLater() {
    while (auto answer = later_.PopUntil(INT64_MAX)) {
      if (*answer == nullptr) return;
      (*answer)();
    }
  }

  const std::string host_;
  std::atomic<int> shutdown_count_ = 0;
  std::atomic<bool> lease_is_over_ = false;
  WaitQueue<std::function<void()>> later_;
  WaitQueue<bool> idle_;
  std::thread thread_;
};

}  // namespace iobench

#endif  // TESTS_UNIT_TRANSPORT_ECHO_WORKER_H_
