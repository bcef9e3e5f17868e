#include "common/transport/grpc/doorkeeper.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>  // for tcpi_bytes_received, which <netinet/tcp.h> lacks
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr int64_t kIdleTickNs = 250'000'000;  // while no connection waits
// Between two checks of waiting connections, a sender may fill memory: 1 GB/s over 20 ms. A check takes 1 µs per
// connection, so this thread uses less than 3 % of a processor, however many connections wait.
constexpr int64_t kMinTickNs = 20'000'000;
constexpr int64_t kTickNsPerWaiting = 40'000;
constexpr int kAfterExhaustionMs = 250;
constexpr int64_t kAfterRefusalNs = 1'000'000'000;  // for gRPC to send the reason
// A joining worker sends a TLS handshake, at most 64 KiB of facts, and their frames.
constexpr uint64_t kMaxInputBytes = 256 << 10;
constexpr unsigned char kTlsHandshake = 0x16;
constexpr unsigned char kHttp2Preface = 'P';  // "PRI * HTTP/2.0"
constexpr uint64_t kListener = 1ull << 32;    // marks listeners in epoll's data

int OpenFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
  return static_cast<int>(limit.rlim_cur);
}

std::string FewDescriptors() {
  return absl::StrCat("the limit of open files, ", OpenFileLimit(),
                      ", is nearly reached: raise `ulimit -n` of the coordinator");
}

std::string NameOf(const std::string& peer) {
  return IsUnixPeer(peer) ? "a local process" : peer;
}

// Returns the same text that PeerText makes from gRPC's name of the peer, which the relay has given it. Empty: a Unix socket.
std::string PeerOf(const sockaddr_storage& name) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (name.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(name);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return absl::StrCat(text.data(), ":", ntohs(v4.sin_port));
  }
  if (name.ss_family != AF_INET6) return "";
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(name);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text.data(), text.size());
    return absl::StrCat(text.data(), ":", ntohs(v6.sin6_port));
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  const std::string scope = v6.sin6_scope_id == 0 ? "" : absl::StrCat("%", v6.sin6_scope_id);
  return absl::StrCat("[", text.data(), scope, "]:", ntohs(v6.sin6_port));
}

uint64_t InputBytes(int fd) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 ? info.tcpi_bytes_received : 0;
}

void Watch(int epoll, int fd, uint32_t events, uint64_t mark) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = mark | static_cast<uint32_t>(fd);
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

Doorkeeper::Doorkeeper(ListeningSockets sockets, Options options, TurnedAwayLog& log)
    : options_(std::move(options)),
      log_(log),
      sockets_(std::move(sockets)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      max_fd_(OpenFileLimit() - std::min(kReservedDescriptors, OpenFileLimit() / 2)) {
  for (const UniqueFd& socket : sockets_.sockets()) Watch(epoll_.get(), socket.get(), EPOLLIN, kListener);
  Watch(epoll_.get(), stop_.get(), EPOLLIN, 0);
}

Doorkeeper::~Doorkeeper() {
  Stop();
}

absl::Status Doorkeeper::Start() {
  IOBENCH_ASSIGN_OR_RETURN(thread_, StartThread([this] { Serve(); }));
  return absl::OkStatus();
}

void Doorkeeper::Stop() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void Doorkeeper::Joined(const std::string& peer) {
  MutexLock lock(mutex_);
  if (const auto found = by_peer_.find(peer); found != by_peer_.end()) Close(found->second, "");
}

void Doorkeeper::Refused(const std::string& peer) {
  MutexLock lock(mutex_);
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return;
  found->second->refused = true;
  found->second->close_at_ns = std::min(found->second->close_at_ns, MonotonicNowNs() + kAfterRefusalNs);
}

void Doorkeeper::Serve() {
  NameThisThread("iobench-door");
  std::array<epoll_event, 64> events{};
  int64_t ticked_at_ns = MonotonicNowNs();
  while (true) {
    const int64_t tick_ns = TickNs();
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(tick_ns / 1'000'000));
    for (int i = 0; i < count; ++i) {
      const int fd = static_cast<int>(static_cast<uint32_t>(events[i].data.u64));
      if (fd == stop_.get()) return;
      if ((events[i].data.u64 & kListener) != 0) {
        Accept(fd);
        continue;
      }
      // Without the lock, which gRPC's thread takes as well.
      std::string peer;
      if (const int gift = Look(fd, peer); gift >= 0) options_.admit(gift, peer);
    }
    const int64_t now_ns = MonotonicNowNs();
    if (now_ns < ticked_at_ns + TickNs()) continue;
    ticked_at_ns = now_ns;
    {
      MutexLock lock(mutex_);
      CloseOverdue(now_ns);
    }
    log_.Tick(now_ns);
    options_.tick(now_ns);
  }
}

int64_t Doorkeeper::TickNs() {
  MutexLock lock(mutex_);
  if (by_peer_.empty()) return kIdleTickNs;
  return std::clamp<int64_t>(static_cast<int64_t>(by_peer_.size()) * kTickNsPerWaiting, kMinTickNs,
                             kIdleTickNs);
}

void Doorkeeper::Accept(int listener) {
  sockaddr_storage name{};
  socklen_t bytes = sizeof name;
  UniqueFd fd(accept4(listener, reinterpret_cast<sockaddr*>(&name), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const int64_t now_ns = MonotonicNowNs();
  if (!fd.valid()) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
      return;  // it hung up meanwhile
    log_.Add("a connection", "this process has no descriptor or memory left for it: raise `ulimit -n`",
             now_ns);
    usleep(kAfterExhaustionMs * 1000);  // the connection stays in the kernel's queue; do not spin
    return;
  }
  std::string peer = PeerOf(name);
  if (peer.empty()) peer = UnixPeerText(++unix_peers_);
  if (name.ss_family == AF_UNIX && options_.unix_peer == UnixPeer::kOwnOrRoot) {
    if (const absl::Status user = CheckUserOfPeer(fd.get()); !user.ok()) {
      log_.Add(NameOf(peer), std::string(user.message()), now_ns);
      return;
    }
  }
  MutexLock lock(mutex_);
  // The kernel assigns the lowest free number, which thus shows how many are in use.
  const bool few_left = fd.get() >= max_fd_;
  if (few_left && waiting_.empty()) {
    log_.Add(NameOf(peer), FewDescriptors(), now_ns);
    return;
  }
  if (few_left || waiting_.size() >= options_.max_waiting) {
    Close(waiting_.begin(),
          few_left ? FewDescriptors()
                   : absl::StrCat("more than ", options_.max_waiting,
                                  " connections wait for their workers to join; the oldest are closed"));
  }
  if (few_left) {  // moves it into the gap, or the numbers would creep up to the limit
    if (UniqueFd lower(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)); lower.valid()) fd = std::move(lower);
  }
  const int number = fd.get();
  waiting_.push_back({std::move(fd), peer, now_ns, now_ns + options_.join_within_ns});
  by_fd_[number] = std::prev(waiting_.end());
  by_peer_[peer] = std::prev(waiting_.end());
  Watch(epoll_.get(), number, EPOLLIN | EPOLLRDHUP, 0);
}

void Doorkeeper::Ended(const std::string& peer, const std::string& reason) {
  MutexLock lock(mutex_);
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return;
  Close(found->second, reason.empty() ? "it hung up before its worker joined" : reason);
}

int Doorkeeper::Look(int fd, std::string& peer) {
  MutexLock lock(mutex_);
  const auto found = by_fd_.find(fd);
  if (found == by_fd_.end()) return -1;  // an earlier event, or another thread, has closed it
  peer = found->second->peer;
  return ReadFirstByte(found->second);
}

int Doorkeeper::ReadFirstByte(Place place) {
  unsigned char first = 0;
  const ssize_t got = recv(place->fd.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return -1;
  if (got == 1 && first == (options_.tls ? kTlsHandshake : kHttp2Preface)) return Duplicate(place);
  if (got <= 0) {
    Close(place, "");  // it sent nothing, like port scans and health checks
  } else if (options_.tls && first == kHttp2Preface) {
    Close(place,
          "it does not use TLS: start the worker with the coordinator's --token-file, without --insecure");
  } else if (!options_.tls && first == kTlsHandshake) {
    Close(
        place,
        "it uses TLS, but this coordinator does not (--insecure, or a loopback address without --token-file)");
  } else {
    Close(place, options_.tls ? "it speaks neither TLS nor gRPC" : "it does not speak gRPC");
  }
  return -1;
}

int Doorkeeper::Duplicate(Place place) {
  const int number = place->fd.get();
  const int gift = fcntl(number, F_DUPFD_CLOEXEC, 0);
  if (gift < 0) {
    Close(place, "this process has no descriptor left for it: raise `ulimit -n` of the coordinator");
    return -1;
  }
  place->given = true;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, number, nullptr);
  return gift;
}

void Doorkeeper::CloseOverdue(int64_t now_ns) {
  for (Place place = waiting_.begin(); place != waiting_.end();) {
    const Place next = std::next(place);
    if (now_ns >= place->close_at_ns) {
      Close(place, absl::StrCat("its worker did not join within ",
                                FormatSeconds(SecondsFrom(options_.join_within_ns))));
    } else if (place->given && InputBytes(place->fd.get()) > kMaxInputBytes) {
      Close(place, absl::StrCat("it sent more than ", kMaxInputBytes >> 10, " KiB before its worker joined"));
    }
    place = next;
  }
}

void Doorkeeper::Close(Place place, const std::string& reason) {
  if (!reason.empty()) {
    if (!place->refused) log_.Add(NameOf(place->peer), reason, MonotonicNowNs());
    // The relay has another descriptor of the connection, and closes that when it sees the shutdown.
    if (place->given) shutdown(place->fd.get(), SHUT_RDWR);
  }
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, place->fd.get(), nullptr);
  by_fd_.erase(place->fd.get());
  by_peer_.erase(place->peer);
  waiting_.erase(place);
}

}  // namespace iobench
