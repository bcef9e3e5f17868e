// Parses the addresses that users enter and converts them for gRPC.
#ifndef COMMON_TRANSPORT_GRPC_ADDRESS_H_
#define COMMON_TRANSPORT_GRPC_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

struct GrpcAddress {
  std::string unix_path;  // not empty: a Unix socket; host and port are unused
  std::string host;       // without brackets; empty: all interfaces
  int port = 0;           // 0: any free port

  bool is_unix() const { return !unix_path.empty(); }
  bool reachable_from_elsewhere() const;  // false for Unix sockets and loopback
  std::string ForPeople() const;          // "unix:/path", "[::1]:9400", ":9400"
  std::string ToListen() const;           // the form that gRPC listens on
  std::string ToDial() const;             // the form that gRPC connects to; "all interfaces" becomes this host
};

// InvalidArgument: malformed; the message lists the valid forms.
absl::StatusOr<GrpcAddress> ParseGrpcAddress(std::string_view text);

// Makes gRPC's peer names readable: "ipv6:%5B::1%5D:4242" becomes "[::1]:4242", "unix:" becomes "unix socket".
std::string PeerForPeople(std::string_view peer);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_ADDRESS_H_
