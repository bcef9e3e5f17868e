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

// A part of the test in which some clients take part at the same time.
struct NetRound {
  v1::NetTest::Part part = v1::NetTest::ROUND_TRIP;
  // One random number per client, which its request names and its connection sends first. Connections without one, such
  // as those of port scanners or of an earlier round, are closed.
  std::vector<uint64_t> tokens;
  double seconds = 0;         // how long data or round trips are exchanged
  uint32_t record_bytes = 0;  // size of each write and read
};

// What one connection of a round did. Cancelled: it did not connect in time, or the round was cancelled before.
struct NetServed {
  absl::Status status = absl::CancelledError("it did not connect");
  Streamed moved;                       // sent or received
  std::vector<int64_t> round_trips_ns;  // ROUND_TRIP
};

// Listens on all interfaces, at a port that the kernel chooses, for the lifetime of this object.
class NetServer {
 public:
  // The error has the errno of the socket call.
  static absl::StatusOr<NetServer> Start();
  uint32_t port() const { return port_; }

  // Waits for one connection per token, starts all of them at the same time, and serves each on its own thread. Blocks
  // until all have ended or `cancel` is set, which another thread may do. If one does not connect within 20 s, nothing
  // is measured and all entries are Cancelled. Returns one entry per token. One call at a time.
  std::vector<NetServed> Serve(const NetRound& round, const std::atomic<bool>& cancel) const;

 private:
  NetServer(TcpSocket listening, uint32_t port) : listening_(std::move(listening)), port_(port) {}
  TcpSocket listening_;
  uint32_t port_;
};

// Returns the addresses under which others may reach this host: first those that share the most leading bits with
// `peer` (an address with or without port; empty: unknown), loopback last unless `peer` is one. Reads the interfaces
// that are up; link-local IPv6 addresses are left out, since they mean nothing without the other end's interface.
std::vector<std::string> OwnAddresses(const std::string& peer);
// Only sorts the addresses, by the same rule. Pure.
std::vector<std::string> NearestFirst(std::vector<std::string> addresses, const std::string& peer);

}  // namespace iobench

#endif  // COORDINATOR_NET_CHECK_NET_SERVER_H_
