#include "common/net/tcp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr int kBacklog = 4096;  // all clients connect at once

absl::Status SocketStatus(absl::string_view what, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK || error == ETIMEDOUT) {
    return absl::DeadlineExceededError(absl::StrCat(what, ": no answer in time"));
  }
  return ErrnoStatus(std::string(what), error);
}

int Milliseconds(double seconds) {
  return static_cast<int>(std::ceil(seconds * 1e3));
}

void SendAtOnce(int fd) {
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

// Returns 0 or an errno.
int WaitConnected(int fd, double timeout_s) {
  pollfd waited = {.fd = fd, .events = POLLOUT, .revents = 0};
  int ready = 0;
  while ((ready = ::poll(&waited, 1, Milliseconds(timeout_s))) < 0 && errno == EINTR) {
  }
  if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

TcpSocket::~TcpSocket() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<TcpSocket> TcpSocket::Connect(const std::string& host, uint32_t port, double timeout_s) {
  const std::string what = absl::StrCat("connect to ", host, " port ", port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found); error != 0) {
    return absl::UnavailableError(absl::StrCat(what, ": ", ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  absl::Status last = absl::UnavailableError(absl::StrCat(what, ": no address"));
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    TcpSocket socket(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.valid()) {
      last = SocketStatus(what, errno);
      continue;
    }
    int error = ::connect(socket.fd_, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = WaitConnected(socket.fd_, timeout_s);
    if (error != 0) {
      last = SocketStatus(what, error);
      continue;
    }
    ::fcntl(socket.fd_, F_SETFL, ::fcntl(socket.fd_, F_GETFL) & ~O_NONBLOCK);
    SendAtOnce(socket.fd_);
    return socket;
  }
  return last;
}

absl::StatusOr<TcpSocket> TcpSocket::Listen() {
  const int no = 0;
  TcpSocket socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  if (socket.valid() && ::setsockopt(socket.fd_, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) == 0 &&
      ::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&any6), sizeof(any6)) == 0 &&
      ::listen(socket.fd_, kBacklog) == 0) {
    return socket;
  }
  socket = TcpSocket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // a host without IPv6
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  if (socket.valid() && ::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&any4), sizeof(any4)) == 0 &&
      ::listen(socket.fd_, kBacklog) == 0) {
    return socket;
  }
  return ErrnoStatus("listen for the network test", errno);
}

absl::StatusOr<uint32_t> TcpSocket::Port() const {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return ErrnoStatus("the network test's port", errno);
  }
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

absl::StatusOr<TcpSocket> TcpSocket::Accept(double timeout_s) const {
  pollfd waited = {.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&waited, 1, Milliseconds(timeout_s)) <= 0) return SocketStatus("accept", ETIMEDOUT);
  TcpSocket socket(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.valid()) return SocketStatus("accept", errno);
  SendAtOnce(socket.fd_);
  return socket;
}

absl::Status TcpSocket::SetTimeout(double timeout_s) {
  timeval time{};
  time.tv_sec = static_cast<time_t>(timeout_s);
  time.tv_usec = static_cast<suseconds_t>((timeout_s - std::floor(timeout_s)) * 1e6);
  for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    if (::setsockopt(fd_, SOL_SOCKET, which, &time, sizeof(time)) != 0) {
      return ErrnoStatus("a socket's timeout", errno);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> TcpSocket::WriteSome(std::span<const std::byte> bytes) {
  for (;;) {
    const ssize_t moved = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (moved >= 0) return static_cast<size_t>(moved);
    if (errno != EINTR) return SocketStatus("send", errno);
  }
}

absl::Status TcpSocket::WriteAll(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(const size_t moved, WriteSome(bytes));
    bytes = bytes.subspan(moved);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> TcpSocket::ReadSome(std::span<std::byte> bytes) {
  for (;;) {
    const ssize_t moved = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (moved >= 0) return static_cast<size_t>(moved);
    if (errno != EINTR) return SocketStatus("receive", errno);
  }
}

absl::Status TcpSocket::ReadAll(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(const size_t moved, ReadSome(bytes));
    if (moved == 0) return absl::UnavailableError("the other end has hung up");
    bytes = bytes.subspan(moved);
  }
  return absl::OkStatus();
}

void TcpSocket::EndWriting() {
  ::shutdown(fd_, SHUT_WR);
}

void TcpSocket::Abort() {
  ::shutdown(fd_, SHUT_RDWR);
}

}  // namespace iobench
