// One TCP connection of this process to an NFSv3 server, using libnfs: no mount, kernel client or cache.
#ifndef WORKER_STORAGE_NFS_CONNECTION_H_
#define WORKER_STORAGE_NFS_CONNECTION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct nfs_context;
struct rpc_context;

namespace iobench {

// How many seconds the server may stay silent before the connection is considered lost. libnfs itself waits forever.
struct NfsPatience {
  double connect_s =
      15;  // for each step of Connect; at most 5 if the server has just been lost due to silence
  // While calls wait for replies and no byte is transferred. The URL's timeo=TENTHS overrides it.
  double reply_s = 60;
  // The same during a COMMIT, which may have to write gigabytes. With timeo in the URL: 10 times that.
  double commit_s = 600;
};

// The server's handle of a file or directory. It stays valid across connections.
struct NfsHandle {
  std::array<char, 64> bytes{};  // NFS3_FHSIZE
  uint32_t size = 0;
};

// Wraps one nfs_context with one connection. The thread that connects may pass it on to another thread once; after
// that, only one thread may use it. Threads that need more connections create more.
//
// If the server closes the connection or does not reply in time, the connection is lost for good: this call and all
// later ones return Unavailable (DeadlineExceeded if the server stayed silent), with server, call and seconds. It never
// reconnects automatically, because the state of calls in flight is unknown.
class NfsConnection {
 public:
  using Callback = void (*)(int result, nfs_context* context, void* data, void* self);  // libnfs's nfs_cb
  using RawCallback = void (*)(rpc_context* rpc, int status, void* data, void* self);   // libnfs's rpc_cb

  // Connects to an existing directory. `directory_url`: nfs://HOST/PATH[?nfsport=N&mountport=N&uid=N&gid=N&timeo=N…].
  // Mounts PATH, or the longest prefix of it that the server permits, and walks to PATH from there. Always uses NFSv3,
  // whatever the URL says. Unavailable: nothing listens there. DeadlineExceeded: no reply. PermissionDenied: not
  // exported to this client, or not to unprivileged ports (the message then advises to export with `insecure`).
  // NotFound: no such export or directory. InvalidArgument: malformed URL.
  static absl::StatusOr<std::unique_ptr<NfsConnection>> Connect(const std::string& directory_url,
                                                                const NfsPatience& patience = {});
  ~NfsConnection();
  NfsConnection(const NfsConnection&) = delete;
  NfsConnection& operator=(const NfsConnection&) = delete;

  const std::string& url() const { return url_; }        // as passed to Connect
  const std::string& server() const { return server_; }  // the host, for messages
  const NfsHandle& directory() const { return directory_; }
  // The max bytes of one READ and one WRITE: the server's limit, but at most 1 MiB, which is the limit of libnfs before
  // 6.0 and of Linux's own client.
  uint32_t read_max_bytes() const { return read_max_bytes_; }
  uint32_t write_max_bytes() const { return write_max_bytes_; }

  // Returns OK, or how the connection was lost. Checks the socket, so it notices that the server has closed an idle
  // connection.
  absl::Status CheckAlive();
  // Like CheckAlive, but does not check the socket.
  const absl::Status& lost() const { return lost_; }

  // ---- one call at a time

  // Runs one asynchronous libnfs call and waits for its callback. `what` ("mkdir NAME") starts the messages. `begin`
  // gets the arguments that it must pass on, and returns what libnfs returned:
  //     Call("mkdir x", [&](nfs_context* nfs, Callback done, void* self) {
  //       return nfs_mkdir2_async(nfs, "x", 0750, done, self); }, [&](int result, void* data) { … });
  // Relative paths start at the directory of the URL. `on_reply` runs during the callback, while `data` is valid, and
  // only if the result is not an error. The status carries the errno (ErrnoOf); NFS3ERR_DQUOT gives EDQUOT. libnfs's
  // data calls (nfs_pread, nfs_pwrite, nfs_fsync) report EFAULT for every server error; use NfsFile instead.
  absl::Status Call(std::string_view what, absl::FunctionRef<int(nfs_context*, Callback, void*)> begin,
                    absl::FunctionRef<void(int result, void* data)> on_reply);
  absl::Status Call(std::string_view what, absl::FunctionRef<int(nfs_context*, Callback, void*)> begin);

  // The same for raw NFSv3 calls (libnfs-raw-nfs.h). `begin` returns whether the call was queued; use
  // worker/storage/nfs_raw.h, which handles differences between libnfs versions. `on_reply` gets the XXX3res and
  // returns its status (0 or an nfsstat3), which becomes the errno of the status.
  absl::Status RawCall(std::string_view what, absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                       absl::FunctionRef<int(void* result)> on_reply);
  // RawCall and RawCommit retry a call that the server defers (NFS3ERR_JUKEBOX, "try later"), after RetryDelayNs, for
  // the patience for a reply, then fail with EAGAIN. They call `begin` and `on_reply` for each attempt.
  //
  // Like RawCall, but with the patience for a COMMIT.
  absl::Status RawCommit(std::string_view what,
                         absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                         absl::FunctionRef<int(void* result)> on_reply);

  // ---- many calls at once: start them with libnfs's own functions on context() or rpc(), then call Turn until their
  // callbacks have run. When the connection is lost or destroyed, the remaining callbacks run with an error, and none
  // runs later. Everything they point to must live until then.

  nfs_context* context() const { return context_; }  // null if lost
  rpc_context* rpc() const;                          // null if lost

  // Sends queued calls and processes replies. With `wait`, blocks until a reply arrives, at most for the patience for a
  // reply. An error means that the connection is lost. REQUIRES: with `wait`, a call is in flight.
  absl::Status Turn(bool wait);
  // Blocks until the socket has something for Turn, but not for longer than `ns`, and not if the connection is lost.
  void Await(int64_t ns);

  // Has Turn call `call(self)` at this time (MonotonicNowNs), for an NFS call that the server has deferred. If the
  // connection is lost before, calls it then, with rpc() null; if it is destroyed, never.
  void CallAt(int64_t at_ns, void (*call)(void* self), void* self);
  const NfsPatience& patience() const { return patience_; }

  // Returns how often RawCall and RawCommit have sent calls again since the last call of PopRetries.
  uint64_t PopRetries() { return std::exchange(retries_, 0); }
  // How long calls of all kinds have waited to be sent again.
  int64_t deferred_ns() const { return deferred_ns_; }
  void RecordDeferred(int64_t ns) { deferred_ns_ += ns; }

 private:
  struct Deferred {
    int64_t at_ns = 0;
    void (*call)(void* self) = nullptr;
    void* self = nullptr;
  };
  void CallDeferred(int64_t now_ns);
  NfsConnection(std::string url, const NfsPatience& patience) : url_(std::move(url)), patience_(patience) {}
  absl::Status Mount(const std::string& path);
  void SendAtOnce();
  absl::Status GoTo(const std::string& path);
  absl::Status RawCallFor(double silence_s, std::string_view what,
                          absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                          absl::FunctionRef<int(void* result)> on_reply);
  // Sends a raw call once. Returns the server's status, an nfsstat3.
  absl::StatusOr<int> Ask(double silence_s, std::string_view what,
                          absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                          absl::FunctionRef<int(void* result)> on_reply);
  absl::Status Poll(bool wait, double silence_s, std::string_view what);
  // Returns at this time, or earlier after processing what has arrived. Silence until then is not an error.
  absl::Status RestUntil(int64_t at_ns, std::string_view what);
  absl::Status Lose(absl::Status why);
  absl::Status LoseClosed(int errno_value, std::string_view what);

  const std::string url_;
  NfsPatience patience_;
  std::string server_;
  nfs_context* context_ = nullptr;
  bool is_connected_ = false;
  std::vector<Deferred> deferred_;  // in no order
  absl::Status lost_;
  NfsHandle directory_;
  uint32_t read_max_bytes_ = 0;
  uint32_t write_max_bytes_ = 0;
  uint64_t retries_ = 0;
  int64_t deferred_ns_ = 0;
};

// Returns how long to wait before a deferred call is sent again for the first time (0), the second time (1) …
int64_t RetryDelayNs(uint32_t retries);

}  // namespace iobench

#endif  // WORKER_STORAGE_NFS_CONNECTION_H_
