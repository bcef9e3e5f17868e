#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/worker_session.h"
#include "common/unique_fd.h"
#include "tests/unit/transport_echo_worker.h"
#include "tests/unit/transport_take.h"

namespace iobench {
namespace {

// Stands between a worker and the coordinator, one connection at a time, and can break it with a reset.
class BreakingProxy {
 public:
  explicit BreakingProxy(int port) : port_(port), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name = Loopback(0);
    REQUIRE(bind(listener_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    REQUIRE(listen(listener_.get(), 8) == 0);
    socklen_t bytes = sizeof name;
    REQUIRE(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name), &bytes) == 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(name.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~BreakingProxy() {
    stop_ = true;
    thread_.join();
  }
  const std::string& address() const { return address_; }
  int connections() const { return connections_; }
  void Break() {
    const int before = breaks_;
    break_ = true;
    while (breaks_ == before) usleep(1000);
  }

 private:
  static sockaddr_in Loopback(int port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(static_cast<uint16_t>(port));
    return name;
  }

  static void Reset(UniqueFd fd) {
    const linger at_once{1, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

  static bool Pump(int from, int to) {
    char data[4096];
    const ssize_t got = recv(from, data, sizeof data, 0);
    return got > 0 && send(to, data, static_cast<size_t>(got), MSG_NOSIGNAL) == got;
  }

  void Serve() {
    UniqueFd near, far;
    while (!stop_) {
      pollfd polled[] = {{listener_.get(), POLLIN, 0}, {near.get(), POLLIN, 0}, {far.get(), POLLIN, 0}};
      poll(polled, near.valid() ? 3 : 1, 5);
      bool open = near.valid();
      if (open && polled[1].revents != 0) open = Pump(near.get(), far.get());
      if (open && polled[2].revents != 0) open = Pump(far.get(), near.get());
      const bool breaks = break_.exchange(false);
      if (near.valid() && (!open || breaks)) {
        Reset(std::move(near));
        Reset(std::move(far));
      }
      if (breaks) ++breaks_;
      if (polled[0].revents == 0 || near.valid()) continue;
      near = UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      far = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_in name = Loopback(port_);
      if (connect(far.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
        Reset(std::move(near));  // REQUIRE is only for the test's thread, which misses this connection
        continue;
      }
      ++connections_;
    }
  }

  const int port_;
  UniqueFd listener_;
  std::string address_;
  std::atomic<bool> stop_{false}, break_{false};
  std::atomic<int> connections_{0}, breaks_{0};
  std::thread thread_;
};

v1::WorkerRequest PingWith(uint64_t call_id, uint32_t lease_ms) {
  v1::WorkerRequest request;
  request.set_call_id(call_id);
  request.mutable_ping()->set_lease_ms(lease_ms);
  return request;
}

struct Rig {
  // A worker may come back by another queue than before.
  explicit Rig(const GrpcWorkerOptions& options = {}, GrpcListenOptions listen_options = {}) {
    listen_options.serving_threads = GENERATE(1u, 4u);
    auto made = GrpcCoordinator::Listen("127.0.0.1:0", listen_options);
    REQUIRE(made.ok());
    coordinator = *std::move(made);
    const std::string& bound = coordinator->bound_address();
    int port = 0;
    REQUIRE(absl::SimpleAtoi(bound.substr(bound.rfind(':') + 1), &port));
    proxy = std::make_unique<BreakingProxy>(port);
    thread = std::thread([this, options] { status = RunGrpcWorker(proxy->address(), worker, options); });
    ReceiveJoined(*coordinator, 1);
  }
  ~Rig() {
    coordinator.reset();
    if (thread.joinable()) thread.join();
  }

  EchoWorker worker{"echo"};
  std::unique_ptr<GrpcCoordinator> coordinator;
  std::unique_ptr<BreakingProxy> proxy;
  absl::Status status;
  std::thread thread;
};

// Returns the events until all of these calls are answered; counts how often the worker came back.
int ReconnectsUntilAnswered(Transport& transport, uint64_t first_call, uint64_t last_call) {
  int reconnects = 0;
  uint64_t expected = first_call;
  while (expected <= last_call) {
    const auto event = transport.WaitEvent(CoordNow() + 30 * kNanosPerSecond);
    REQUIRE(event.ok());
    if (event->event.has_reconnected()) {
      ++reconnects;
      continue;
    }
    INFO(event->event.ShortDebugString());
    REQUIRE(event->event.call_id() == expected);  // each once, and in order
    ++expected;
  }
  return reconnects;
}

TEST_CASE("a worker whose connection breaks comes back within its lease, and no message is lost or doubled",
          "[transport]") {
  Rig rig;
  constexpr uint64_t kCalls = 300;
  int reconnects = 0;
  REQUIRE(rig.coordinator->Post(0, PingWith(1, 30'000)).ok());  // its lease
  ReconnectsUntilAnswered(*rig.coordinator, 1, 1);
  uint64_t answered = 1;
  for (uint64_t call = 2; call <= kCalls; ++call) {
    REQUIRE(rig.coordinator->Post(0, PingWith(call, 30'000)).ok());
    // Requests and answers are under way.
    if (call % 100 == 50) rig.proxy->Break();
    if (call % 100 != 0) continue;
    reconnects += ReconnectsUntilAnswered(*rig.coordinator, answered + 1, call);
    answered = call;
  }
  CHECK(reconnects == 3);
  CHECK(rig.proxy->connections() == 4);
  PostLeaveAndTakeLeft(*rig.coordinator, 1, "");
  rig.thread.join();
  CHECK(rig.status.ok());
}

TEST_CASE("a worker that comes back does not read its credentials again", "[transport]") {
  std::atomic<bool> replaced{false};  // as by the next coordinator, with another certificate
  const auto security = MakeJoinSecurity(*ParseGrpcAddress("127.0.0.1:0"), {.token = "a-token-of-the-user"});
  REQUIRE(security.ok());
  GrpcWorkerOptions options;
  options.credentials = [&]() -> absl::StatusOr<JoinCredentials> {
    if (replaced) return absl::NotFoundError("the file of the coordinator that it joined is gone");
    return security->for_workers;
  };
  Rig rig(options, {.security = *security});
  REQUIRE(rig.coordinator->Post(0, PingWith(1, 30'000)).ok());  // its lease
  ReconnectsUntilAnswered(*rig.coordinator, 1, 1);
  replaced = true;
  rig.proxy->Break();
  REQUIRE(rig.coordinator->Post(0, PingWith(2, 30'000)).ok());
  CHECK(ReconnectsUntilAnswered(*rig.coordinator, 2, 2) == 1);
  PostLeaveAndTakeLeft(*rig.coordinator, 1, "");
}

TEST_CASE("without a lease, a broken connection loses the worker at once", "[transport]") {
  Rig rig;
  REQUIRE(rig.coordinator->Post(0, PingWith(1, 0)).ok());
  ReconnectsUntilAnswered(*rig.coordinator, 1, 1);
  rig.proxy->Break();
  const auto event = rig.coordinator->WaitEvent(CoordNow() + 30 * kNanosPerSecond);
  REQUIRE(event.ok());
  CHECK(event->event.has_lost());
  rig.thread.join();
  CHECK(absl::IsUnavailable(rig.status));
}

TEST_CASE("a worker whose connection breaks before its lease has arrived is lost at once", "[transport]") {
  Rig rig;
  rig.proxy->Break();
  for (uint64_t call = 1; call <= 50 && rig.coordinator->Post(0, PingWith(call, 600'000)).ok(); ++call) {
  }
  // At once, not after ten minutes. If the lease arrived before the break, the worker comes back and answers.
  const auto event = rig.coordinator->WaitEvent(CoordNow() + 30 * kNanosPerSecond);
  CHECK(event.ok());
}

// Takes events until one says that the worker is lost.
std::string ReasonOfLoss(Transport& transport) {
  while (true) {
    const auto event = transport.WaitEvent(CoordNow() + 30 * kNanosPerSecond);
    REQUIRE(event.ok());
    if (event->event.has_lost()) return event->event.lost().reason();
  }
}

TEST_CASE("a worker whose event is too large is lost at once, in spite of its lease",
          "[transport][security]") {
  Rig rig({}, {.max_event_bytes = 100'000});
  REQUIRE(rig.coordinator->Post(0, PingWith(1, 600'000)).ok());
  ReconnectsUntilAnswered(*rig.coordinator, 1, 1);
  v1::WorkerRequest inspect;
  inspect.set_call_id(2);
  inspect.mutable_inspect()->add_targets()->set_path(std::string(200'000, 'x'));
  REQUIRE(rig.coordinator->Post(0, inspect).ok());
  CHECK(ReasonOfLoss(*rig.coordinator).find("too large") != std::string::npos);
  rig.thread.join();
  CHECK_FALSE(rig.status.ok());
}

TEST_CASE("a worker that sends more than it was asked for is lost", "[transport][security]") {
  Rig rig({}, {.max_event_bytes = 100'000});
  REQUIRE(rig.coordinator->Post(0, PingWith(1, 600'000)).ok());
  ReconnectsUntilAnswered(*rig.coordinator, 1, 1);
  v1::WorkerRequest collect;  // answered in as many events
  collect.set_call_id(2);
  for (int i = 0; i < 20'000; ++i) collect.mutable_collect()->add_instants_worker_ns(i);
  REQUIRE(rig.coordinator->Post(0, collect).ok());
  // Nothing is taken before the worker is lost.
  const CoordTime give_up = CoordNow() + 60 * kNanosPerSecond;
  while (rig.coordinator->Post(0, PingWith(3, 600'000)).ok() && CoordNow() < give_up) usleep(10'000);
  const std::string reason = ReasonOfLoss(*rig.coordinator);
  INFO(reason);
  const bool was_not_asked = reason.find("more than it was asked for") != std::string::npos;
  // On a slow machine, what it was allowed to send fills the queue first.
  CHECK((was_not_asked || reason.find("were waiting to be handled") != std::string::npos));
  rig.thread.join();
  CHECK_FALSE(rig.status.ok());
}

TEST_CASE("a worker that does not come back within its lease is lost, once", "[transport]") {
  Rig rig;
  REQUIRE(rig.coordinator->Post(0, PingWith(1, 300)).ok());
  ReconnectsUntilAnswered(*rig.coordinator, 1, 1);
  rig.proxy.reset();
  const auto event = rig.coordinator->WaitEvent(CoordNow() + 30 * kNanosPerSecond);
  REQUIRE(event.ok());
  REQUIRE(event->event.has_lost());
  CHECK(event->event.lost().reason().find("did not come back within 300 ms") != std::string::npos);
  CHECK_FALSE(rig.coordinator->Post(0, PingWith(2, 300)).ok());
  CHECK_FALSE(rig.coordinator->WaitEvent(CoordNow() + kNanosPerSecond / 2).ok());
  rig.thread.join();
  CHECK(absl::IsUnavailable(rig.status));
}

TEST_CASE("events that wait to be handled may not take more than their limit", "[transport][security]") {
  struct NoStream final : SessionStream {
    void Kick() override {}
    void Cancel() override {}
  };
  SessionEvents events;
  WorkerSession session(0, "10.0.0.7:4242", true, 1000, events);
  const auto stream = std::make_shared<NoStream>();
  REQUIRE(session.Attach(stream, 0, CoordNow()).ok());
  REQUIRE(session.Receive(*stream, {{}, 600}, CoordNow()).ok());
  CHECK(absl::IsResourceExhausted(session.Receive(*stream, {{}, 600}, CoordNow())));
  session.RecordTaken(*events.TryPop());
  CHECK(session.Receive(*stream, {{}, 600}, CoordNow()).ok());
}

}  // namespace
}  // namespace iobench
