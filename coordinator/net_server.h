// The coordinator's end of the network test: connections that clients open, all of a round together.
#ifndef COORDINATOR_NET_SERVER_H_
#define COORDINATOR_NET_SERVER_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net_stream.h"
#include "common/tcp_socket.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

struct NetRound {
  v1::NetTest::Part part = v1::NetTest::ROUND_TRIP;
  std::vector<uint64_t> tokens;  // of each client's request
  double seconds = 0;
  uint32_t record_bytes = 0;
};

struct NetServed {
  absl::Status status = absl::CancelledError("it did not connect");
  Moved moved;                          // sent, or received
  std::vector<int64_t> round_trips_ns;  // ROUND_TRIP
};

class NetServer {
 public:
  static absl::StatusOr<NetServer> Start();
  uint32_t port() const { return port_; }

  // Waits for a connection for each token, lets all of them begin at the same time, and serves each on a thread of its
  // own. Blocks until all have ended, or `cancel` is set. One entry per token.
  std::vector<NetServed> Serve(const NetRound& round, const std::atomic<bool>& cancel) const;

 private:
  NetServer(TcpSocket listening, uint32_t port) : listening_(std::move(listening)), port_(port) {}
  TcpSocket listening_;
  uint32_t port_;
};

// The addresses that others may reach this host by, those in the same network as `peer` (an address with or without a
// port; empty: not known) first, loopback last.
std::vector<std::string> OwnAddresses(const std::string& peer);
// The order alone. Pure.
std::vector<std::string> NearestFirst(std::vector<std::string> addresses, const std::string& peer);

}  // namespace iobench

#endif  // COORDINATOR_NET_SERVER_H_
