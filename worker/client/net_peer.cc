#include "worker/client/net_peer.h"

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/net/net_stream.h"
#include "common/net/tcp_socket.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr double kConnectTimeoutS = 3;
constexpr double kPatienceS =
    30;  // for the others, who must be connected before it begins, and for a stalled network
constexpr uint32_t kMaxRecordBytes = 1 << 30;

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
  if (test.record_bytes() == 0 || test.record_bytes() > kMaxRecordBytes) {
    return absl::InvalidArgumentError("the network test's record is not between 1 byte and 1 GiB");
  }
  TcpSocket socket;
  v1::NetTested tested;
  std::vector<std::string> tried;
  for (const std::string& host : test.hosts()) {
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
      IOBENCH_RETURN_IF_ERROR(Echo(socket));
      break;
    case v1::NetTest::TO_COORDINATOR: {
      IOBENCH_ASSIGN_OR_RETURN(moved, SendFor(socket, test.seconds(), test.record_bytes()));
      static_cast<void>(socket.ReadSome(go));  // until the coordinator has read everything and disconnects
      break;
    }
    case v1::NetTest::FROM_COORDINATOR: {
      IOBENCH_ASSIGN_OR_RETURN(moved, ReceiveAll(socket, test.record_bytes()));
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
