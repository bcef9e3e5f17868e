#include "coordinator/net_check/net_check.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <thread>

#include "coordinator/net_check/net_server.h"

namespace iobench {
namespace {

using Addresses = std::vector<std::string>;

NetFigures Client(const std::string& host, double to, double all_to) {
  NetFigures figures{};
  figures.host = host;
  figures.reached_at = "10.0.0.1";
  figures.round_trip_median_us = 100;
  figures.round_trip_p99_us = 250.5;
  figures.to_bytes_per_s = to * 1048576;
  figures.from_bytes_per_s = NAN;
  figures.all_to_bytes_per_s = all_to * 1048576;
  figures.all_from_bytes_per_s = 7 * 1048576;
  return figures;
}

// The client's end of one connection, as a worker does it.
absl::StatusOr<TcpSocket> Join(uint32_t port, const NetHello& hello) {
  auto socket = TcpSocket::Connect("127.0.0.1", port, 5);
  if (!socket.ok()) return socket;
  socket->SetTimeout(10).IgnoreError();
  const auto bytes = ToBytes(hello);
  auto answer = bytes;
  if (const absl::Status said = socket->WriteAll(bytes); !said.ok()) return said;
  if (const absl::Status heard = socket->ReadAll(answer); !heard.ok()) return heard;
  std::array<std::byte, 1> go{};
  if (const absl::Status begun = socket->ReadAll(go); !begun.ok()) return begun;
  return socket;
}

TEST_CASE("percentiles are the nearest rank, in microseconds") {
  CHECK(PercentileUs({3000, 1000, 2000}, 50) == 2);
  CHECK(PercentileUs({1000, 2000}, 50) == 1);
  std::vector<int64_t> hundred;
  for (int64_t i = 1; i <= 100; ++i) hundred.push_back(i * 1000);
  CHECK(PercentileUs(hundred, 99) == 99);
  CHECK(std::isnan(PercentileUs({}, 50)));
}

TEST_CASE("clients try the address in their own network first, and loopback last") {
  const Addresses own = {"127.0.0.1", "172.17.0.1", "10.1.2.3", "::1", "fd00::1"};
  CHECK(NearestFirst(own, "10.1.2.77:5000").front() == "10.1.2.3");
  CHECK(NearestFirst(own, "10.1.2.77:5000")[1] == "172.17.0.1");  // no equal bits: the order is kept
  CHECK(NearestFirst(own, "[fd00::99]:5000").front() == "fd00::1");
  CHECK(NearestFirst(own, "[::ffff:10.1.2.77]:5000").front() == "10.1.2.3");
  CHECK(NearestFirst(own, "127.0.0.1:5000").front() == "127.0.0.1");
  CHECK(NearestFirst(own, "") == Addresses{"172.17.0.1", "10.1.2.3", "fd00::1", "127.0.0.1", "::1"});
}

TEST_CASE("the table has a line for each client, and the sums of what all did at once") {
  std::ostringstream out;
  PrintNetFigures({Client("node1", 100, 60.5), Client("node10", 1100.25, 40)}, out);
  CHECK(
      out.str() ==
      "network test: to and from the coordinator's host over TCP, each client alone, then all at once\n"
      "  client  to MiB/s  from MiB/s  RTT median us  RTT p99 us  all: to MiB/s  all: from MiB/s  reached "
      "at\n"
      "  node1      100.0           -          100.0       250.5           60.5              7.0  10.0.0.1\n"
      "  node10    1100.2           -          100.0       250.5           40.0              7.0  10.0.0.1\n"
      "  all 2                                                            100.5             14.0\n");
}

TEST_CASE("a stream to the server counts every byte after the first ones, and its time") {
  const auto server = NetServer::Start();
  REQUIRE(server.ok());
  std::atomic<bool> cancel{false};
  const NetRound round{
      .part = v1::NetTest::TO_COORDINATOR, .tokens = {7}, .seconds = 1, .record_bytes = 1000};
  absl::Status client_status;
  std::thread client([&] {
    auto socket = Join(server->port(), {.token = 7, .part = v1::NetTest::TO_COORDINATOR});
    client_status = socket.status();
    if (!socket.ok()) return;
    std::vector<std::byte> record(1000);
    for (int i = 0; i < 5; ++i) client_status.Update(socket->WriteAll(record));
    socket->EndWriting();
    std::array<std::byte, 1> end{};
    client_status.Update(socket->ReadSome(end).status());
  });
  const std::vector<NetServed> served = server->Serve(round, cancel);
  client.join();
  REQUIRE(client_status.ok());
  REQUIRE(served.size() == 1);
  REQUIRE(served[0].status.ok());
  CHECK(served[0].moved.bytes >= 4000);  // what came with the first read does not count
  CHECK(served[0].moved.bytes < 5000);
}

TEST_CASE("a round trip is there and back, and ends in time") {
  const auto server = NetServer::Start();
  REQUIRE(server.ok());
  std::atomic<bool> cancel{false};
  const NetRound round{.part = v1::NetTest::ROUND_TRIP, .tokens = {1, 2}, .seconds = 0.05, .record_bytes = 1};
  std::vector<std::thread> clients;
  for (const uint64_t token : {2u, 1u}) {
    clients.emplace_back([&server, token] {
      auto socket = Join(server->port(), {.token = token, .part = v1::NetTest::ROUND_TRIP});
      if (socket.ok()) Echo(*socket).IgnoreError();
    });
  }
  const std::vector<NetServed> served = server->Serve(round, cancel);
  for (std::thread& client : clients) client.join();
  REQUIRE(served.size() == 2);
  for (const NetServed& one : served) {
    CHECK(one.status.ok());
    CHECK(!one.round_trips_ns.empty());
  }
}

TEST_CASE("a stranger is hung up on, and who waits for nobody is cancelled") {
  const auto server = NetServer::Start();
  REQUIRE(server.ok());
  std::atomic<bool> cancel{false};
  const NetRound round{.part = v1::NetTest::ROUND_TRIP, .tokens = {5}, .seconds = 1, .record_bytes = 1};
  absl::Status stranger;
  std::thread client([&] {
    stranger = Join(server->port(), {.token = 6, .part = v1::NetTest::ROUND_TRIP}).status();
    cancel = true;
  });
  const std::vector<NetServed> served = server->Serve(round, cancel);
  client.join();
  CHECK(absl::IsUnavailable(stranger));
  REQUIRE(served.size() == 1);
  CHECK(absl::IsCancelled(served[0].status));
}

TEST_CASE("a client that goes away in the middle is an error of its own") {
  const auto server = NetServer::Start();
  REQUIRE(server.ok());
  std::atomic<bool> cancel{false};
  const NetRound round{
      .part = v1::NetTest::FROM_COORDINATOR, .tokens = {5}, .seconds = 20, .record_bytes = 1 << 16};
  std::thread client([&] {
    Join(server->port(), {.token = 5, .part = v1::NetTest::FROM_COORDINATOR}).status().IgnoreError();
  });
  const std::vector<NetServed> served = server->Serve(round, cancel);
  client.join();
  CHECK(!served[0].status.ok());
  CHECK(!absl::IsCancelled(served[0].status));
}

}  // namespace
}  // namespace iobench
