#include "coordinator/live/metrics_server.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "coordinator/live/http_answer.h"
#include "coordinator/live/live_metrics.h"
#include "coordinator/report/openmetrics/metric_text.h"

namespace iobench {

// Where to listen.
struct MetricsAddress {
  std::string host;
  int port = 0;
};

namespace {

// What strangers can take from this process: these many connections, each with a request of kMaxHttpHeadBytes and for
// these many seconds. Others wait in the kernel, which keeps as many again.
constexpr size_t kMaxConnections = 8;
constexpr int64_t kRequestNs = 5 * kNanosPerSecond;
constexpr int64_t kAnswerNs = 10 * kNanosPerSecond;  // Prometheus itself waits no longer, by default
// Between two connections, so that whoever asks without end takes little of a processor; and after one was refused, for
// want of descriptors.
constexpr int64_t kAcceptNs = kNanosPerSecond / 50;

constexpr char kMetricsPath[] = "/metrics";

using Text = std::shared_ptr<const std::string>;

absl::StatusOr<MetricsAddress> ParseAddress(const std::string& text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("--live-metrics \"", text,
                   "\" is not an address: use host:port, [::1]:port, or :port for this host alone"));
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong;
  MetricsAddress address;
  address.host = text.substr(0, colon);
  const bool brackets = address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (brackets) address.host = address.host.substr(1, address.host.size() - 2);
  if (!brackets && address.host.find(':') != std::string::npos) return wrong;
  if (address.host.empty()) address.host = "127.0.0.1";
  const std::string port = text.substr(colon + 1);
  if (!absl::SimpleAtoi(port, &address.port) || address.port < 0 || address.port > 65535) return wrong;
  return address;
}

// Listens at the first address of the host that permits it.
absl::StatusOr<UniqueFd> Listen(const MetricsAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error =
          ::getaddrinfo(address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
      error != 0)
    return absl::UnavailableError(::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
    UniqueFd socket(::socket(next->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    if (socket.valid() && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(socket.get(), next->ai_addr, next->ai_addrlen) == 0 &&
        ::listen(socket.get(), kMaxConnections) == 0)
      return socket;
    error = errno;
  }
  return ErrnoStatus("cannot listen there (is the port in use, or the address not this host's?)", error);
}

int PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

// A client from its first byte to its last. Used by the service's thread alone.
class MetricsConnection {
 public:
  MetricsConnection(UniqueFd fd, int64_t now_ns) : fd_(std::move(fd)), until_ns_(now_ns + kRequestNs) {}

  int fd() const { return fd_.get(); }
  int64_t until_ns() const { return until_ns_; }
  short events() const { return static_cast<short>(state_ == State::kAnswers ? POLLOUT : POLLIN); }

  // Goes on as far as it can without waiting. `answer` makes an answer of a request head; its text is `text`. Returns
  // false when the connection has ended.
  template <typename Answer>
  bool Continue(int64_t now_ns, const Answer& answer, const Text& text) {
    if (state_ == State::kAsks && !Receive()) return false;
    if (state_ == State::kAsks) {
      const size_t head_bytes = HttpHeadBytes(asked_);
      if (head_bytes == 0 && asked_.size() < kMaxHttpHeadBytes) return true;
      HttpAnswer answered = head_bytes == 0
                                ? AnswerTooLong()
                                : answer(absl::string_view(asked_).substr(0, head_bytes), text->size());
      head_ = std::move(answered.head);
      if (answered.has_text) text_ = text;
      state_ = State::kAnswers;
      until_ns_ = now_ns + kAnswerNs;
    }
    if (state_ == State::kAnswers) {
      const bool goes_on =
          Send(head_) && (sent_ < head_.size() || text_ == nullptr || Send(*text_, head_.size()));
      if (!goes_on) return false;
      if (sent_ < head_.size() + (text_ == nullptr ? 0 : text_->size())) return true;
      // Until the client closes: a connection that is closed with unread bytes is reset, and the answer may be lost.
      ::shutdown(fd(), SHUT_WR);
      state_ = State::kEnds;
    }
    return Discard();
  }

 private:
  enum class State { kAsks, kAnswers, kEnds };

  static bool MustWait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  bool Receive() {
    std::array<char, kMaxHttpHeadBytes> bytes;
    const ssize_t got = ::recv(fd(), bytes.data(), kMaxHttpHeadBytes - asked_.size(), 0);
    if (got > 0) asked_.append(bytes.data(), static_cast<size_t>(got));
    return got > 0 || (got < 0 && MustWait());
  }
  // Sends the part of `piece`, which begins at `begin` of the whole answer, that has not been sent.
  bool Send(const std::string& piece, size_t begin = 0) {
    while (sent_ < begin + piece.size()) {
      const ssize_t put =
          ::send(fd(), piece.data() + (sent_ - begin), begin + piece.size() - sent_, MSG_NOSIGNAL);
      if (put < 0) return MustWait();
      sent_ += static_cast<size_t>(put);
    }
    return true;
  }
  bool Discard() {
    std::array<char, kMaxHttpHeadBytes> bytes;
    const ssize_t got = ::recv(fd(), bytes.data(), bytes.size(), 0);
    return got > 0 || (got < 0 && MustWait());
  }

  UniqueFd fd_;
  State state_ = State::kAsks;
  std::string asked_;
  std::string head_;
  Text text_;  // that follows the head; null: none
  size_t sent_ = 0;
  int64_t until_ns_;
};

// The HTTP server, which is one thread, and the text that it serves.
class MetricsServer::Service {
 public:
  explicit Service(MetricsAddress address) : address_(std::move(address)), host_name_(HostName()) {}
  ~Service() {
    if (!thread_.joinable()) return;
    const uint64_t one = 1;
    (void)!::write(end_.get(), &one, sizeof one);
    thread_.join();
  }

  absl::Status Start() {
    IOBENCH_ASSIGN_OR_RETURN(listener_, Listen(address_));
    address_.port = PortOf(listener_.get());
    end_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
    if (!end_.valid()) return ErrnoStatus("create an eventfd", errno);
    IOBENCH_ASSIGN_OR_RETURN(thread_, StartThread([this] { Serve(); }));
    return absl::OkStatus();
  }

  std::string url() const {
    const bool ipv6 = address_.host.find(':') != std::string::npos;
    return absl::StrCat("http://", ipv6 ? "[" : "", address_.host, ipv6 ? "]:" : ":", address_.port,
                        kMetricsPath);
  }
  void set_text(std::string text) {
    Text shared = std::make_shared<const std::string>(std::move(text));
    MutexLock lock(mutex_);
    text_ = std::move(shared);
  }

 private:
  Text text() {
    MutexLock lock(mutex_);
    return text_;
  }

  HttpAnswer Answer(absl::string_view head, size_t text_bytes) const {
    return AnswerHttp(head, {.path = kMetricsPath,
                             .content_type = kOpenMetricsContentType,
                             .bytes = text_bytes,
                             .listens_at = address_.host,
                             .host_name = host_name_});
  }

  // Until end_ is written to.
  void Serve() {
    int64_t accepts_from_ns = 0;
    std::vector<pollfd> waited;
    for (;;) {
      int64_t now_ns = MonotonicNowNs();
      const bool accepts = connections_.size() < kMaxConnections && now_ns >= accepts_from_ns;
      waited.assign({{.fd = end_.get(), .events = POLLIN, .revents = 0},
                     {.fd = accepts ? listener_.get() : -1, .events = POLLIN, .revents = 0}});
      int64_t until_ns = now_ns >= accepts_from_ns ? INT64_MAX : accepts_from_ns;
      for (const MetricsConnection& connection : connections_) {
        waited.push_back({.fd = connection.fd(), .events = connection.events(), .revents = 0});
        until_ns = std::min(until_ns, connection.until_ns());
      }
      const int64_t wait_ms = std::clamp<int64_t>((until_ns - now_ns) / 1'000'000 + 1, 0, 60'000);
      if (::poll(waited.data(), waited.size(), static_cast<int>(wait_ms)) < 0) continue;  // a signal
      if (waited[0].revents != 0) return;
      now_ns = MonotonicNowNs();
      const Text newest = text();
      const auto answer = [this](absl::string_view head, size_t text_bytes) {
        return Answer(head, text_bytes);
      };
      size_t at = 2;
      std::erase_if(connections_, [&](MetricsConnection& connection) {
        const bool is_ready = waited[at++].revents != 0;
        return now_ns >= connection.until_ns() || (is_ready && !connection.Continue(now_ns, answer, newest));
      });
      if (waited[1].revents != 0) {
        UniqueFd accepted(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (accepted.valid()) connections_.emplace_back(std::move(accepted), now_ns);
        accepts_from_ns = now_ns + kAcceptNs;
      }
    }
  }

  MetricsAddress address_;
  const std::string host_name_;
  UniqueFd listener_, end_;
  std::list<MetricsConnection> connections_;  // of the thread
  Mutex mutex_;
  Text text_ ABSL_GUARDED_BY(mutex_) = std::make_shared<const std::string>(LiveMetrics({}, {}));
  std::thread thread_;
};

MetricsServer::MetricsServer() = default;
MetricsServer::~MetricsServer() = default;

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Open(const std::string& address) {
  absl::StatusOr<MetricsAddress> parsed = ParseAddress(address);
  if (!parsed.ok()) return parsed.status();
  std::unique_ptr<MetricsServer> server(new MetricsServer());
  server->service_ = std::make_unique<Service>(*std::move(parsed));
  const absl::Status listens = server->service_->Start();
  if (!listens.ok()) {
    return absl::UnavailableError(
        absl::StrCat("--live-metrics ", address, ": ", std::string(listens.message())));
  }
  return server;
}

std::string MetricsServer::url() const {
  return service_->url();
}

void MetricsServer::Publish(const LiveSample& sample) {
  service_->set_text(LiveMetrics(run_, sample));
}

}  // namespace iobench
