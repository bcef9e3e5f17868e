#include "common/transport/guard/connection_relay.h"

#include <openssl/err.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/transport/guard/frame_guard.h"
#include "common/transport/guard/tls_context.h"

namespace iobench {
namespace {

constexpr size_t kReadBytes = 16 << 10;  // a TLS record has at most as many
// What gRPC has said last must arrive, but a worker that does not read it may not hold its connection.
constexpr int64_t kFlushNs = 2'000'000'000;
constexpr int kLookMs = 250;
constexpr int kRefusedMs = 100;  // after epoll_wait failed
// TLS adds at most 22 bytes to a record; a worker's frames take hundreds of bytes each. The rest is for handshakes.
constexpr uint64_t kMaxSilentBytes = 1 << 20;
constexpr uint64_t kMaxOverhead = 4;
constexpr uint64_t kWake = 0;
constexpr int kMaxNames = 16;
constexpr int kNetworkSide = 0, kNeitherSide = 2;

// What a read or write has come to.
enum class Went { kBytes, kWaits, kEnded };
struct Outcome {
  Went went = Went::kWaits;
  size_t bytes = 0;
};

Outcome OutcomeOf(ssize_t bytes) {
  if (bytes > 0) return {Went::kBytes, static_cast<size_t>(bytes)};
  const bool waits = bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return {waits ? Went::kWaits : Went::kEnded};
}

// The relay's end of a pair gets a name, which gRPC takes for the peer's address. It is in nobody's way: nothing listens
// there.
bool Name(int fd, const std::string& peer) {
  std::random_device random;
  for (int i = 0; i < kMaxNames; ++i) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = absl::StrCat("cluster-iobench/", absl::Hex(random()), absl::Hex(random()), "/", peer);
    if (text.size() + 1 > sizeof name.sun_path) return false;
    memcpy(name.sun_path + 1, text.data(), text.size());
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&name), bytes) == 0) return true;
    if (errno != EADDRINUSE) return false;
  }
  return false;
}

}  // namespace

// The two ends of one connection. What could be read but not written yet is kept, and nothing more is read meanwhile.
class ConnectionRelay::Connection {
 public:
  Connection(uint64_t number, Added added, UniqueFd inner, OwnedSsl ssl, uint64_t max_event_bytes)
      : number_(number),
        network_(std::move(added.fd)),
        inner_(std::move(inner)),
        peer_(std::move(added.peer)),
        expected_(std::move(added.expected)),
        ssl_(std::move(ssl)),
        shakes_hands_(ssl_ != nullptr),
        guard_(max_event_bytes, MonotonicNowNs()) {
    if (ssl_ != nullptr) SSL_set_fd(ssl_.get(), network_.get());
  }

  uint64_t number() const { return number_; }
  const std::string& peer() const { return peer_; }
  const std::string& reason() const { return reason_; }  // why it is dropped, once Step has returned false
  const Expected& expected() const { return expected_; }

  // Moves what can be moved, after an event at one end, or none. False: the connection is over.
  enum class Side { kNetwork = kNetworkSide, kGrpc, kNeither = kNeitherSide };
  bool Step(int epoll, Side side, int64_t now_ns, std::span<unsigned char> buffer) {
    if (shakes_hands_ && !ShakeHands()) return false;
    const bool goes_on = shakes_hands_ || (MoveIn(side == Side::kNetwork, now_ns, buffer) &&
                                           MoveOut(side == Side::kGrpc, now_ns, buffer));
    if (!goes_on || is_due(now_ns)) return false;
    return Watch(epoll);
  }
  bool is_due(int64_t now_ns) const { return close_at_ns_ != 0 && now_ns >= close_at_ns_; }
  // Without a handshake, there is nothing to flush.
  void CloseNow() { close_at_ns_ = shakes_hands_ ? 1 : close_at_ns_; }

  // The doorkeeper may have another descriptor of the connection, which keeps neither it nor its events alive then.
  void End(int epoll) {
    Rewatch(epoll, network_.get(), network_events_, 0, 0);
    shutdown(network_.get(), SHUT_RDWR);
  }

 private:
  bool Watch(int epoll) {
    uint32_t network = 0, inner = 0;
    if (shakes_hands_) {
      network = tls_writes_ ? EPOLLOUT : EPOLLIN;
    } else {
      if (to_grpc_.empty() && !network_ended_) network |= EPOLLIN;
      if (!to_network_.empty()) network |= tls_reads_ ? EPOLLIN : EPOLLOUT;
      if (!to_grpc_.empty()) inner |= EPOLLOUT;
      if (to_network_.empty() && !inner_ended_) inner |= EPOLLIN;
    }
    return Rewatch(epoll, network_.get(), network_events_, network, 0) &&
           Rewatch(epoll, inner_.get(), inner_events_, inner, 1);
  }

  // An end of which nothing is wanted is not watched at all: epoll would report its death over and over.
  bool Rewatch(int epoll, int fd, uint32_t& watched, uint32_t wanted, uint64_t side) const {
    if (watched == wanted) return true;
    epoll_event event{};
    event.events = wanted;
    event.data.u64 = number_ << 1 | side;
    const int what = watched == 0 ? EPOLL_CTL_ADD : wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    watched = wanted;
    return epoll_ctl(epoll, what, fd, &event) == 0;
  }

  bool ShakeHands() {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    if (done == 1) {
      shakes_hands_ = false;
      return true;
    }
    const int error = SSL_get_error(ssl_.get(), done);
    tls_writes_ = error == SSL_ERROR_WANT_WRITE;
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return true;
    const long verified = SSL_get_verify_result(ssl_.get());
    const std::string why = verified != X509_V_OK      ? X509_verify_cert_error_string(verified)
                            : error == SSL_ERROR_SSL ? ReasonOfLastError()
                                                     : "";
    reason_ = absl::StrCat("its TLS handshake failed, or it hung up before its worker joined", why.empty() ? "" : ": ", why);
    return false;
  }

  Outcome ReadNetwork(std::span<unsigned char> buffer) {
    if (ssl_ == nullptr) return OutcomeOf(recv(network_.get(), buffer.data(), buffer.size(), 0));
    ERR_clear_error();
    const int bytes = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
    return TlsOutcome(bytes);
  }

  using Bytes = std::span<const unsigned char>;

  Outcome WriteNetwork(Bytes bytes) {
    if (ssl_ == nullptr) return OutcomeOf(send(network_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    ERR_clear_error();
    const int written = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    const Outcome outcome = TlsOutcome(written);
    tls_reads_ = written <= 0 && SSL_get_error(ssl_.get(), written) == SSL_ERROR_WANT_READ;
    return outcome;
  }

  Outcome TlsOutcome(int bytes) const {
    if (bytes > 0) return {Went::kBytes, static_cast<size_t>(bytes)};
    const int error = SSL_get_error(ssl_.get(), bytes);
    const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    return {waits ? Went::kWaits : Went::kEnded};
  }

  // From the network to gRPC.
  bool MoveIn(bool reads, int64_t now_ns, std::span<unsigned char> buffer) {
    if (!Flush(to_grpc_, [this](Bytes bytes) { return WriteInner(bytes); })) return false;
    while ((reads || HasPending()) && to_grpc_.empty() && !network_ended_) {
      reads = false;
      const Outcome read = ReadNetwork(buffer);
      if (!PassesSilence()) return false;
      if (read.went == Went::kEnded) network_ended_ = true;
      if (read.went != Went::kBytes) break;
      const Bytes bytes = buffer.first(read.bytes);
      if (!Passes(bytes, now_ns) || !Send(bytes, to_grpc_, [this](Bytes part) { return WriteInner(part); })) return false;
    }
    if (network_ended_ && to_grpc_.empty() && !std::exchange(inner_told_, true)) {
      shutdown(inner_.get(), SHUT_WR);
      BeginToClose(now_ns);
    }
    return true;
  }

  // From gRPC to the network.
  bool MoveOut(bool reads, int64_t now_ns, std::span<unsigned char> buffer) {
    if (!Flush(to_network_, [this](Bytes bytes) { return WriteNetwork(bytes); })) return false;
    if (reads && to_network_.empty() && !inner_ended_) {
      const Outcome read = OutcomeOf(recv(inner_.get(), buffer.data(), buffer.size(), 0));
      if (read.went == Went::kEnded) {
        inner_ended_ = true;
        BeginToClose(now_ns);
      }
      if (read.went == Went::kBytes) {
        const Bytes bytes = buffer.first(read.bytes);
        guard_.Answered(bytes);
        if (!Send(bytes, to_network_, [this](Bytes part) { return WriteNetwork(part); })) return false;
      }
    }
    if (!inner_ended_ || !to_network_.empty()) return true;
    if (ssl_ != nullptr) SSL_shutdown(ssl_.get());
    return false;
  }

  Outcome WriteInner(Bytes bytes) { return OutcomeOf(send(inner_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL)); }

  // Writes what can be written, and keeps the rest. False: that end is gone.
  template <typename Write>
  static bool Send(Bytes bytes, std::string& rest, Write write) {
    const Outcome sent = write(bytes);
    rest.assign(bytes.begin() + static_cast<std::ptrdiff_t>(sent.bytes), bytes.end());
    return sent.went != Went::kEnded;
  }

  template <typename Write>
  static bool Flush(std::string& kept, Write write) {
    if (kept.empty()) return true;
    const Outcome sent = write({reinterpret_cast<const unsigned char*>(kept.data()), kept.size()});
    kept.erase(0, sent.bytes);
    if (kept.empty()) kept = std::string();
    return sent.went != Went::kEnded;
  }

  // OpenSSL has read more than it has shown, of which epoll knows nothing.
  bool HasPending() const { return ssl_ != nullptr && SSL_has_pending(ssl_.get()) == 1; }

  void BeginToClose(int64_t now_ns) {
    if (close_at_ns_ == 0) close_at_ns_ = now_ns + kFlushNs;
  }

  bool Passes(std::span<const unsigned char> bytes, int64_t now_ns) {
    for (int due = expected_->exchange(0); due > 0; --due) guard_.ExpectMuch();
    read_bytes_ += bytes.size();
    const absl::Status status = guard_.Check(bytes, now_ns);
    reason_ = std::string(status.message());
    return status.ok();
  }

  // Messages of TLS itself, such as new keys, cost time and show no bytes.
  bool PassesSilence() {
    if (ssl_ == nullptr) return true;
    if (BIO_number_read(SSL_get_rbio(ssl_.get())) <= kMaxSilentBytes + kMaxOverhead * read_bytes_) return true;
    reason_ = "it sent TLS messages without content, which no worker sends";
    return false;
  }

  const uint64_t number_;
  UniqueFd network_, inner_;
  const std::string peer_;
  const Expected expected_;
  OwnedSsl ssl_;
  bool shakes_hands_;
  bool tls_writes_ = false;  // the handshake waits until it can write
  bool tls_reads_ = false;   // a write waits until it can read
  FrameGuard guard_;
  std::string to_grpc_, to_network_;
  uint64_t read_bytes_ = 0;
  bool network_ended_ = false, inner_ended_ = false, inner_told_ = false;
  int64_t close_at_ns_ = 0;  // 0: not yet
  uint32_t network_events_ = 0, inner_events_ = 0;
  std::string reason_;
};

ConnectionRelay::ConnectionRelay(Options options)
    : options_(std::move(options)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      buffer_(kReadBytes) {}

ConnectionRelay::~ConnectionRelay() {
  Stop();
}

absl::Status ConnectionRelay::Start() {
  if (!epoll_.valid() || !wake_.valid()) return ErrnoStatus("epoll", EMFILE);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWake;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  IOBENCH_ASSIGN_OR_RETURN(thread_, StartThread([this] { Serve(); }));
  return absl::OkStatus();
}

void ConnectionRelay::Stop() {
  if (!thread_.joinable()) return;
  stop_at_ns_ = MonotonicNowNs() + kFlushNs;
  eventfd_write(wake_.get(), 1);
  thread_.join();
  connections_.clear();
}

void ConnectionRelay::Add(int fd, const std::string& peer) {
  {
    MutexLock lock(mutex_);
    Expected expected = std::make_shared<std::atomic<int>>(0);
    expected_[peer] = expected;
    added_.push_back({UniqueFd(fd), peer, std::move(expected)});
  }
  eventfd_write(wake_.get(), 1);
}

void ConnectionRelay::ExpectMuch(const std::string& peer) {
  MutexLock lock(mutex_);
  if (const auto found = expected_.find(peer); found != expected_.end()) ++*found->second;
}

void ConnectionRelay::Open(Added added) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    return options_.ended(added.peer, "this process has no descriptor left for it: raise `ulimit -n` of the coordinator");
  }
  UniqueFd inner(ends[0]), grpcs(ends[1]);
  OwnedSsl ssl(options_.tls != nullptr ? SSL_new(options_.tls.get()) : nullptr);
  if (ssl != nullptr) SSL_set_accept_state(ssl.get());
  if (!Name(inner.get(), added.peer) || (options_.tls != nullptr && ssl == nullptr)) {
    return options_.ended(added.peer, "this process cannot serve it");
  }
  const uint64_t number = next_number_++;
  connections_[number] = std::make_unique<Connection>(number, std::move(added), std::move(inner), std::move(ssl),
                                                      options_.max_event_bytes);
  options_.admit(grpcs.Release());
  Step(number, kNetworkSide);
}

void ConnectionRelay::Step(uint64_t number, int side) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;  // an event of before
  Connection& connection = *found->second;
  if (connection.Step(epoll_.get(), static_cast<Connection::Side>(side), MonotonicNowNs(), buffer_)) return;
  options_.ended(connection.peer(), connection.reason());
  connection.End(epoll_.get());
  {
    MutexLock lock(mutex_);
    const auto expected = expected_.find(connection.peer());
    if (expected != expected_.end() && expected->second == connection.expected()) expected_.erase(expected);
  }
  connections_.erase(found);
}

bool ConnectionRelay::GoesOn(int64_t now_ns) const {
  const int64_t stop_at_ns = stop_at_ns_;
  return stop_at_ns == 0 || (!connections_.empty() && now_ns < stop_at_ns);
}

void ConnectionRelay::Serve() {
  NameThisThread("iobench-relay");
  // OpenSSL writes without MSG_NOSIGNAL. On this thread, a worker that has hung up is an error as any other.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  std::array<epoll_event, 64> events{};
  int64_t look_at_ns = 0;
  while (GoesOn(MonotonicNowNs())) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), kLookMs);
    if (count < 0 && errno != EINTR) usleep(kRefusedMs * 1000);
    for (int i = 0; i < count; ++i) {
      const uint64_t mark = events[i].data.u64;
      if (mark != kWake) {
        Step(mark >> 1, static_cast<int>(mark & 1));
        continue;
      }
      eventfd_t ignored = 0;
      eventfd_read(wake_.get(), &ignored);
    }
    std::vector<Added> added;
    {
      MutexLock lock(mutex_);
      added.swap(added_);
    }
    for (Added& each : added) Open(std::move(each));
    const int64_t now_ns = MonotonicNowNs();
    if (now_ns < look_at_ns && stop_at_ns_ == 0) continue;
    look_at_ns = now_ns + kLookMs * 1'000'000;
    std::vector<uint64_t> due;
    for (const auto& [number, connection] : connections_) {
      if (stop_at_ns_ != 0) connection->CloseNow();
      if (connection->is_due(now_ns)) due.push_back(number);
    }
    for (const uint64_t number : due) Step(number, kNeitherSide);
  }
}

}  // namespace iobench
