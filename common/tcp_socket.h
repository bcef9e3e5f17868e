// Plain TCP, blocking, with timeouts: for the network test, which must not measure anything but the network.
#ifndef COMMON_TCP_SOCKET_H_
#define COMMON_TCP_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// A connection, or a listening socket. One thread at a time. Errors of a call that was given up at its timeout are
// DeadlineExceeded.
class TcpSocket {
 public:
  TcpSocket() = default;
  TcpSocket(TcpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~TcpSocket();

  // A name or an address. Tries all that a name stands for, `timeout_s` for each. Sends at once what is written.
  static absl::StatusOr<TcpSocket> Connect(const std::string& host, uint32_t port, double timeout_s);
  // All interfaces, IPv6 and IPv4, any free port.
  static absl::StatusOr<TcpSocket> Listen();

  absl::StatusOr<uint32_t> Port() const;                     // that it is bound to
  absl::StatusOr<TcpSocket> Accept(double timeout_s) const;  // REQUIRES: Listen

  absl::Status SetTimeout(double timeout_s);  // of each read and write from now on
  absl::Status WriteAll(std::span<const std::byte> bytes);
  absl::Status ReadAll(std::span<std::byte> bytes);             // Unavailable: the peer has hung up before
  absl::StatusOr<size_t> ReadSome(std::span<std::byte> bytes);  // 0: the peer has hung up
  void EndWriting();                                            // the peer reads an end
  void Abort();  // from any thread: what is under way fails, and so does the rest

  bool valid() const { return fd_ >= 0; }

 private:
  explicit TcpSocket(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace iobench

#endif  // COMMON_TCP_SOCKET_H_
