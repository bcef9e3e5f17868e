#include "worker/client/tcp_connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "common/unique_fd.h"
#include "worker/client/host_counters.h"

namespace iobench {
namespace {

TEST_CASE("segments of the host are the numbers under their names, wherever these stand") {
  const auto segments = ParseTcpSegments(
      "Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoMin InSegs OutSegs RetransSegs InErrs\nTcp: 200 7 5000 12 3\n"
      "Udp: InDatagrams OutSegs\nUdp: 1 2\n");
  REQUIRE(segments.has_value());
  CHECK(segments->sent == 5000);
  CHECK(segments->retransmitted == 12);
  CHECK_FALSE(ParseTcpSegments("Tcp: RtoMin OutSegs\nTcp: 200 5000\n").has_value());
  CHECK_FALSE(ParseTcpSegments("").has_value());
}

TEST_CASE("a connection to a server is found by its address, and counts what it sends") {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 76);  // 127.0.0.77: nobody else's
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  socklen_t bytes = sizeof address;
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const UniqueFd served(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  sockaddr_in own{};
  bytes = sizeof own;
  REQUIRE(::getsockname(client.get(), reinterpret_cast<sockaddr*>(&own), &bytes) == 0);
  const std::string name = "tcp 127.0.0.77 " + std::to_string(ntohs(own.sin_port));

  const HostCounters before = ReadHostCounters({}, false, {"127.0.0.77"});
  if (before.server_connections.empty()) {
    WARN("the kernel has no tcp_diag");
    return;
  }
  REQUIRE(before.server_connections.contains(name));
  CHECK(before.server_connections.size() == 1);
  CHECK(before.server_connections.at(name).path_mtu > 1000);
  constexpr int kMessages = 10;
  std::array<char, 100> message{};
  for (int i = 0; i < kMessages; ++i) {  // an answer each, so that none travels together with the next
    REQUIRE(::send(client.get(), message.data(), message.size(), 0) == std::ssize(message));
    REQUIRE(::recv(served.get(), message.data(), message.size(), MSG_WAITALL) == std::ssize(message));
    REQUIRE(::send(served.get(), message.data(), 1, 0) == 1);
    REQUIRE(::recv(client.get(), message.data(), 1, 0) == 1);
  }
  const v1::HostDelta delta = HostDeltaBetween(before, ReadHostCounters({}, false, {"127.0.0.77"}));
  REQUIRE(delta.server_connections_size() == 1);
  CHECK(delta.server_connections(0).connection() == name);
  CHECK(delta.server_connections(0).sent_segments() == kMessages);
  CHECK(delta.server_connections(0).retransmitted_segments() == 0);
  CHECK(delta.tcp_sent_segments() >= 2 * kMessages);
}

TEST_CASE("a connection that was made anew counts from its beginning") {
  HostCounters before, after;
  before.tcp = {.sent = 1000, .retransmitted = 10};
  after.tcp = {.sent = 3000, .retransmitted = 40};
  before.server_connections = {{"tcp 10.0.0.1 815", {.sent_segments = 900, .retransmitted_segments = 9}},
                               {"tcp 10.0.0.1 816", {.sent_segments = 500, .retransmitted_segments = 5}}};
  after.server_connections = {{"tcp 10.0.0.1 815", {.sent_segments = 20, .retransmitted_segments = 2}},
                              {"tcp 10.0.0.1 816", {.sent_segments = 700, .retransmitted_segments = 6}},
                              {"tcp 10.0.0.1 817", {.sent_segments = 30, .retransmitted_segments = 0}}};
  const v1::HostDelta delta = HostDeltaBetween(before, after);
  CHECK(delta.tcp_sent_segments() == 2000);
  CHECK(delta.tcp_retransmitted_segments() == 30);
  REQUIRE(delta.server_connections_size() == 3);
  CHECK(delta.server_connections(0).sent_segments() == 20);
  CHECK(delta.server_connections(0).retransmitted_segments() == 2);
  CHECK(delta.server_connections(1).sent_segments() == 200);
  CHECK(delta.server_connections(1).retransmitted_segments() == 1);
  CHECK(delta.server_connections(2).sent_segments() == 30);
}

TEST_CASE("an interface's errors of receiving and sending are told together") {
  HostCounters before, after;
  before.nics = ParseNetDev("eth0: 1000 10 2 0 0 0 0 0 500 5 1 0 0 0 0 0\n");
  after.nics = ParseNetDev("eth0: 2000 20 5 0 0 0 0 0 900 9 2 0 0 0 0 0\n");
  const v1::HostDelta delta = HostDeltaBetween(before, after, {"eth0"});
  REQUIRE(delta.nics_size() == 1);
  CHECK(delta.nics(0).errors() == 4);
}

}  // namespace
}  // namespace iobench
