#include "coordinator/live/metrics_server.h"

#include <array>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "common/net/tcp_socket.h"
#include "tests/unit/live_progress.h"

namespace iobench {
namespace {

constexpr char kGetMetrics[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

// "http://127.0.0.1:9464/metrics" -> "127.0.0.1:9464"
std::string AddressIn(const std::string& url) {
  const size_t begin = url.find("//") + 2;
  return url.substr(begin, url.rfind('/') - begin);
}

absl::StatusOr<TcpSocket> Connect(const MetricsServer& server) {
  const std::string address = AddressIn(server.url());
  uint32_t port = 0;
  REQUIRE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return TcpSocket::Connect("127.0.0.1", port, 30);
}

void Say(TcpSocket& socket, const std::string& text) {
  REQUIRE(socket.WriteAll(std::as_bytes(std::span(text))).ok());
}

// Returns all that the server sends until it hangs up.
std::string Hear(TcpSocket& socket) {
  REQUIRE(socket.SetTimeout(60).ok());
  std::string heard;
  std::array<char, 4096> bytes;
  for (;;) {
    const auto got = socket.ReadSome(std::as_writable_bytes(std::span(bytes)));
    if (!got.ok() || *got == 0) return heard;
    heard.append(bytes.data(), *got);
  }
}

std::string Ask(const MetricsServer& server, const std::string& request = kGetMetrics) {
  absl::StatusOr<TcpSocket> socket = Connect(server);
  REQUIRE(socket.ok());
  Say(*socket, request);
  return Hear(*socket);
}

TEST_CASE("the newest figures are served, with the type that Prometheus asks for") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  const std::string before = Ask(**server);
  CHECK(before.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(absl::StrContains(
      before, "\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
  CHECK_FALSE(absl::StrContains(before, "{phase="));

  (*server)->RunStarts(LiveReport({"a"}));
  LivePhase phase({"a"});
  (*server)->PhasePrepares(phase.At(0));
  phase.Answer(0, 1, 512, 8);
  (*server)->PhaseMoves(phase.At(1));
  CHECK(absl::StrContains(
      Ask(**server), "iobench_client_bytes_total{run=\"20260301T101500Z-1\",phase_index=\"0\",phase=\"write\",client=\"a\"} 512\n"));
  CHECK(Ask(**server, "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 404 "));
  CHECK(Ask(**server, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 421 "));
}

TEST_CASE("a request in pieces is answered") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  absl::StatusOr<TcpSocket> socket = Connect(**server);
  REQUIRE(socket.ok());
  for (const char letter : std::string(kGetMetrics)) Say(*socket, std::string(1, letter));
  CHECK(Hear(*socket).starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("a text that is larger than a socket's buffer arrives whole") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  std::vector<std::string> clients;
  for (int i = 0; i < 5000; ++i) clients.push_back(absl::StrCat("client-with-a-long-name-", i));
  (*server)->RunStarts(LiveReport(clients));
  LivePhase phase(clients);
  (*server)->PhasePrepares(phase.At(0));
  (*server)->PhaseMoves(phase.At(1));
  const std::string answer = Ask(**server);
  const size_t body = answer.find("\r\n\r\n") + 4;
  CHECK(answer.size() - body > 1'000'000);
  CHECK(absl::StrContains(answer, absl::StrCat("\r\nContent-Length: ", answer.size() - body, "\r\n")));
  CHECK(answer.ends_with("# EOF\n"));
}

TEST_CASE("what a stranger sends takes no memory: a request without end is cut off") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  for (const std::string& request :
       {std::string(8192, 'x'), "GET /metrics HTTP/1.1\r\n" + std::string(8192, 'x')}) {
    CHECK(Ask(**server, request.substr(0, 8192)).starts_with("HTTP/1.1 431 "));
  }
}

TEST_CASE("clients that do not ask lose their place, and do not hold up the end") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  std::vector<TcpSocket> silent;
  for (int i = 0; i < 8; ++i) {
    absl::StatusOr<TcpSocket> socket = Connect(**server);
    REQUIRE(socket.ok());
    silent.push_back(*std::move(socket));
  }
  Say(silent.front(), "GET ");
  CHECK(Ask(**server).starts_with("HTTP/1.1 200 OK\r\n"));  // when one of them has had its time
  CHECK(Hear(silent.front()).empty());
  absl::StatusOr<TcpSocket> last = Connect(**server);
  REQUIRE(last.ok());
  server->reset();
  CHECK(Hear(*last).empty());
}

TEST_CASE("the service ends with its object") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  const std::string address = AddressIn((*server)->url());
  CHECK(absl::IsInvalidArgument(MetricsServer::Open("no address").status()));
  CHECK_FALSE(MetricsServer::Open(address).ok());
  server->reset();
  CHECK(MetricsServer::Open(address).ok());
}

TEST_CASE("a port without a host is this host's alone") {
  auto server = MetricsServer::Open(":0");
  REQUIRE(server.ok());
  CHECK(absl::StartsWith((*server)->url(), "http://127.0.0.1:"));
}

TEST_CASE("two runs cannot share a port") {
  auto first = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(first.ok());
  const absl::Status second = MetricsServer::Open(AddressIn((*first)->url())).status();
  CHECK(absl::StrContains(std::string(second.message()), "is the port in use"));
}

TEST_CASE("what is no address is refused, with what one looks like") {
  for (const char* text :
       {"", "9464", "host", "host:", "host:port", "host:70000", "host:-1", "::1:9464", "[]:1"}) {
    INFO(text);
    const absl::Status status = MetricsServer::Open(text).status();
    CHECK_FALSE(status.ok());
    if (absl::IsInvalidArgument(status)) {
      CHECK(absl::StrContains(std::string(status.message()), "use host:port, [::1]:port, or :port"));
    }
  }
  CHECK_FALSE(MetricsServer::Open("192.0.2.1:9464").ok());  // nobody's address
}

}  // namespace
}  // namespace iobench
