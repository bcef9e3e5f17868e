// The sockets that a coordinator listens on.
#ifndef COMMON_TRANSPORT_GRPC_LISTENING_SOCKETS_H_
#define COMMON_TRANSPORT_GRPC_LISTENING_SOCKETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/transport/grpc_address.h"
#include "common/unique_fd.h"

namespace iobench {

// Non-blocking sockets, one for each address of a host name. The destructor closes them and removes a Unix socket's
// file.
class ListeningSockets {
 public:
  // An empty host means all interfaces, IPv6 and IPv4. Port 0: any free port, the same for all addresses. A Unix
  // socket's file is replaced if no process listens on it any longer. Unavailable: cannot listen there; the message
  // says why.
  static absl::StatusOr<ListeningSockets> Open(const GrpcAddress& address);
  ListeningSockets(ListeningSockets&& other) noexcept = default;
  ListeningSockets& operator=(ListeningSockets&& other) = delete;
  ~ListeningSockets();

  const GrpcAddress& bound() const { return bound_; }  // with the port that was chosen
  const std::vector<UniqueFd>& sockets() const { return sockets_; }

 private:
  ListeningSockets() = default;
  absl::Status OpenUnix();
  absl::Status OpenTcp();

  GrpcAddress bound_;
  std::vector<UniqueFd> sockets_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_LISTENING_SOCKETS_H_
