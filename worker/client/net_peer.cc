#include "worker/client/net_peer.h"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/net/net_stream.h"
#include "common/net/tcp_socket.h"
#include "common/status_util.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

constexpr double kConnectTimeoutS = 3;
constexpr double kPatienceS =
    30;  // for the others, who must be connected before it begins, and for a stalled network
constexpr uint32_t kMaxRecordBytes = 64 << 20;  // the largest that a coordinator asks for
constexpr double kLongestSeconds = 3600;
constexpr int kMaxHosts = 64;

// The numeric addresses of a host name; empty: it cannot be resolved.
std::set<std::string> AddressesOf(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string name = bracketed ? host.substr(1, host.size() - 2) : host;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(list, ::freeaddrinfo);
  std::set<std::string> addresses;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      addresses.insert(text.data());
    }
  }
  return addresses;
}

// Returns those of the hosts that lead to the coordinator that this worker joined: others are not even connected to.
std::vector<std::string> HostsOfCoordinator(const v1::NetTest& test) {
  const std::string& known = RightsOfThisWorker().coordinator_host;
  std::vector<std::string> hosts(test.hosts().begin(), test.hosts().end());
  if (known.empty()) return hosts;
  const std::set<std::string> allowed = AddressesOf(known);
  std::erase_if(hosts, [&](const std::string& host) {
    const std::set<std::string> addresses = AddressesOf(host);
    // Each of them, because Connect tries them all.
    for (const std::string& address : addresses) {
      if (!allowed.contains(address)) return true;
    }
    return addresses.empty();
  });
  return hosts;
}

absl::Status CheckNetTest(const v1::NetTest& test) {
  if (test.record_bytes() == 0 || test.record_bytes() > kMaxRecordBytes) {
    return absl::InvalidArgumentError("the network test's record is not between 1 byte and 64 MiB");
  }
  if (!(test.seconds() >= 0) || test.seconds() > kLongestSeconds) {
    return absl::InvalidArgumentError("the network test would take longer than an hour");
  }
  if (test.hosts_size() > kMaxHosts) {
    return absl::InvalidArgumentError("the network test names more addresses than a coordinator has");
  }
  return absl::OkStatus();
}

// Connects, and verifies that the coordinator echoes the token.
absl::StatusOr<TcpSocket> Reach(const std::string& host, const v1::NetTest& test) {
  IOBENCH_ASSIGN_OR_RETURN(TcpSocket socket, TcpSocket::Connect(host, test.port(), kConnectTimeoutS));
  IOBENCH_RETURN_IF_ERROR(socket.SetTimeout(kConnectTimeoutS));
  const auto hello = ToBytes({.token = test.token(), .part = static_cast<uint8_t>(test.part())});
  IOBENCH_RETURN_IF_ERROR(socket.WriteAll(hello));
  std::array<std::byte, kNetHelloBytes> answer{};
  IOBENCH_RETURN_IF_ERROR(Annotate(socket.ReadAll(answer), host));
  if (answer != hello) {
    return absl::UnavailableError(absl::StrCat(host, " port ", test.port(), " belongs to another program"));
  }
  return socket;
}

}  // namespace

absl::StatusOr<v1::NetTested> TakePartInNetTest(const v1::NetTest& test) {
  IOBENCH_RETURN_IF_ERROR(CheckNetTest(test));
  const std::vector<std::string> hosts = HostsOfCoordinator(test);
  if (hosts.empty()) {
    return absl::PermissionDeniedError(absl::StrCat(
        "this worker tests the network to the coordinator only, which it joined at ",
        RightsOfThisWorker().coordinator_host, ", and none of ", absl::StrJoin(test.hosts(), ", "),
        " is that host: give the run that address with -+h (--coordinator-host)"));
  }
  TcpSocket socket;
  v1::NetTested tested;
  std::vector<std::string> tried;
  for (const std::string& host : hosts) {
    auto reached = Reach(host, test);
    if (reached.ok()) {
      socket = *std::move(reached);
      tested.set_host(host);
      break;
    }
    tried.emplace_back(reached.status().message());
  }
  if (!socket.valid()) {
    return absl::UnavailableError(
        absl::StrCat("the coordinator cannot be reached: ", absl::StrJoin(tried, "; "),
                     ": open its ports, or set its address with -+h (--coordinator-host)"));
  }
  IOBENCH_RETURN_IF_ERROR(socket.SetTimeout(kPatienceS));
  std::array<std::byte, 1> go{};
  IOBENCH_RETURN_IF_ERROR(socket.ReadAll(go));
  Streamed moved;
  switch (test.part()) {
    case v1::NetTest::ROUND_TRIP:
      IOBENCH_RETURN_IF_ERROR(Echo(socket, test.seconds() + kPatienceS));
      break;
    case v1::NetTest::TO_COORDINATOR: {
      IOBENCH_ASSIGN_OR_RETURN(
          moved, SendFor(socket, test.seconds(), test.record_bytes(), test.seconds() + kPatienceS));
      static_cast<void>(socket.ReadSome(go));  // until the coordinator has read everything and disconnects
      break;
    }
    case v1::NetTest::FROM_COORDINATOR: {
      IOBENCH_ASSIGN_OR_RETURN(moved, ReceiveAll(socket, test.record_bytes(), test.seconds() + kPatienceS));
      break;
    }
    default:
      return absl::UnimplementedError("this worker does not know this part of the network test");
  }
  tested.set_bytes(moved.bytes);
  tested.set_seconds(moved.seconds);
  return tested;
}

}  // namespace iobench
