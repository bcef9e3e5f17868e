// Parses the addresses that users enter and converts them for gRPC.
#ifndef COMMON_TRANSPORT_GRPC_ADDRESS_H_
#define COMMON_TRANSPORT_GRPC_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// The parts of an address as a user enters it. Only ParseGrpcAddress makes valid ones. The functions below neither
// resolve names nor examine network interfaces.
struct GrpcAddress {
  // Not empty: the path of a Unix socket; host and port are then unused.
  std::string unix_path;
  // A name, or an address without brackets. Empty: all interfaces.
  std::string host;
  int port = 0;  // 0: any free port

  bool is_unix() const { return !unix_path.empty(); }
  // False for Unix sockets and for loopback by name or address. All other addresses admit other hosts, and therefore
  // need TLS, or --insecure.
  bool reachable_from_elsewhere() const;
  std::string ToText() const;  // "unix:/path", "[::1]:9400", ":9400"
  std::string ToListen() const;   // the form that gRPC listens on
  // The host to connect to: the given one; for all interfaces of a family, this host's loopback address of that family.
  std::string HostToDial() const;
  std::string ToDial() const;     // the form that gRPC connects to
};

// InvalidArgument: malformed, without a port, or a Unix path that is longer than the kernel accepts (107 bytes); the
// message says why and lists the valid forms.
absl::StatusOr<GrpcAddress> ParseGrpcAddress(std::string_view text);

// Makes gRPC's peer names readable: "ipv6:%5B::1%5D:4242" becomes "[::1]:4242", "unix:" becomes "unix socket".
std::string PeerText(std::string_view peer);
// The text of a Unix socket's peer, "unix socket:7": such peers have no address, so they are numbered.
inline constexpr char kUnixPeer[] = "unix socket";
std::string UnixPeerText(uint64_t number);
bool IsUnixPeer(std::string_view peer_text);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_ADDRESS_H_
