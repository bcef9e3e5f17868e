#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "common/transport/inprocess_transport.h"
#include "tests/unit/transport_echo_worker.h"
#include "tests/unit/transport_take.h"

namespace iobench {
namespace {

class InProcessRig {
 public:
  static constexpr int kManyWorkers = 100;

  explicit InProcessRig(int worker_count) {
    std::vector<WorkerHandler*> handlers;
    for (int i = 0; i < worker_count; ++i) {
      handlers.push_back(&workers_.emplace_back("echo-" + std::to_string(i)));
    }
    transport_.emplace(handlers);
  }
  int worker_count() const { return static_cast<int>(workers_.size()); }
  Transport& transport() { return *transport_; }
  absl::Status Leave(const std::string& reason) {
    PostLeaveAndTakeLeft(*transport_, worker_count(), reason);
    for (const EchoWorker& worker : workers_) CHECK(worker.shutdown_count() == 1);
    return absl::OkStatus();
  }

 private:
  std::deque<EchoWorker> workers_;
  std::optional<InProcessTransport> transport_;
};

}  // namespace
}  // namespace iobench

#define TRANSPORT_RIGS InProcessRig
#include "tests/unit/transport_suite.h"

namespace iobench {
namespace {

TEST_CASE("workers in this process that were not told to leave are shut down with the transport",
          "[transport]") {
  EchoWorker told("told");
  EchoWorker forgotten("forgotten");
  {
    WorkerHandler* const handlers[] = {&told, &forgotten};
    InProcessTransport transport(handlers);
    v1::WorkerRequest leave = Request(1);
    leave.mutable_leave();
    REQUIRE(transport.Post(0, leave).ok());
    CHECK(absl::IsUnavailable(transport.Post(0, leave)));
    CHECK(told.shutdown_count() == 1);
    CHECK(forgotten.shutdown_count() == 0);
  }
  CHECK(told.shutdown_count() == 1);
  CHECK(forgotten.shutdown_count() == 1);
}

TEST_CASE("a push wakes the waiting thread long before its nap is over", "[transport]") {
  WaitQueue<int> queue;
  std::thread pusher([&queue] { queue.Push(5); });
  const int64_t nap_ns = 3'600'000'000'000;  // a missed push would hang the test for an hour
  CHECK(queue.PopUntil(MonotonicNowNs() + nap_ns) == 5);
  pusher.join();
  CHECK(queue.TryPop() == std::nullopt);
}

}  // namespace
}  // namespace iobench
