#include "worker/client/net_peer.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/net/net_stream.h"
#include "common/net/tcp_socket.h"
#include "tests/support/rights_guard.h"

namespace iobench {
namespace {

using Catch::Contains;

v1::NetTest TestOf(const std::string& host, uint32_t port) {
  v1::NetTest test;
  test.set_part(v1::NetTest::ROUND_TRIP);
  test.add_hosts(host);
  test.set_port(port);
  test.set_record_bytes(4096);
  test.set_seconds(0.1);
  return test;
}

TEST_CASE("a worker connects to nobody but the host that it joined") {
  auto listening = TcpSocket::Listen();
  REQUIRE(listening.ok());
  WorkerRights rights;
  rights.coordinator_host = "127.0.0.2";
  const RightsGuard guard(rights);
  const auto tested = TakePartInNetTest(TestOf("127.0.0.1", *listening->Port()));
  CHECK(absl::IsPermissionDenied(tested.status()));
  CHECK_THAT(std::string(tested.status().message()), Contains("127.0.0.2") && Contains("-+h"));
  CHECK(absl::IsDeadlineExceeded(listening->Accept(0.2).status()));  // nobody came
}

TEST_CASE("a worker finds its coordinator by another name of the same address") {
  WorkerRights rights;
  rights.coordinator_host = "localhost";
  const RightsGuard guard(rights);
  auto listening = TcpSocket::Listen();
  REQUIRE(listening.ok());
  const uint32_t port = *listening->Port();
  *listening =
      TcpSocket();  // nobody listens there any more, so the attempt to connect is refused by the kernel
  CHECK(absl::IsUnavailable(TakePartInNetTest(TestOf("127.0.0.1", port)).status()));
}

TEST_CASE("a network test that would take an hour or all memory is refused") {
  v1::NetTest test = TestOf("127.0.0.1", 1);
  test.set_seconds(1e9);
  CHECK(absl::IsInvalidArgument(TakePartInNetTest(test).status()));
  test = TestOf("127.0.0.1", 1);
  test.set_record_bytes(UINT32_MAX);
  CHECK(absl::IsInvalidArgument(TakePartInNetTest(test).status()));
}

TEST_CASE("a peer that reads slowly cannot hold up a sender beyond its max time") {
  auto listening = TcpSocket::Listen();
  REQUIRE(listening.ok());
  auto sender = TcpSocket::Connect("127.0.0.1", *listening->Port(), 5);
  REQUIRE(sender.ok());
  const auto peer = listening->Accept(5);  // takes what fits into the kernel's buffers
  REQUIRE(peer.ok());
  REQUIRE(sender->SetTimeout(0.2).ok());
  const auto sent = SendFor(*sender, 0.01, 64 << 20, 0.1);
  CHECK(absl::IsDeadlineExceeded(sent.status()));
  CHECK_THAT(std::string(sent.status().message()), Contains("still reads after 100 ms"));
}

}  // namespace
}  // namespace iobench
