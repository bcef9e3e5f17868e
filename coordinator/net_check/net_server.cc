#include "coordinator/net_check/net_server.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/thread.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr double kLookAgainS = 0.02;
constexpr double kHelloTimeoutS = 3;
constexpr double kPatienceS = 20;  // for all connections of a round, and for a stalled network
constexpr size_t kMaxRoundTrips = 10'000;
constexpr size_t kNoToken = SIZE_MAX;

// Returns the index of the token that a connection sends, after echoing it; kNoToken: unknown.
size_t Greet(TcpSocket& socket, const NetRound& round) {
  std::array<std::byte, kNetHelloBytes> bytes{};
  if (!socket.SetTimeout(kHelloTimeoutS).ok() || !socket.ReadAll(bytes).ok()) return kNoToken;
  const NetHello hello = NetHelloFrom(bytes);
  const auto found = std::find(round.tokens.begin(), round.tokens.end(), hello.token);
  if (found == round.tokens.end() || hello.part != round.part || !socket.WriteAll(bytes).ok())
    return kNoToken;
  return static_cast<size_t>(found - round.tokens.begin());
}

absl::Status ServeOne(TcpSocket& socket, const NetRound& round, NetServed& served) {
  IOBENCH_RETURN_IF_ERROR(socket.SetTimeout(kPatienceS));
  const std::array<std::byte, 1> go{};
  IOBENCH_RETURN_IF_ERROR(socket.WriteAll(go));
  switch (round.part) {
    case v1::NetTest::ROUND_TRIP: {
      IOBENCH_ASSIGN_OR_RETURN(served.round_trips_ns, RoundTrips(socket, kMaxRoundTrips, round.seconds));
      return absl::OkStatus();
    }
    case v1::NetTest::TO_COORDINATOR: {
      IOBENCH_ASSIGN_OR_RETURN(served.moved, ReceiveAll(socket, round.record_bytes));
      return absl::OkStatus();
    }
    default: {
      IOBENCH_ASSIGN_OR_RETURN(served.moved, SendFor(socket, round.seconds, round.record_bytes));
      std::array<std::byte, 1> end{};
      return socket.ReadSome(end).status();  // until the worker has read everything and disconnects
    }
  }
}

// Returns four bytes for IPv4, also for ::ffff:1.2.3.4, or sixteen. Empty: not an address.
std::vector<uint8_t> BytesOf(const std::string& address) {
  std::array<uint8_t, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return {bytes.begin(), bytes.begin() + 4};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return {};
  const auto& v6 = reinterpret_cast<const in6_addr&>(bytes);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return {bytes.begin() + 12, bytes.end()};
  return {bytes.begin(), bytes.end()};
}

// Removes the port: "10.0.0.7:4242", "[fd00::7]:4242".
std::string HostOf(const std::string& peer) {
  if (absl::StartsWith(peer, "[")) return peer.substr(1, peer.find(']') - 1);
  return std::count(peer.begin(), peer.end(), ':') == 1 ? peer.substr(0, peer.find(':')) : peer;
}

bool IsLoopback(const std::string& address) {
  return address == "::1" || absl::StartsWith(address, "127.");
}

int EqualBits(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  if (a.size() != b.size()) return 0;
  int bits = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto different = static_cast<uint8_t>(a[i] ^ b[i]);
    bits += std::countl_zero(different);
    if (different != 0) break;
  }
  return bits;
}

}  // namespace

absl::StatusOr<NetServer> NetServer::Start() {
  IOBENCH_ASSIGN_OR_RETURN(TcpSocket listening, TcpSocket::Listen());
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t port, listening.Port());
  return NetServer(std::move(listening), port);
}

std::vector<NetServed> NetServer::Serve(const NetRound& round, const std::atomic<bool>& cancel) const {
  std::vector<NetServed> served(round.tokens.size());
  std::map<size_t, TcpSocket> connections;  // by index of the token
  const int64_t until_ns = MonotonicNowNs() + NanosFrom(kPatienceS);
  while (connections.size() < round.tokens.size() && !cancel.load() && MonotonicNowNs() < until_ns) {
    auto socket = listening_.Accept(kLookAgainS);
    if (!socket.ok()) continue;
    const size_t index = Greet(*socket, round);
    if (index != kNoToken) connections.emplace(index, *std::move(socket));
  }
  if (connections.size() < round.tokens.size()) return served;  // closes the existing connections

  std::atomic<size_t> ended{0};
  std::vector<std::thread> threads;
  threads.reserve(connections.size());
  for (auto& [index, socket] : connections) {
    auto thread = StartThread([&round, &ended, &connection = socket, &one = served[index]] {
      one.status = ServeOne(connection, round, one);
      ended.fetch_add(1);
    });
    if (thread.ok()) {
      threads.push_back(*std::move(thread));
    } else {
      served[index].status = thread.status();
      socket.Abort();  // the worker at the other end need not wait
    }
  }
  while (ended.load() < threads.size() && !cancel.load()) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kLookAgainS));
  }
  if (cancel.load()) {
    for (auto& [index, socket] : connections) socket.Abort();
  }
  for (std::thread& thread : threads) thread.join();
  return served;
}

std::vector<std::string> NearestFirst(std::vector<std::string> addresses, const std::string& peer) {
  const std::string peer_host = HostOf(peer);
  const std::vector<uint8_t> peer_bytes = BytesOf(peer_host);
  const auto rank = [&](const std::string& address) {
    const int equal = peer_bytes.empty() ? 0 : EqualBits(BytesOf(address), peer_bytes);
    return std::pair(IsLoopback(address) && !IsLoopback(peer_host), -equal);
  };
  std::stable_sort(addresses.begin(), addresses.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return addresses;
}

std::vector<std::string> OwnAddresses(const std::string& peer) {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {"localhost"};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> interfaces(found, freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* interface = found; interface != nullptr; interface = interface->ifa_next) {
    if (interface->ifa_addr == nullptr || (interface->ifa_flags & IFF_UP) == 0) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    const int family = interface->ifa_addr->sa_family;
    if (family == AF_INET) {
      bytes = &reinterpret_cast<const sockaddr_in*>(interface->ifa_addr)->sin_addr;
    } else if (family == AF_INET6) {
      const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(interface->ifa_addr)->sin6_addr;
      if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;  // useless without an interface at the other end
      bytes = &address;
    }
    if (bytes != nullptr && inet_ntop(family, bytes, text.data(), text.size()) != nullptr) {
      addresses.emplace_back(text.data());
    }
  }
  return NearestFirst(std::move(addresses), peer);
}

}  // namespace iobench
