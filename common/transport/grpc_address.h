// What people write for an address, and what gRPC wants.
#ifndef COMMON_TRANSPORT_GRPC_ADDRESS_H_
#define COMMON_TRANSPORT_GRPC_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

struct GrpcAddress {
  std::string unix_path;  // set: a Unix socket, the rest is unused
  std::string host;       // without brackets; empty: all interfaces
  int port = 0;           // 0: any free one

  bool is_unix() const { return !unix_path.empty(); }
  bool reachable_from_elsewhere() const;  // neither a Unix socket nor loopback
  std::string ForPeople() const;          // "unix:/path", "[::1]:9400", ":9400"
  std::string ToListen() const;           // as gRPC binds it
  std::string ToDial() const;             // as gRPC connects to it; all interfaces: this host
};

// InvalidArgument says which forms there are.
absl::StatusOr<GrpcAddress> ParseGrpcAddress(std::string_view text);

// gRPC's name of a peer for people: "ipv6:%5B::1%5D:4242" is "[::1]:4242", "unix:" is "unix socket".
std::string PeerForPeople(std::string_view peer);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_ADDRESS_H_
