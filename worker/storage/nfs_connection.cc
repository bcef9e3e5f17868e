#include "worker/storage/nfs_connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "worker/storage/nfs_raw.h"
#include "worker/storage/nfs_status.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxTransferBytes = uint64_t{1} << 20;

// A lost connection stays lost: libnfs 4.0 would prepend the partial reply that it had read to the first reply of the
// next connection. Exports below the mounted one need their own URL: one connection is one file system.
constexpr char kOurSettings[] = "version=3&autoreconnect=0&auto-traverse-mounts=0";

// A server that was recently lost due to silence gets less time when it is contacted again. Usually nothing has
// changed, and every lane and the removal of the data would wait for it again.
constexpr int64_t kSilenceRememberedNs = 60 * kNanosPerSecond;
constexpr double kAskedAgainS = 5;

class SilentServers {
 public:
  void Note(const std::string& server) {
    MutexLock lock(mutex_);
    given_up_ns_[server] = MonotonicNowNs();
  }
  void Forget(const std::string& server) {
    MutexLock lock(mutex_);
    given_up_ns_.erase(server);
  }
  bool Has(const std::string& server) {
    MutexLock lock(mutex_);
    const auto found = given_up_ns_.find(server);
    return found != given_up_ns_.end() && MonotonicNowNs() - found->second < kSilenceRememberedNs;
  }

 private:
  Mutex mutex_;
  std::map<std::string, int64_t> given_up_ns_ ABSL_GUARDED_BY(mutex_);
};

SilentServers& TheSilentServers() {
  // Never destroyed: a thread that waits for a server may outlive main().
  static auto& servers = *new SilentServers;
  return servers;
}

// Includes the port.
std::string ServerOf(const std::string& url) {
  const auto parsed = ParseNfsUrl(url);
  return parsed.ok() ? parsed->Server() : url;
}

// What a connection mounts. libnfs expects an IPv6 address without the brackets of a URL.
struct Export {
  std::string host;
  std::string path;  // begins with '/', does not end with one unless it is "/"
};

// Our own URL argument: how long to wait for a silent server, in tenths of a second as in mount. libnfs's own timeout
// is turned off; from 6.0 on it has an argument of the same name with its own limits.
constexpr absl::string_view kPatience = "timeo";

// libnfs reads the arguments of a URL into the context. It does not get the host: libnfs 5.0 takes the colons of an IPv6
// address for a port.
absl::StatusOr<Export> ParseInto(nfs_context* context, const std::string& text, NfsPatience& patience) {
  IOBENCH_ASSIGN_OR_RETURN(const NfsUrl url, ParseNfsUrl(text));
  std::string settings = absl::StrCat("nfs://server/?", kOurSettings);
  for (const auto& [name, value] : url.arguments) {
    double tenths = 0;
    if (name != kPatience) {
      absl::StrAppend(&settings, "&", name, "=", value);
    } else if (absl::SimpleAtod(value, &tenths)) {
      patience.reply_s = tenths / 10;
      patience.commit_s = tenths;
    }
  }
  nfs_url* const parsed = nfs_parse_url_dir(context, settings.c_str());
  if (parsed == nullptr) return absl::InvalidArgumentError(absl::StrCat("libnfs refuses the arguments of \"", text, "\""));
  nfs_destroy_url(parsed);
  const bool is_ipv6 = url.host.starts_with('[') && url.host.ends_with(']');
  return Export{is_ipv6 ? url.host.substr(1, url.host.size() - 2) : url.host, url.path};
}

// Returns "/a/b" for "/a/b/c", and "/" for "/a".
std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// As in a URL.
std::string ShownHost(const std::string& host) {
  return host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
}

// Checks whether the host is known: libnfs reports only that it could not begin.
absl::Status CheckHost(const std::string& what, const std::string& host) {
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (error == 0) {
    ::freeaddrinfo(found);
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat(what, ": ", host, ": ", ::gai_strerror(error)));
}

// The result that a callback leaves for the call that waits for it.
struct Reply {
  absl::FunctionRef<void(int result, void* data)> take;
  bool is_there = false;
  int result = 0;
  std::string error_text = {};
};

void OnReply(int result, nfs_context*, void* data, void* self) {
  Reply& reply = *static_cast<Reply*>(self);
  reply.is_there = true;
  reply.result = result;
  if (result >= 0) {
    reply.take(result, data);
  } else if (data != nullptr) {
    reply.error_text = static_cast<const char*>(data);
  }
}

struct RawReply {
  absl::FunctionRef<int(void* result)> take;
  bool is_there = false;
  int rpc_status = RPC_STATUS_SUCCESS;
  int nfs_status = 0;
  std::string error_text = {};
};

void OnRawReply(rpc_context*, int status, void* data, void* self) {
  RawReply& reply = *static_cast<RawReply*>(self);
  reply.is_there = true;
  reply.rpc_status = status;
  if (status == RPC_STATUS_SUCCESS) {
    reply.nfs_status = reply.take(data);
  } else if (status == RPC_STATUS_ERROR && data != nullptr) {
    reply.error_text = static_cast<const char*>(data);
  }
}

}  // namespace

int64_t RetryDelayNs(uint32_t retries) {
  // The kernel's client waits 5 s each time; most deferrals end sooner.
  constexpr int64_t kFirstNs = 100'000'000, kLongestNs = 5 * kNanosPerSecond;
  return std::min(kFirstNs << std::min(retries, 10u), kLongestNs);
}

absl::StatusOr<std::unique_ptr<NfsConnection>> NfsConnection::Connect(const std::string& directory_url,
                                                                      const NfsPatience& patience) {
  absl::Status first_refusal;
  std::string mounted;  // the path to try; empty: the whole path
  for (;;) {
    std::unique_ptr<NfsConnection> made(new NfsConnection(directory_url, patience));
    made->context_ = nfs_init_context();
    if (made->context_ == nullptr) return absl::ResourceExhaustedError("no memory for an NFS connection");
    IOBENCH_ASSIGN_OR_RETURN(const Export url, ParseInto(made->context_, directory_url, made->patience_));
    nfs_set_autoreconnect(made->context_, 0);
    nfs_set_timeout(made->context_, -1);
    made->server_ = url.host;
    if (TheSilentServers().Has(ServerOf(directory_url))) {
      made->patience_.connect_s = std::min(made->patience_.connect_s, kAskedAgainS);
    }
    if (mounted.empty()) mounted = url.path;
    const absl::Status status = made->Mount(mounted);
    if (status.ok()) {
      made->SendAtOnce();
      const absl::Status there = made->GoTo(url.path.substr(mounted == "/" ? 0 : mounted.size()));
      if (!there.ok()) return there;
      return made;
    }
    // A shorter path can change only the errors that the server returned for this path.
    if (!absl::IsPermissionDenied(status) && !absl::IsNotFound(status)) return status;
    if (first_refusal.ok()) first_refusal = status;
    if (mounted == "/") return first_refusal;
    mounted = ParentOf(mounted);
  }
}

NfsConnection::~NfsConnection() {
  if (context_ != nullptr) nfs_destroy_context(context_);
}

void NfsConnection::CallAt(int64_t at_ns, void (*call)(void* self), void* self) {
  deferred_.push_back({at_ns, call, self});
}

void NfsConnection::CallDeferred(int64_t now_ns) {
  const auto due = std::partition(deferred_.begin(), deferred_.end(),
                                  [now_ns](const Deferred& each) { return each.at_ns > now_ns; });
  const std::vector<Deferred> calls(due, deferred_.end());
  deferred_.erase(due, deferred_.end());  // first, because a call may defer another
  for (const Deferred& each : calls) each.call(each.self);
}

rpc_context* NfsConnection::rpc() const {
  return context_ == nullptr ? nullptr : nfs_get_rpc_context(context_);
}

absl::Status NfsConnection::Mount(const std::string& path) {
  const auto take_nothing = [](int, void*) {};
  Reply reply{.take = take_nothing};
  const std::string what = absl::StrCat("mount nfs://", ShownHost(server_), path);
  const int begun = nfs_mount_async(context_, server_.c_str(), path.c_str(), OnReply, &reply);
  if (begun == 0) {
    while (!reply.is_there) IOBENCH_RETURN_IF_ERROR(Poll(/*wait=*/true, patience_.connect_s, what));
    if (reply.result >= 0) {
      is_connected_ = true;
      TheSilentServers().Forget(ServerOf(url_));
      return absl::OkStatus();
    }
  } else {
    reply.error_text = nfs_get_error(context_);
  }
  const std::string& text = reply.error_text;
  if (absl::StrContains(text, "MNT3ERR_NOENT") || absl::StrContains(text, "MNT3ERR_NOTDIR")) {
    return absl::NotFoundError(
        absl::StrCat(what, ": the server has no such directory (MNT3ERR_NOENT), or does not export it"));
  }
  if (absl::StrContains(text, "MNT3ERR_ACCES") || absl::StrContains(text, "MNT3ERR_PERM")) {
    return absl::PermissionDeniedError(absl::StrCat(
        what, ": the server does not export it to this host (MNT3ERR_ACCES)",
        ::geteuid() == 0 ? ""
                         : ", or refuses ports above 1023: export it with \"insecure\", or run as root"));
  }
  if (begun != 0) IOBENCH_RETURN_IF_ERROR(CheckHost(what, server_));
  if (absl::StrContains(text, "Program is not available")) {
    return absl::UnavailableError(
        absl::StrCat(what, ": its portmapper has no NFSv3 server or no mountd registered"));
  }
  return absl::UnavailableError(absl::StrCat(what, ": ", text.empty() ? "failed" : text));
}

// As the kernel's client does. Otherwise, a small call sent after another waits for the server's acknowledgement, and
// all but the first of many ops in flight begin a round trip late.
void NfsConnection::SendAtOnce() {
  const int on = 1;
  ::setsockopt(nfs_get_fd(context_), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

absl::Status NfsConnection::GoTo(const std::string& path) {
  if (!path.empty()) {
    const std::string below = path.front() == '/' ? path : absl::StrCat("/", path);
    IOBENCH_RETURN_IF_ERROR(
        Call(absl::StrCat("open directory ", url_), [&](nfs_context* context, Callback done, void* self) {
          return nfs_chdir_async(context, below.c_str(), done, self);
        }));
  }
  // libnfs reveals handles only of open files, and can open directories too.
  nfsfh* open = nullptr;
  IOBENCH_RETURN_IF_ERROR(Call(
      absl::StrCat("open directory ", url_),
      [](nfs_context* context, Callback done, void* self) {
        return nfs_open_async(context, ".", O_RDONLY, done, self);
      },
      [&](int, void* data) { open = static_cast<nfsfh*>(data); }));
  nfs_fh3 handle;  // libnfs: nfs_get_fh returns a handle for its raw calls
  std::memcpy(&handle, nfs_get_fh(open), sizeof(handle));
  const bool fits = CopyHandle(handle, directory_);
  absl::Status closed = Call("close directory", [&](nfs_context* context, Callback done, void* self) {
    return nfs_close_async(context, open, done, self);
  });
  if (!closed.ok()) return closed;
  if (!fits) return absl::InternalError(absl::StrCat(url_, ": its handle is longer than NFSv3 allows"));
  // libnfs's open and chdir accept a file as a directory.
  GETATTR3args which{};
  which.object = Nfs3Handle(directory_);
  bool is_directory = false;
  IOBENCH_RETURN_IF_ERROR(RawCall(
      absl::StrCat("GETATTR ", url_),
      [&](rpc_context* rpc, auto done, void* self) { return IOBENCH_NFS3(getattr, rpc, done, &which, self); },
      [&](void* result) {
        const GETATTR3res& answer = *static_cast<GETATTR3res*>(result);
        if (answer.status != NFS3_OK) return static_cast<int>(answer.status);
        is_directory = answer.GETATTR3res_u.resok.obj_attributes.type == NF3DIR;
        return 0;
      }));
  if (!is_directory) return ErrnoStatus(absl::StrCat("open directory ", url_), ENOTDIR);
  read_max_bytes_ = static_cast<uint32_t>(std::min<uint64_t>(nfs_get_readmax(context_), kMaxTransferBytes));
  write_max_bytes_ = static_cast<uint32_t>(std::min<uint64_t>(nfs_get_writemax(context_), kMaxTransferBytes));
  return absl::OkStatus();
}

absl::Status NfsConnection::Call(std::string_view what,
                                 absl::FunctionRef<int(nfs_context*, Callback, void*)> begin,
                                 absl::FunctionRef<void(int result, void* data)> on_reply) {
  if (!lost_.ok()) return lost_;
  Reply reply{.take = on_reply};
  if (begin(context_, OnReply, &reply) != 0) {
    return absl::InternalError(absl::StrCat(std::string(what), ": ", nfs_get_error(context_)));
  }
  while (!reply.is_there) IOBENCH_RETURN_IF_ERROR(Poll(/*wait=*/true, patience_.reply_s, what));
  if (reply.result >= 0) return absl::OkStatus();
  if (!lost_.ok()) return lost_;
  int error = -reply.result;
  if (absl::StrContains(reply.error_text, "NFS3ERR_DQUOT")) error = EDQUOT;
  return ErrnoStatus(what, error);
}

absl::Status NfsConnection::Call(std::string_view what,
                                 absl::FunctionRef<int(nfs_context*, Callback, void*)> begin) {
  return Call(what, begin, [](int, void*) {});
}

absl::Status NfsConnection::RawCall(std::string_view what,
                                    absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                                    absl::FunctionRef<int(void* result)> on_reply) {
  return RawCallFor(patience_.reply_s, what, begin, on_reply);
}

absl::Status NfsConnection::RawCommit(std::string_view what,
                                      absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                                      absl::FunctionRef<int(void* result)> on_reply) {
  return RawCallFor(patience_.commit_s, what, begin, on_reply);
}

absl::Status NfsConnection::RawCallFor(double silence_s, std::string_view what,
                                       absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                                       absl::FunctionRef<int(void* result)> on_reply) {
  const int64_t give_up_ns = MonotonicNowNs() + NanosFrom(patience_.reply_s);
  for (uint32_t retries = 0;; ++retries) {
    IOBENCH_ASSIGN_OR_RETURN(const int nfs_status, Ask(silence_s, what, begin, on_reply));
    if (nfs_status == NFS3_OK) return absl::OkStatus();
    const int64_t now_ns = MonotonicNowNs();
    if (nfs_status != NFS3ERR_JUKEBOX || now_ns >= give_up_ns) {
      return ErrnoStatus(absl::StrCat(std::string(what), ": ", NfsStatusName(nfs_status)),
                         ErrnoOfNfs(nfs_status));
    }
    const int64_t again_ns = std::min(now_ns + RetryDelayNs(retries), give_up_ns);
    while (MonotonicNowNs() < again_ns) IOBENCH_RETURN_IF_ERROR(RestUntil(again_ns, what));
    ++retries_;
    RecordDeferred(MonotonicNowNs() - now_ns);
  }
}

absl::StatusOr<int> NfsConnection::Ask(double silence_s, std::string_view what,
                                       absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                                       absl::FunctionRef<int(void* result)> on_reply) {
  if (!lost_.ok()) return lost_;
  RawReply reply{.take = on_reply};
  if (!begin(rpc(), OnRawReply, &reply)) {
    return absl::InternalError(absl::StrCat(std::string(what), ": ", nfs_get_error(context_)));
  }
  while (!reply.is_there) IOBENCH_RETURN_IF_ERROR(Poll(/*wait=*/true, silence_s, what));
  if (!lost_.ok()) return lost_;
  if (reply.rpc_status != RPC_STATUS_SUCCESS) {
    return absl::UnavailableError(
        absl::StrCat(std::string(what), ": NFS server ", ShownHost(server_), ": ",
                     reply.error_text.empty() ? "the call failed" : reply.error_text));
  }
  return reply.nfs_status;
}

absl::Status NfsConnection::CheckAlive() {
  return Poll(/*wait=*/false, 0, "");
}

absl::Status NfsConnection::Turn(bool wait) {
  if (deferred_.empty()) return Poll(wait, patience_.reply_s, "");
  const auto first = std::min_element(deferred_.begin(), deferred_.end(),
                                      [](const Deferred& a, const Deferred& b) { return a.at_ns < b.at_ns; });
  const int64_t now_ns = MonotonicNowNs();
  absl::Status status;
  if (first->at_ns > now_ns && wait && lost_.ok()) {
    status = RestUntil(first->at_ns, "");  // perhaps nothing is in flight
  } else {
    status = Poll(/*wait=*/false, patience_.reply_s, "");
  }
  if (status.ok()) CallDeferred(MonotonicNowNs());
  return status;
}

void NfsConnection::Await(int64_t ns) {
  if (context_ == nullptr) return;
  pollfd ready{
      .fd = nfs_get_fd(context_), .events = static_cast<short>(nfs_which_events(context_)), .revents = 0};
  const timespec patience{.tv_sec = ns / kNanosPerSecond, .tv_nsec = ns % kNanosPerSecond};
  ::ppoll(&ready, 1, &patience, nullptr);
}

absl::Status NfsConnection::RestUntil(int64_t at_ns, std::string_view what) {
  if (!lost_.ok()) return lost_;
  pollfd ready{
      .fd = nfs_get_fd(context_), .events = static_cast<short>(nfs_which_events(context_)), .revents = 0};
  const int64_t wait_ns = std::max<int64_t>(at_ns - MonotonicNowNs(), 0);
  if (::poll(&ready, 1, static_cast<int>(wait_ns / 1'000'000) + 1) <= 0) return absl::OkStatus();
  return Poll(/*wait=*/true, patience_.reply_s, what);
}

absl::Status NfsConnection::Poll(bool wait, double silence_s, std::string_view what) {
  if (!lost_.ok()) return lost_;
  // Sends at once; if the socket does not accept data now, it is polled below. Before the connection is established,
  // libnfs would take this for the notification that it has been.
  if (is_connected_) {
    int now = nfs_which_events(context_) & POLLOUT;
    if (!wait) now |= POLLIN;
    if (now != 0 && nfs_service(context_, now) < 0) return LoseClosed(0, what);
    if (!wait) return absl::OkStatus();
  }
  pollfd ready{
      .fd = nfs_get_fd(context_), .events = static_cast<short>(nfs_which_events(context_)), .revents = 0};
  const int count = ::poll(&ready, 1, static_cast<int>(std::min(silence_s * 1e3, 1e9)));
  if (count < 0) return errno == EINTR ? absl::OkStatus() : Lose(ErrnoStatus("poll", errno));
  if (count == 0) {
    TheSilentServers().Note(ServerOf(url_));
    if (!is_connected_)
      nfs_service(context_,
                  POLLHUP);  // frees calls that wait for the connection, which closing it would not do
    return Lose(absl::DeadlineExceededError(absl::StrCat(
        "NFS server ", ShownHost(server_), " has not answered ",
        what.empty() ? absl::StrCat(nfs_queue_length(context_),
                                    nfs_queue_length(context_) == 1 ? " call in flight" : " calls in flight")
                     : std::string(what),
        " for ", FormatSeconds(silence_s))));
  }
  if ((ready.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
    // Read here, because libnfs reports only its last error, which is that the socket is unusable.
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(ready.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    nfs_service(context_,
                ready.revents);  // runs the callback of a connection attempt, which frees memory
    return LoseClosed(error, what);
  }
  if (nfs_service(context_, ready.revents) < 0) return LoseClosed(0, what);
  return absl::OkStatus();
}

absl::Status NfsConnection::LoseClosed(int errno_value, std::string_view what) {
  const std::string error = errno_value == 0 ? "" : absl::StrCat(": ", strerrordesc_np(errno_value));
  std::string text = what.empty() ? "" : absl::StrCat(std::string(what), ": ");
  absl::StrAppend(&text, "NFS server ", ShownHost(server_),
                  is_connected_ ? " has closed the connection" : " cannot be reached", error);
  if (!is_connected_) {
    absl::StrAppend(
        &text,
        "; rpcbind, mountd and nfsd must be reachable there, or set their ports: ?nfsport=N&mountport=N");
  }
  return Lose(absl::UnavailableError(text));
}

// libnfs runs all pending callbacks when it destroys its context.
absl::Status NfsConnection::Lose(absl::Status why) {
  lost_ = std::move(why);
  nfs_destroy_context(std::exchange(context_, nullptr));
  CallDeferred(INT64_MAX);
  return lost_;
}

}  // namespace iobench
