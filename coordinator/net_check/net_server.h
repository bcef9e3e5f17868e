// The coordinator's end of the network test. Clients connect to it; all connections of a round are served together.
#ifndef COORDINATOR_NET_CHECK_NET_SERVER_H_
#define COORDINATOR_NET_CHECK_NET_SERVER_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/net_stream.h"
#include "common/net/tcp_socket.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

struct NetRound {
  v1::NetTest::Part part = v1::NetTest::ROUND_TRIP;
  std::vector<uint64_t> tokens;  // one per client, from its request
  double seconds = 0;
  uint32_t record_bytes = 0;
};

struct NetServed {
  absl::Status status = absl::CancelledError("it did not connect");
  Moved moved;                          // sent or received
  std::vector<int64_t> round_trips_ns;  // ROUND_TRIP
};

class NetServer {
 public:
  static absl::StatusOr<NetServer> Start();
  uint32_t port() const { return port_; }

  // Waits for one connection per token, starts all of them at the same time, and serves each on its own thread. Blocks
  // until all have ended or `cancel` is set. Returns one entry per token.
  std::vector<NetServed> Serve(const NetRound& round, const std::atomic<bool>& cancel) const;

 private:
  NetServer(TcpSocket listening, uint32_t port) : listening_(std::move(listening)), port_(port) {}
  TcpSocket listening_;
  uint32_t port_;
};

// Returns the addresses under which others may reach this host: first those in the same network as `peer` (an address
// with or without port; empty: unknown), loopback last.
std::vector<std::string> OwnAddresses(const std::string& peer);
// Only sorts the addresses. Pure.
std::vector<std::string> NearestFirst(std::vector<std::string> addresses, const std::string& peer);

}  // namespace iobench

#endif  // COORDINATOR_NET_CHECK_NET_SERVER_H_
