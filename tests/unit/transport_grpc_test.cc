#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/transport/event_queue.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/listening_sockets.h"
#include "common/transport/grpc_address.h"
#include "common/unique_fd.h"
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

// Containers often have no IPv6.
bool HostHasIpv6() {
  const int descriptor = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  const bool has_it = bind(descriptor, reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) == 0;
  close(descriptor);
  return has_it;
}

// Only this host can reach it, but the program treats it like an address that others can reach.
std::string TlsAddress() {
  return HostHasIpv6() ? "[::ffff:127.0.0.1]:0" : ":0";
}

std::unique_ptr<GrpcCoordinator> ListenOn(const std::string& address, const GrpcListenOptions& options = {}) {
  auto coordinator = GrpcCoordinator::Listen(address, options);
  REQUIRE(coordinator.ok());
  return *std::move(coordinator);
}

// For workers that get a token, and a certificate if the address needs one.
JoinSecurity SecurityFor(const std::string& address) {
  auto security = MakeJoinSecurity(*ParseGrpcAddress(address), {.needs_token = true});
  REQUIRE(security.ok());
  return *std::move(security);
}

GrpcWorkerOptions With(const JoinCredentials& credentials) {
  GrpcWorkerOptions options;
  options.join_timeout_s = 30;
  options.credentials = [credentials] { return credentials; };
  return options;
}

// All workers in one thread's RunGrpcWorkers, a connection each.
class GrpcRig {
 public:
  static constexpr int kManyWorkers = 50;

  explicit GrpcRig(int worker_count, const std::string& address, const GrpcListenOptions& listen_options = {},
                   const GrpcWorkerOptions& worker_options = {})
      : coordinator_(ListenOn(address, listen_options)), worker_options_(worker_options) {
    for (int i = 0; i < worker_count; ++i) {
      handlers_.push_back(&workers_.emplace_back("echo-" + std::to_string(i)));
    }
    thread_ = std::thread(
        [this] { status_ = RunGrpcWorkers(coordinator_->bound_address(), handlers_, worker_options_); });
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
  const GrpcWorkerOptions worker_options_;
  std::deque<EchoWorker> workers_;
  std::vector<WorkerHandler*> handlers_;
  absl::Status status_;
  std::thread thread_;
};

// A worker joins, and leaves when it is told to.
void JoinAndLeave(GrpcCoordinator& coordinator, const GrpcWorkerOptions& options = {}) {
  EchoWorker worker("welcome");
  absl::Status status = absl::UnknownError("");
  std::thread thread(
      [&, address = coordinator.bound_address()] { status = RunGrpcWorker(address, worker, options); });
  ReceiveJoined(coordinator, 1);
  PostLeaveAndTakeLeft(coordinator, 1, "");
  thread.join();
  CHECK(status.ok());
}

struct GrpcUnixRig : GrpcRig {
  explicit GrpcUnixRig(int worker_count) : GrpcRig(worker_count, FreshSocket()) {}
};
struct GrpcLoopbackRig : GrpcRig {
  explicit GrpcLoopbackRig(int worker_count) : GrpcRig(worker_count, "127.0.0.1:0") {}
};
// On all interfaces: with the run's certificate and token.
struct GrpcTlsRig : GrpcRig {
  explicit GrpcTlsRig(int worker_count, const JoinSecurity& security = SecurityFor(TlsAddress()),
                      uint32_t serving_threads = 0)
      : GrpcRig(worker_count, TlsAddress(),
                {.security = security,
                 .expected_workers = static_cast<uint32_t>(worker_count),
                 .serving_threads = serving_threads},
                With(security.for_workers)) {}
};
// As with many workers on many processors.
struct GrpcThreadsRig : GrpcTlsRig {
  explicit GrpcThreadsRig(int worker_count) : GrpcTlsRig(worker_count, SecurityFor(TlsAddress()), 4) {}
};

}  // namespace
}  // namespace iobench

#define TRANSPORT_RIGS GrpcUnixRig, GrpcLoopbackRig, GrpcTlsRig, GrpcThreadsRig
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
  ReceiveJoined(*coordinator, 1);
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
  const auto joined = ReceiveJoined(*coordinator, 2);
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
  ReceiveJoined(*coordinator, 1);
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
  ReceiveJoined(*coordinator, 1);
  v1::WorkerRequest leave = Request(1);
  leave.mutable_leave();
  REQUIRE(coordinator->Post(0, leave).ok());
  coordinator.reset();
  thread.join();
  CHECK(status.ok());
}

// Listens at a Unix socket in place of a coordinator, waits for one connection, and leaves nothing behind.
void AcceptOneConnection(const std::string& address) {
  const std::string path = address.substr(std::string("unix:").size());
  struct sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof name.sun_path);
  path.copy(name.sun_path, path.size());
  const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  REQUIRE(listen(listener.get(), 1) == 0);
  const UniqueFd connection(accept(listener.get(), nullptr, nullptr));
  REQUIRE(connection.valid());
  REQUIRE(unlink(path.c_str()) == 0);
}

TEST_CASE("a worker that is early waits for its coordinator", "[transport]") {
  const std::string address = FreshSocket();
  EchoWorker worker("early");
  absl::Status status = absl::UnknownError("");
  std::thread thread([&] { status = RunGrpcWorker(address, worker, {}); });
  AcceptOneConnection(address);  // from here on, it has tried and failed
  auto coordinator = ListenOn(address);
  ReceiveJoined(*coordinator, 1);
  PostLeaveAndTakeLeft(*coordinator, 1, "");
  thread.join();
  CHECK(status.ok());
}

TEST_CASE("a worker without a coordinator gives up after its join timeout and says why", "[transport]") {
  EchoWorker worker("alone");
  GrpcWorkerOptions options;
  options.join_timeout_s = 3;
  const std::string address = FreshSocket();
  const absl::Status status = RunGrpcWorker(address, worker, options);
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(std::string(status.message()), Catch::Contains("no coordinator at " + address + " within 3 s"));
  CHECK_THAT(std::string(status.message()), Catch::Contains("No such file or directory"));
  CHECK(worker.shutdown_count() == 1);
}

TEST_CASE("only loopback and Unix sockets are listened on without TLS or --insecure", "[transport]") {
  for (const char* address : {":0", "0.0.0.0:0", "[::]:0", "example.org:0", "10.0.0.1:0"}) {
    INFO(address);
    const auto coordinator = GrpcCoordinator::Listen(address, {});
    REQUIRE(absl::IsFailedPrecondition(coordinator.status()));
    CHECK_THAT(std::string(coordinator.status().message()),
               Catch::Contains("other hosts can reach it, so it needs TLS"));
  }
  CHECK(GrpcCoordinator::Listen("127.0.0.1:0", {}).ok());
  CHECK(GrpcCoordinator::Listen("localhost:0", {}).ok());
  if (HostHasIpv6()) CHECK(GrpcCoordinator::Listen("[::1]:0", {}).ok());
}

TEST_CASE("more workers in a process than dial at a time all join, over TLS on loopback too", "[transport]") {
  constexpr int kWorkers = 150;
  const JoinSecurity security = SecurityFor("127.0.0.1:0");
  GrpcRig rig(kWorkers, "127.0.0.1:0", {.security = security, .expected_workers = kWorkers}, With(security.for_workers));
  ReceiveJoined(rig.transport(), kWorkers);
  REQUIRE(rig.Leave("").ok());
}

TEST_CASE("listening on all interfaces lets workers in over IPv4 and IPv6", "[transport]") {
  GrpcListenOptions options;
  options.security.insecure = true;
  auto coordinator = GrpcCoordinator::Listen(":0", options);
  REQUIRE(coordinator.ok());
  const std::string bound = (*coordinator)->bound_address();
  REQUIRE(bound.front() == ':');
  EchoWorker over_ipv4("over IPv4");
  EchoWorker over_ipv6("over IPv6");
  const std::string second_way = HostHasIpv6() ? "[::1]" + bound : bound;
  std::thread ipv4([&] { RunGrpcWorker("127.0.0.1" + bound, over_ipv4, {}).IgnoreError(); });
  std::thread ipv6([&] { RunGrpcWorker(second_way, over_ipv6, {}).IgnoreError(); });
  ReceiveJoined(**coordinator, 2);
  PostLeaveAndTakeLeft(**coordinator, 2, "");
  ipv4.join();
  ipv6.join();
}

TEST_CASE("a port in use is refused, not shared", "[transport]") {
  const auto first = ListenOn("127.0.0.1:0");
  CHECK(absl::IsUnavailable(GrpcCoordinator::Listen(first->bound_address(), {}).status()));
}

// Joins with these options in vain, and returns the worker's message.
std::string Refusal(const std::string& address, const GrpcWorkerOptions& options, absl::StatusCode code) {
  EchoWorker worker("stranger");
  const absl::Status status = RunGrpcWorker(address, worker, options);
  CHECK(status.code() == code);
  return std::string(status.message());
}

// The lines about connections that were turned away.
class Lines {
 public:
  std::function<void(const std::string&)> Taker() {
    return [this](const std::string& line) { lines_.Push(line); };
  }
  // Waits for a line with these words. A stranger may cause several lines, since it tries more than once.
  void WaitFor(const std::string& words) {
    std::optional<std::string> line;
    do {
      line = lines_.PopUntil(CoordNow().ns + kPatienceNs);
      INFO("no line with " << words);
      REQUIRE(line.has_value());
    } while (line->find(words) == std::string::npos);
  }

 private:
  WaitQueue<std::string> lines_;
};

TEST_CASE("strangers are told why they cannot join over TLS, and the run goes on", "[transport][security]") {
  Lines lines;
  const JoinSecurity security = SecurityFor(TlsAddress());
  auto coordinator = ListenOn(TlsAddress(), {.security = security, .on_turned_away = lines.Taker()});
  const std::string address = coordinator->bound_address();

  GrpcWorkerOptions wrong_token = With({*MakeToken(), security.for_workers.certificates_pem});
  CHECK_THAT(Refusal(address, wrong_token, absl::StatusCode::kUnauthenticated),
             Catch::Contains("the worker's token is not this run's"));
  lines.WaitFor("the worker's token is not this run's");

  const JoinSecurity other_run = SecurityFor(TlsAddress());
  GrpcWorkerOptions foreign = With({security.token, other_run.for_workers.certificates_pem});
  CHECK_THAT(Refusal(address, foreign, absl::StatusCode::kUnauthenticated),
             Catch::Contains("is not the one of this coordinator"));
  lines.WaitFor("TLS handshake failed");

  GrpcWorkerOptions plaintext;
  plaintext.join_timeout_s = 3;
  const std::string loopback = "127.0.0.1:" + std::to_string(ParseGrpcAddress(address)->port);
  CHECK_THAT(Refusal(loopback, plaintext, absl::StatusCode::kUnavailable), Catch::Contains("uses TLS"));
  lines.WaitFor("does not use TLS");

  JoinAndLeave(*coordinator, With(security.for_workers));  // nothing was heard of the others
}

TEST_CASE("a token is asked for on loopback and Unix sockets too, and travels over TLS", "[transport][security]") {
  for (const std::string& listen : {std::string("127.0.0.1:0"), FreshSocket()}) {
    INFO(listen);
    const JoinSecurity security = SecurityFor(listen);
    auto coordinator = ListenOn(listen, {.security = security});
    GrpcWorkerOptions plaintext;
    plaintext.join_timeout_s = 3;
    Refusal(coordinator->bound_address(), plaintext, absl::StatusCode::kUnavailable);
    GrpcWorkerOptions unprotected = With({security.token, ""});
    unprotected.join_timeout_s = 0;
    CHECK_THAT(Refusal(coordinator->bound_address(), unprotected, absl::StatusCode::kUnavailable),
               Catch::Contains("the token file has no certificate"));
    JoinAndLeave(*coordinator, With(security.for_workers));
  }
}

TEST_CASE("nobody joins a run that is closed, and its worker is told why", "[transport][security]") {
  Lines lines;
  std::atomic<bool> closed = true;
  const JoinSecurity security = SecurityFor("127.0.0.1:0");
  auto coordinator = ListenOn("127.0.0.1:0", {.security = security,
                                              .why_closed = [&](uint64_t) { return std::string(closed ? "it is over" : ""); },
                                              .on_turned_away = lines.Taker()});
  CHECK_THAT(Refusal(coordinator->bound_address(), With(security.for_workers), absl::StatusCode::kUnauthenticated),
             Catch::Contains("it is over"));
  lines.WaitFor("was turned away: it is over");
  closed = false;
  JoinAndLeave(*coordinator, With(security.for_workers));
}

TEST_CASE("wrong tokens are looked at slowly, and a right one is still found among them", "[transport][security]") {
  Lines lines;
  const JoinSecurity security = SecurityFor("127.0.0.1:0");
  auto coordinator = ListenOn("127.0.0.1:0", {.security = security, .on_turned_away = lines.Taker()});
  const GrpcWorkerOptions wrong = With({*MakeToken(), security.for_workers.certificates_pem});
  std::atomic<bool> guesses = true;
  std::vector<std::thread> guessers;
  for (int i = 0; i < 8; ++i) {
    guessers.emplace_back([&] {
      EchoWorker worker("guesser");
      while (guesses) RunGrpcWorker(coordinator->bound_address(), worker, wrong).IgnoreError();
    });
  }
  lines.WaitFor("too many wrong tokens came from its address");
  JoinAndLeave(*coordinator, With(security.for_workers));
  guesses = false;
  for (std::thread& guesser : guessers) guesser.join();
}

TEST_CASE("a worker that is given the next run's credentials in time joins it", "[transport][security]") {
  const JoinSecurity security = SecurityFor(TlsAddress());
  auto coordinator = ListenOn(TlsAddress(), {.security = security});
  const JoinCredentials old = {*MakeToken(), SecurityFor(TlsAddress()).for_workers.certificates_pem};
  std::atomic<int> reads = 0;
  GrpcWorkerOptions options;
  options.join_timeout_s = 60;
  // The file is replaced while the first attempt is under way.
  options.credentials = [&] { return reads++ == 0 ? old : security.for_workers; };
  JoinAndLeave(*coordinator, options);
}

TEST_CASE("nothing is sent to another host without protection unless --insecure says so",
          "[transport][security]") {
  GrpcWorkerOptions options;
  options.join_timeout_s = 0;
  CHECK_THAT(
      Refusal("192.0.2.1:9400", options, absl::StatusCode::kInvalidArgument),
      Catch::Contains("nothing protects a connection to 192.0.2.1:9400") && Catch::Contains("--insecure"));
  GrpcWorkerOptions no_certificate = With({*MakeToken(), ""});
  no_certificate.join_timeout_s = 0;
  CHECK_THAT(Refusal("192.0.2.1:9400", no_certificate, absl::StatusCode::kUnavailable),
             Catch::Contains("the token file has no certificate"));
  no_certificate.insecure = true;
  CHECK_THAT(Refusal("192.0.2.1:9400", no_certificate, absl::StatusCode::kInvalidArgument),
             Catch::Contains("cannot be combined with --token-file"));
}

// A connection to the port of `address` on loopback that says `words`.
UniqueFd Connection(const std::string& address, const std::string& words = "") {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<uint16_t>(ParseGrpcAddress(address)->port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(connect(connection.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  REQUIRE(write(connection.get(), words.data(), words.size()) == static_cast<ssize_t>(words.size()));
  return connection;
}

// Waits until the other end has closed the connection.
bool IsClosed(const UniqueFd& connection) {
  timeval patience{.tv_sec = kPatienceNs / kNanosPerSecond, .tv_usec = 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(connection.get(), buffer, sizeof buffer)) > 0) {
  }
  return got == 0 || errno == ECONNRESET;
}

TEST_CASE("the kernel probes idle connections of workers", "[transport]") {
  auto sockets = ListeningSockets::Open(*ParseGrpcAddress("127.0.0.1:0"));
  REQUIRE(sockets.ok());
  const UniqueFd dialled = Connection(sockets->bound().ToText());
  UniqueFd accepted;
  for (int i = 0; i < 10'000 && !accepted.valid(); ++i) {
    accepted = UniqueFd(accept4(sockets->sockets().front().get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted.valid()) usleep(1000);  // the listening socket does not block
  }
  REQUIRE(accepted.valid());
  const auto option = [&accepted](int level, int name) {
    int value = 0;
    socklen_t bytes = sizeof value;
    REQUIRE(getsockopt(accepted.get(), level, name, &value, &bytes) == 0);
    return value;
  };
  CHECK(option(SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(IPPROTO_TCP, TCP_KEEPIDLE) == 10);
  CHECK(option(IPPROTO_TCP, TCP_USER_TIMEOUT) == 30'000);
}

TEST_CASE("connections that do not become workers in time are closed", "[transport][security]") {
  constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings("\0\0\0\x04\0\0\0\0\0", 9);
  for (const bool tls : {false, true}) {
    INFO("TLS " << tls);
    Lines lines;
    const std::string address = tls ? TlsAddress() : "127.0.0.1:0";
    auto coordinator = ListenOn(
        address, {.security = SecurityFor(address), .join_within_s = 0.3, .on_turned_away = lines.Taker()});
    const UniqueFd silent = Connection(coordinator->bound_address());
    // A TLS record that promises 512 bytes, or HTTP/2 without a call.
    const UniqueFd slow = Connection(coordinator->bound_address(),
                                     tls ? std::string("\x16\x03\x01\x02\0\x01", 6) : kPreface + settings);
    CHECK(IsClosed(silent));
    CHECK(IsClosed(slow));
    lines.WaitFor("did not join within 300 ms");
  }
}

TEST_CASE("of too many connections that wait, the oldest are closed, and a worker still joins",
          "[transport][security]") {
  Lines lines;
  auto coordinator = ListenOn("127.0.0.1:0", {.join_within_s = 600, .on_turned_away = lines.Taker()});
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 400; ++i) silent.push_back(Connection(coordinator->bound_address()));
  lines.WaitFor("connections wait for their workers to join");
  CHECK(IsClosed(silent.front()));
  JoinAndLeave(*coordinator);
}

TEST_CASE("a worker that says too much of itself is sent away", "[transport][security]") {
  Lines lines;
  auto coordinator = ListenOn("127.0.0.1:0", {.on_turned_away = lines.Taker()});
  EchoWorker boaster(std::string(100'000, 'x'));
  GrpcWorkerOptions options;
  std::atomic<bool> stop = false;
  options.stop = &stop;
  std::thread thread([&] { RunGrpcWorker(coordinator->bound_address(), boaster, options).IgnoreError(); });
  lines.WaitFor("bytes about itself");
  stop = true;
  thread.join();
  CHECK(absl::IsDeadlineExceeded(coordinator->WaitEvent(CoordNow()).status()));
}

TEST_CASE("addresses are taken apart as people write them", "[transport]") {
  CHECK(ParseGrpcAddress("unix:/run/x.sock")->unix_path == "/run/x.sock");
  CHECK(ParseGrpcAddress("coord:9400")->host == "coord");
  CHECK(ParseGrpcAddress("coord:9400")->port == 9400);
  CHECK(ParseGrpcAddress("[::1]:9400")->host == "::1");
  CHECK(ParseGrpcAddress("[::1]:9400")->ToText() == "[::1]:9400");
  CHECK(ParseGrpcAddress(":9400")->ToListen() == "[::]:9400");
  CHECK(ParseGrpcAddress(":9400")->ToDial() == "localhost:9400");
  CHECK(ParseGrpcAddress("0.0.0.0:9400")->ToDial() == "127.0.0.1:9400");
  CHECK(ParseGrpcAddress("[::]:9400")->ToDial() == "[::1]:9400");
  for (const char* bad :
       {"", "coord", "coord:", "coord:x", "coord:65536", "::1:9400", "unix:", "a/b:1", "[::1]"}) {
    INFO(bad);
    CHECK(absl::IsInvalidArgument(ParseGrpcAddress(bad).status()));
  }
  CHECK(absl::IsInvalidArgument(ParseGrpcAddress("unix:/" + std::string(200, 'x')).status()));
  CHECK(PeerText("ipv6:%5B::1%5D:4242") == "[::1]:4242");
  CHECK(PeerText("ipv4:10.0.0.1:4242") == "10.0.0.1:4242");
  CHECK(PeerText("unix:") == "unix socket");
  CHECK(PeerText("unix-abstract:cluster-iobench/ab12/unix%20socket:7") == UnixPeerText(7));
  CHECK(PeerText("unix-abstract:cluster-iobench/ab12/10.0.0.1:4242") == "10.0.0.1:4242");
  CHECK(IsUnixPeer(UnixPeerText(7)));
  CHECK_FALSE(IsUnixPeer("10.0.0.1:4242"));
}

}  // namespace
}  // namespace iobench
