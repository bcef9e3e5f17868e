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

// A connection or a listening socket, which the destructor closes. One thread at a time may use it, except for Abort().
// A call that reaches its timeout returns DeadlineExceeded; other failed calls return the status of their errno.
class TcpSocket {
 public:
  // Makes an object without a socket. It can only be assigned to and destroyed.
  TcpSocket() = default;
  TcpSocket(TcpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  // Swaps: the socket that this object had is closed when `other` is destroyed.
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~TcpSocket();

  // Connects to a host name or address. Tries all addresses of the name in turn, each for `timeout_s`, and returns the
  // error of the last one. Sets TCP_NODELAY. Unavailable: the name cannot be resolved (the resolver has its own
  // timeout).
  static absl::StatusOr<TcpSocket> Connect(const std::string& host, uint32_t port, double timeout_s);
  // Listens on all interfaces, IPv6 and IPv4, on any free port (Port() returns it). On a host without IPv6, IPv4 only.
  // The backlog holds 4096 connections, because all clients may connect at once.
  static absl::StatusOr<TcpSocket> Listen();

  // Returns the local port that the socket is bound to.
  absl::StatusOr<uint32_t> Port() const;
  // Waits for the next connection; sets TCP_NODELAY on it. REQUIRES: the socket is from Listen().
  absl::StatusOr<TcpSocket> Accept(double timeout_s) const;

  // Limits the time of each single read and write from now on. 0 means no limit, which is also the default.
  absl::Status SetTimeout(double timeout_s);
  // Blocks until the kernel has taken all bytes, or some of them when the timeout is reached; returns how many. A
  // broken connection is an error, never a SIGPIPE.
  absl::StatusOr<size_t> WriteSome(std::span<const std::byte> bytes);
  // Blocks until the kernel has taken all bytes, however many timeouts that takes, if the peer reads in each of them.
  absl::Status WriteAll(std::span<const std::byte> bytes);
  // Blocks until `bytes` is full. Unavailable: the peer closed the connection before.
  absl::Status ReadAll(std::span<std::byte> bytes);
  // Blocks until something has arrived, and returns how many bytes. 0: the peer has closed its writing side.
  absl::StatusOr<size_t> ReadSome(std::span<std::byte> bytes);
  // Sends end of file to the peer. Reading still works.
  void EndWriting();
  // Makes current and later calls fail. Callable from any thread, to release a blocked one; the descriptor stays open
  // until the destructor, so that its number is not reused.
  void Abort();

  bool valid() const { return fd_ >= 0; }

 private:
  explicit TcpSocket(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace iobench

#endif  // COMMON_NET_TCP_SOCKET_H_
