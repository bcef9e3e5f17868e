#include "common/transport/grpc/listening_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/transport/grpc/grpc_runtime.h"

namespace iobench {
namespace {

// The kernel probes a connection that is idle for kIdleSeconds, then every kProbeSeconds, and ends it if the peer's host
// has confirmed neither probes nor data for kDeadAfterMs.
constexpr int kIdleSeconds = kKeepalivePingMs / 1000;
constexpr int kProbeSeconds = 5;
constexpr int kDeadAfterMs = kKeepalivePingMs + kKeepaliveTimeoutMs;
constexpr int kBacklog = 4096;  // all workers may come at once; the kernel lowers it to net.core.somaxconn

absl::Status CannotListen(const GrpcAddress& address, const std::string& why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address.ToText(), ": ", why));
}

absl::Status CannotListen(const GrpcAddress& address, int errno_value) {
  const char* const advice = errno_value == EADDRINUSE      ? "; is another coordinator running?"
                             : errno_value == EADDRNOTAVAIL ? "; it must be an address of this host"
                                                            : "";
  return CannotListen(address, absl::StrCat(std::string(ErrnoStatus("bind", errno_value).message()), advice));
}

UniqueFd MakeSocket(int family) {
  return UniqueFd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void SetFlag(const UniqueFd& socket, int level, int option, int value) {
  // Best effort: each is only an improvement.
  ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

int PortOf(const UniqueFd& socket) {
  sockaddr_storage name{};
  socklen_t bytes = sizeof name;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &bytes) != 0) return 0;
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

// Returns 0 or an errno. `port` is the one to bind to; 0 becomes the one that the kernel chose.
int ListenOnTcp(UniqueFd& socket, sockaddr* name, socklen_t name_bytes, int& port) {
  if (!socket.valid()) return errno;
  // Without SO_REUSEPORT: a second coordinator must not share the port and get some of the workers.
  SetFlag(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  // Connections inherit all that follows.
  SetFlag(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetFlag(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetFlag(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  SetFlag(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  SetFlag(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kDeadAfterMs);
  const uint16_t network_port = htons(static_cast<uint16_t>(port));
  if (name->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(name)->sin6_port = network_port;
  } else {
    reinterpret_cast<sockaddr_in*>(name)->sin_port = network_port;
  }
  if (::bind(socket.get(), name, name_bytes) != 0 || ::listen(socket.get(), kBacklog) != 0) return errno;
  port = PortOf(socket);
  return 0;
}

bool SomebodyListensOn(const sockaddr_un& name) {
  const UniqueFd probe = MakeSocket(AF_UNIX);
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ||
         errno == EAGAIN;
}

}  // namespace

absl::StatusOr<ListeningSockets> ListeningSockets::Open(const GrpcAddress& address) {
  ListeningSockets made;
  made.bound_ = address;
  IOBENCH_RETURN_IF_ERROR(address.is_unix() ? made.OpenUnix() : made.OpenTcp());
  return made;
}

ListeningSockets::~ListeningSockets() {
  if (bound_.is_unix() && !sockets_.empty()) ::unlink(bound_.unix_path.c_str());
}

absl::Status ListeningSockets::OpenUnix() {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  bound_.unix_path.copy(name.sun_path, sizeof name.sun_path - 1);
  struct stat facts {};
  if (::lstat(name.sun_path, &facts) == 0 && S_ISSOCK(facts.st_mode)) {
    if (SomebodyListensOn(name)) return CannotListen(bound_, EADDRINUSE);
    ::unlink(name.sun_path);
  }
  UniqueFd socket = MakeSocket(AF_UNIX);
  if (!socket.valid() || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return CannotListen(bound_, errno);
  }
  sockets_.push_back(std::move(socket));
  return absl::OkStatus();
}

absl::Status ListeningSockets::OpenTcp() {
  int port = bound_.port;
  if (bound_.host.empty()) {
    sockaddr_in6 any6{};
    any6.sin6_family = AF_INET6;
    UniqueFd both = MakeSocket(AF_INET6);
    if (both.valid()) SetFlag(both, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    int error = ListenOnTcp(both, reinterpret_cast<sockaddr*>(&any6), sizeof any6, port);
    if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) {  // a host without IPv6
      sockaddr_in any4{};
      any4.sin_family = AF_INET;
      both = MakeSocket(AF_INET);
      error = ListenOnTcp(both, reinterpret_cast<sockaddr*>(&any4), sizeof any4, port);
    }
    if (error != 0) return CannotListen(bound_, error);
    sockets_.push_back(std::move(both));
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(bound_.host.c_str(), nullptr, &hints, &found); error != 0) {
      return CannotListen(bound_,
                          absl::StrCat("that host name is not known here (", gai_strerror(error), ")"));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
    int last_error = EADDRNOTAVAIL;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      UniqueFd socket = MakeSocket(each->ai_family);
      const int error = ListenOnTcp(socket, each->ai_addr, each->ai_addrlen, port);
      if (error == 0) sockets_.push_back(std::move(socket));
      // A name such as localhost often has an IPv6 address that the host lacks.
      if (error != 0 && error != EADDRNOTAVAIL && error != EAFNOSUPPORT) return CannotListen(bound_, error);
      if (error != 0) last_error = error;
    }
    if (sockets_.empty()) return CannotListen(bound_, last_error);
  }
  bound_.port = port;
  return absl::OkStatus();
}

}  // namespace iobench
