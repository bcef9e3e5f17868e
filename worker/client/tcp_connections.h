// What the kernel knows of TCP: its segments and those that it had to send again, of one connection and of the host.
#ifndef WORKER_CLIENT_TCP_CONNECTIONS_H_
#define WORKER_CLIENT_TCP_CONNECTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace iobench {

// Totals of one connection since it was made (TCP_INFO). A segment that is sent again counts in both numbers.
struct TcpConnection {
  uint64_t sent_segments = 0;  // with data
  uint64_t retransmitted_segments = 0;
  uint64_t received_segments = 0;      // with data
  uint64_t out_of_order_segments = 0;  // of those received: one before them was missing
  double round_trip_ms = 0;            // smoothed
  double smallest_round_trip_ms = 0;   // 0: unknown
  uint32_t path_mtu = 0;               // bytes; 0: unknown
};

// By protocol, address of the peer and port of this host, as in TargetFacts.connections: "tcp 10.0.0.1 815".
using TcpConnections = std::map<std::string, TcpConnection>;

// Returns this host's established connections to these addresses (numeric), those of the kernel's NFS client too.
// Empty: there are none, or the kernel does not list them (without the module tcp_diag).
TcpConnections ReadTcpConnections(const std::set<std::string>& servers);

// The lines "Tcp:" of /proc/net/snmp: segments of all connections of the host since boot.
struct TcpSegments {
  uint64_t sent = 0;  // without those that were sent again
  uint64_t retransmitted = 0;
};
std::optional<TcpSegments> ParseTcpSegments(std::string_view proc_net_snmp);

}  // namespace iobench

#endif  // WORKER_CLIENT_TCP_CONNECTIONS_H_
