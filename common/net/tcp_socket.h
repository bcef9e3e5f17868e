// Blocking TCP sockets with timeouts, for the network test. Deliberately plain, so that the test measures only the
// network.
#ifndef COMMON_NET_TCP_SOCKET_H_
#define COMMON_NET_TCP_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// A connection or a listening socket. One thread at a time may use it, except for Abort(). A call that reaches its
// timeout returns DeadlineExceeded.
class TcpSocket {
 public:
  TcpSocket() = default;
  TcpSocket(TcpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~TcpSocket();

  // Connects to a host name or address. Tries all addresses of the name, each for `timeout_s`. Sets TCP_NODELAY.
  static absl::StatusOr<TcpSocket> Connect(const std::string& host, uint32_t port, double timeout_s);
  // Listens on all interfaces, IPv6 and IPv4, on any free port.
  static absl::StatusOr<TcpSocket> Listen();

  absl::StatusOr<uint32_t> Port() const;                     // the port that the socket is bound to
  absl::StatusOr<TcpSocket> Accept(double timeout_s) const;  // REQUIRES: Listen

  absl::Status SetTimeout(double timeout_s);  // for each later read and write
  absl::Status WriteAll(std::span<const std::byte> bytes);
  absl::Status ReadAll(std::span<std::byte> bytes);             // Unavailable: the peer closed the connection too early
  absl::StatusOr<size_t> ReadSome(std::span<std::byte> bytes);  // 0: the peer has closed
  void EndWriting();                                            // the peer then reads end of file
  void Abort();  // callable from any thread: current and later calls fail

  bool valid() const { return fd_ >= 0; }

 private:
  explicit TcpSocket(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace iobench

#endif  // COMMON_NET_TCP_SOCKET_H_
