#include "common/transport/guard/connection_relay.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

namespace iobench {
namespace {

constexpr char kHello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A relay with one connection: a worker's end, and gRPC's.
class Rig {
 public:
  Rig() {
    REQUIRE(relay_.Start().ok());
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    worker = UniqueFd(ends[0]);
    REQUIRE(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    relay_.Add(ends[1], "10.0.0.7:4242");
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return grpc.valid(); });
    REQUIRE(fcntl(grpc.get(), F_SETFL, 0) == 0);
  }

  std::string WaitEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return end_.has_value(); });
    return *end_;
  }

  UniqueFd worker, grpc;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> end_;
  ConnectionRelay relay_{{.max_event_bytes = 1 << 20,
                          .admit =
                              [this](int fd) {
                                const std::lock_guard lock(mutex_);
                                grpc = UniqueFd(fd);
                                changed_.notify_all();
                              },
                          .ended =
                              [this](const std::string& peer, const std::string& reason) {
                                const std::lock_guard lock(mutex_);
                                end_ = peer + ": " + reason;
                                changed_.notify_all();
                              }}};
};

std::string Read(int fd, size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t got = recv(fd, text.data(), bytes, MSG_WAITALL);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

TEST_CASE("a relay passes both directions on, and gRPC finds the peer's address") {
  Rig rig;
  REQUIRE(write(rig.worker.get(), kHello, sizeof kHello - 1) == sizeof kHello - 1);
  CHECK(Read(rig.grpc.get(), sizeof kHello - 1) == kHello);
  REQUIRE(write(rig.grpc.get(), "answer", 6) == 6);
  CHECK(Read(rig.worker.get(), 6) == "answer");
  sockaddr_un name{};
  socklen_t bytes = sizeof name;
  REQUIRE(getpeername(rig.grpc.get(), reinterpret_cast<sockaddr*>(&name), &bytes) == 0);
  const std::string text(name.sun_path + 1, bytes - offsetof(sockaddr_un, sun_path) - 1);
  CHECK(text.substr(text.rfind('/') + 1) == "10.0.0.7:4242");
}

TEST_CASE("what does not pass the guard ends the connection, and gRPC sees nothing of it") {
  Rig rig;
  REQUIRE(write(rig.worker.get(), "GET / HTTP/1.1", 14) == 14);
  CHECK(rig.WaitEnd() == "10.0.0.7:4242: it sent something else than HTTP/2, which no worker sends");
  CHECK(Read(rig.grpc.get(), 1).empty());
  CHECK(Read(rig.worker.get(), 1).empty());
}

TEST_CASE("a worker that hangs up ends the connection once gRPC has closed its end") {
  Rig rig;
  REQUIRE(write(rig.worker.get(), kHello, sizeof kHello - 1) == sizeof kHello - 1);
  rig.worker = UniqueFd();
  CHECK(Read(rig.grpc.get(), 100) == kHello);
  rig.grpc = UniqueFd();
  CHECK(rig.WaitEnd() == "10.0.0.7:4242: ");
}

TEST_CASE("what gRPC has said last arrives although it has closed its end") {
  Rig rig;
  const std::string farewell(100'000, 'f');
  REQUIRE(write(rig.grpc.get(), farewell.data(), farewell.size()) == static_cast<ssize_t>(farewell.size()));
  rig.grpc = UniqueFd();
  CHECK(Read(rig.worker.get(), farewell.size()) == farewell);
  CHECK(rig.WaitEnd() == "10.0.0.7:4242: ");
}

}  // namespace
}  // namespace iobench
