#include <algorithm>

#include "common/not_a_number.h"
#include "coordinator/analysis/phase/host_delta.h"

namespace iobench {

void SetShare(v1::TransportReport& transport) {
  const auto sent = static_cast<double>(transport.sent_segments());
  transport.set_retransmitted_share(sent > 0 ? static_cast<double>(transport.retransmitted_segments()) / sent
                                             : kNaN);
}

std::optional<v1::TransportReport> TransportOf(const v1::HostDelta& host) {
  v1::TransportReport transport;
  double round_trips_ms = 0;
  for (const v1::TcpConnectionDelta& connection : host.server_connections()) {
    transport.set_sent_segments(transport.sent_segments() + connection.sent_segments());
    transport.set_retransmitted_segments(transport.retransmitted_segments() +
                                         connection.retransmitted_segments());
    round_trips_ms += connection.round_trip_ms();
    if (connection.path_mtu() == 0) continue;
    if (!transport.has_smallest_path_mtu() || connection.path_mtu() < transport.smallest_path_mtu())
      transport.set_smallest_path_mtu(connection.path_mtu());
  }
  transport.set_of_servers(!host.server_connections().empty());
  bool has_server = transport.of_servers();
  for (const v1::NicDelta& nic : host.nics()) has_server |= nic.carries_targets();
  if (!has_server) return std::nullopt;
  if (transport.of_servers()) {
    transport.set_round_trip_ms(round_trips_ms / host.server_connections_size());
  } else if (host.has_tcp_sent_segments() && host.has_tcp_retransmitted_segments()) {
    // The kernel's count for a host leaves out what was sent again.
    transport.set_sent_segments(host.tcp_sent_segments() + host.tcp_retransmitted_segments());
    transport.set_retransmitted_segments(host.tcp_retransmitted_segments());
  } else {
    return std::nullopt;
  }
  for (const v1::NicDelta& nic : host.nics()) {
    if (!nic.carries_targets()) continue;
    // A bond counts what the interfaces below it count, too.
    transport.set_interface_drops(std::max(transport.interface_drops(), nic.drops()));
    if (nic.has_errors())
      transport.set_interface_errors(std::max(transport.interface_errors(), nic.errors()));
  }
  SetShare(transport);
  return transport;
}

bool Loses(const v1::TransportReport& transport, double share) {
  return transport.sent_segments() >= kEnoughSegments &&
         transport.retransmitted_segments() >= kEnoughRetransmissions &&
         transport.retransmitted_share() >= share;
}

}  // namespace iobench
