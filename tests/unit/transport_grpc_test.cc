#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc_address.h"
#include "tests/unit/transport_echo_worker.h"
#include "tests/unit/transport_take.h"

namespace iobench {
namespace {

// A socket path that no other test uses.
std::string FreshSocket() {
  static int count = 0;
  return "unix:" + (std::filesystem::temp_directory_path() /
                    ("iobench-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".sock"))
                       .string();
}

// Containers often have none.
bool HostHasIpv6() {
  const int descriptor = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  const bool has_it = bind(descriptor, reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) == 0;
  close(descriptor);
  return has_it;
}

std::unique_ptr<GrpcCoordinator> ListenOn(const std::string& address) {
  auto coordinator = GrpcCoordinator::Listen(address, {});
  REQUIRE(coordinator.ok());
  return *std::move(coordinator);
}

// All workers in one thread's RunGrpcWorkers, a connection each.
class GrpcRig {
 public:
  static constexpr int kManyWorkers = 50;

  GrpcRig(int worker_count, const std::string& address) : coordinator_(ListenOn(address)) {
    for (int i = 0; i < worker_count; ++i) {
      handlers_.push_back(&workers_.emplace_back("echo-" + std::to_string(i)));
    }
    thread_ = std::thread([this] { status_ = RunGrpcWorkers(coordinator_->bound_address(), handlers_, {}); });
  }
  ~GrpcRig() {
    coordinator_.reset();  // a test that failed before Leave ends here too
    if (thread_.joinable()) thread_.join();
  }
  int worker_count() const { return static_cast<int>(workers_.size()); }
  Transport& transport() { return *coordinator_; }
  absl::Status Leave(const std::string& reason) {
    PostLeaveAndTakeLeft(*coordinator_, worker_count(), reason);
    thread_.join();
    for (const EchoWorker& worker : workers_) CHECK(worker.shutdown_count() == 1);
    return status_;
  }

 private:
  std::unique_ptr<GrpcCoordinator> coordinator_;
  std::deque<EchoWorker> workers_;
  std::vector<WorkerHandler*> handlers_;
  absl::Status status_;
  std::thread thread_;
};

struct GrpcUnixRig : GrpcRig {
  explicit GrpcUnixRig(int worker_count) : GrpcRig(worker_count, FreshSocket()) {}
};
struct GrpcLoopbackRig : GrpcRig {
  explicit GrpcLoopbackRig(int worker_count) : GrpcRig(worker_count, "127.0.0.1:0") {}
};

}  // namespace
}  // namespace iobench

#define TRANSPORT_RIGS GrpcUnixRig, GrpcLoopbackRig
#define TRANSPORT_RIGS_WITH_WORKER_END TRANSPORT_RIGS
#include "tests/unit/transport_suite.h"

namespace iobench {
namespace {

// Run by "a killed worker process is reported lost exactly once" in a process of its own.
TEST_CASE("child: a worker that waits to be killed", "[.child]") {
  EchoWorker worker("child");
  RunGrpcWorker(std::getenv("IOBENCH_TEST_JOIN"), worker, {}).IgnoreError();
}

TEST_CASE("a killed worker process is reported lost exactly once", "[transport]") {
  auto coordinator = ListenOn(FreshSocket());
  setenv("IOBENCH_TEST_JOIN", coordinator->bound_address().c_str(), 1);
  const char* const arguments[] = {"transport_grpc_test", "child: a worker that waits to be killed", nullptr};
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments), environ) ==
          0);
  TakeJoined(*coordinator, 1);
  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);

  const ReceivedEvent event = NextEvent(*coordinator);
  CHECK(event.worker == 0);
  REQUIRE(event.event.has_lost());
  CHECK_FALSE(event.event.lost().reason().empty());
  v1::WorkerRequest ping = Request(1);
  ping.mutable_ping();
  CHECK(absl::IsUnavailable(coordinator->Post(0, ping)));
  CHECK(absl::IsDeadlineExceeded(coordinator->WaitEvent(CoordNow() + 20'000'000).status()));
}

TEST_CASE("a worker that is stopped hangs up and is lost; the others go on", "[transport]") {
  auto coordinator = ListenOn("127.0.0.1:0");
  EchoWorker stopped("stopped");
  EchoWorker steady("steady");
  std::atomic<bool> stop = false;
  absl::Status stopped_status;
  absl::Status steady_status;
  std::thread stopped_thread([&] {
    GrpcWorkerOptions options;
    options.stop = &stop;
    stopped_status = RunGrpcWorker(coordinator->bound_address(), stopped, options);
  });
  std::thread steady_thread([&] { steady_status = RunGrpcWorker(coordinator->bound_address(), steady, {}); });
  const auto joined = TakeJoined(*coordinator, 2);
  const WorkerId stopped_id = joined.at(0).event.joined().host() == "stopped" ? 0 : 1;
  stop = true;
  stopped_thread.join();
  CHECK(absl::IsCancelled(stopped_status));
  CHECK(stopped.shutdown_count() == 1);
  const ReceivedEvent lost = NextEvent(*coordinator);
  CHECK(lost.event.has_lost());
  CHECK(lost.worker == stopped_id);

  v1::WorkerRequest leave = Request(1);
  leave.mutable_leave();
  REQUIRE(coordinator->Post(1 - stopped_id, leave).ok());
  const ReceivedEvent left = NextEvent(*coordinator);
  CHECK(left.event.has_left());
  CHECK(left.worker == 1 - stopped_id);
  steady_thread.join();
  CHECK(steady_status.ok());
}

TEST_CASE("a worker whose coordinator vanishes ends with Unavailable", "[transport]") {
  auto coordinator = ListenOn("127.0.0.1:0");
  EchoWorker worker("left alone");
  absl::Status status;
  std::thread thread(
      [&, address = coordinator->bound_address()] { status = RunGrpcWorker(address, worker, {}); });
  TakeJoined(*coordinator, 1);
  coordinator.reset();
  thread.join();
  CHECK(absl::IsUnavailable(status));
  CHECK(worker.shutdown_count() == 1);
}

TEST_CASE("what was posted before the coordinator ended still arrives", "[transport]") {
  auto coordinator = ListenOn(FreshSocket());
  EchoWorker worker("polite");
  absl::Status status = absl::UnknownError("");
  std::thread thread(
      [&, address = coordinator->bound_address()] { status = RunGrpcWorker(address, worker, {}); });
  TakeJoined(*coordinator, 1);
  v1::WorkerRequest leave = Request(1);
  leave.mutable_leave();
  REQUIRE(coordinator->Post(0, leave).ok());
  coordinator.reset();
  thread.join();
  CHECK(status.ok());
}

TEST_CASE("a worker that is early waits for its coordinator", "[transport]") {
  const std::string address = FreshSocket();
  EchoWorker worker("early");
  absl::Status status = absl::UnknownError("");
  std::thread thread([&] { status = RunGrpcWorker(address, worker, {}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it has been refused by then
  auto coordinator = ListenOn(address);
  TakeJoined(*coordinator, 1);
  PostLeaveAndTakeLeft(*coordinator, 1, "");
  thread.join();
  CHECK(status.ok());
}

TEST_CASE("a worker without a coordinator gives up after its join timeout and says why", "[transport]") {
  EchoWorker worker("alone");
  GrpcWorkerOptions options;
  options.join_timeout_s = 0.5;
  const std::string address = FreshSocket();
  const absl::Status status = RunGrpcWorker(address, worker, options);
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("no coordinator at " + address + " within 0.5 s"));
  CHECK_THAT(std::string(status.message()), Catch::Contains("No such file or directory"));
  CHECK(worker.shutdown_count() == 1);
}

TEST_CASE("only loopback and Unix sockets are listened on without --insecure", "[transport]") {
  for (const char* address : {":0", "0.0.0.0:0", "[::]:0", "example.org:0", "10.0.0.1:0"}) {
    INFO(address);
    const auto coordinator = GrpcCoordinator::Listen(address, {});
    REQUIRE(absl::IsFailedPrecondition(coordinator.status()));
    CHECK_THAT(
        std::string(coordinator.status().message()),
        Catch::Contains("no TLS yet: use --insecure on a trusted network or a loopback/Unix-socket address"));
  }
  CHECK(GrpcCoordinator::Listen("127.0.0.1:0", {}).ok());
  CHECK(GrpcCoordinator::Listen("localhost:0", {}).ok());
  if (HostHasIpv6()) CHECK(GrpcCoordinator::Listen("[::1]:0", {}).ok());
}

TEST_CASE("listening on all interfaces lets workers in over IPv4 and IPv6", "[transport]") {
  GrpcListenOptions options;
  options.insecure = true;
  auto coordinator = GrpcCoordinator::Listen(":0", options);
  REQUIRE(coordinator.ok());
  const std::string bound = (*coordinator)->bound_address();
  REQUIRE(bound.front() == ':');
  EchoWorker over_ipv4("over IPv4");
  EchoWorker over_ipv6("over IPv6");
  const std::string second_way = HostHasIpv6() ? "[::1]" + bound : bound;
  std::thread ipv4([&] { RunGrpcWorker("127.0.0.1" + bound, over_ipv4, {}).IgnoreError(); });
  std::thread ipv6([&] { RunGrpcWorker(second_way, over_ipv6, {}).IgnoreError(); });
  TakeJoined(**coordinator, 2);
  PostLeaveAndTakeLeft(**coordinator, 2, "");
  ipv4.join();
  ipv6.join();
}

TEST_CASE("a port in use is refused, not shared", "[transport]") {
  const auto first = ListenOn("127.0.0.1:0");
  CHECK(absl::IsUnavailable(GrpcCoordinator::Listen(first->bound_address(), {}).status()));
}

TEST_CASE("addresses are taken apart as people write them", "[transport]") {
  CHECK(ParseGrpcAddress("unix:/run/x.sock")->unix_path == "/run/x.sock");
  CHECK(ParseGrpcAddress("coord:9400")->host == "coord");
  CHECK(ParseGrpcAddress("coord:9400")->port == 9400);
  CHECK(ParseGrpcAddress("[::1]:9400")->host == "::1");
  CHECK(ParseGrpcAddress("[::1]:9400")->ForPeople() == "[::1]:9400");
  CHECK(ParseGrpcAddress(":9400")->ToListen() == "[::]:9400");
  CHECK(ParseGrpcAddress(":9400")->ToDial() == "localhost:9400");
  for (const char* bad :
       {"", "coord", "coord:", "coord:x", "coord:65536", "::1:9400", "unix:", "a/b:1", "[::1]"}) {
    INFO(bad);
    CHECK(absl::IsInvalidArgument(ParseGrpcAddress(bad).status()));
  }
  CHECK(absl::IsInvalidArgument(ParseGrpcAddress("unix:/" + std::string(200, 'x')).status()));
  CHECK(PeerForPeople("ipv6:%5B::1%5D:4242") == "[::1]:4242");
  CHECK(PeerForPeople("ipv4:10.0.0.1:4242") == "10.0.0.1:4242");
  CHECK(PeerForPeople("unix:") == "unix socket");
}

}  // namespace
}  // namespace iobench
