// One TCP connection to an NFSv3 server, made in this process: no mount, no kernel client, no cache. Over libnfs.
#ifndef WORKER_STORAGE_NFS_CONNECTION_H_
#define WORKER_STORAGE_NFS_CONNECTION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct nfs_context;
struct rpc_context;

namespace iobench {

// How long the server may be silent, seconds, before the connection is given up. libnfs itself waits for ever.
struct NfsPatience {
  double connect_s = 15;  // of each step of Connect; 5 at most where the server has just been given up for silence
  // No byte has moved while calls wait for replies; the URL's timeo=TENTHS goes before it.
  double reply_s = 60;
  // The same while a COMMIT waits, which may have gigabytes to write; 10 times timeo.
  double commit_s = 600;
};

// A file or directory as the server names it. Stays valid from connection to connection.
struct NfsHandle {
  std::array<char, 64> bytes{};  // NFS3_FHSIZE
  uint32_t size = 0;
};

// One nfs_context, one connection, one thread: the one that connects may hand it over once, later uses are of one
// thread. Threads that want more connections make more. When the server closes the connection or does not answer in
// time, it is lost for good: the call says so with Unavailable (DeadlineExceeded where nothing came in time), with
// server, call and seconds, and so does every later one. It is never made anew behind the user's back: what had been
// in flight is unknown.
class NfsConnection {
 public:
  using Callback = void (*)(int result, nfs_context* context, void* data, void* self);  // libnfs's nfs_cb
  using RawCallback = void (*)(rpc_context* rpc, int status, void* data, void* self);   // libnfs's rpc_cb

  // `directory_url`: nfs://HOST/PATH[?nfsport=N&mountport=N&uid=N&gid=N&timeo=N…] of a directory that exists. Mounts
  // PATH, or the longest part of it that the server lets us mount, and goes to PATH from there. NFSv3, whatever the
  // URL says. Unavailable: nothing listens there; DeadlineExceeded: no answer; PermissionDenied: not exported to us,
  // or (with the advice to export `insecure`) not to unprivileged ports; NotFound: no such export or directory;
  // InvalidArgument: URL.
  static absl::StatusOr<std::unique_ptr<NfsConnection>> Connect(const std::string& directory_url,
                                                                const NfsPatience& patience = {});
  ~NfsConnection();
  NfsConnection(const NfsConnection&) = delete;
  NfsConnection& operator=(const NfsConnection&) = delete;

  const std::string& url() const { return url_; }        // as given to Connect
  const std::string& server() const { return server_; }  // its host, for messages
  const NfsHandle& directory() const { return directory_; }
  // Bytes of one READ and WRITE at most: what the server says, and no more than 1 MiB, which is what libnfs before 6.0
  // and Linux's own client can do.
  uint32_t read_max_bytes() const { return read_max_bytes_; }
  uint32_t write_max_bytes() const { return write_max_bytes_; }

  // OK, or how the connection was lost. Looks at the socket: a server that has closed an idle connection is noticed.
  absl::Status CheckAlive();
  // The same without looking.
  const absl::Status& lost() const { return lost_; }

  // ---- one call at a time

  // Runs one asynchronous libnfs call and waits for its callback. `what` ("mkdir NAME") begins messages. `begin` gets
  // what it must pass on, and returns what libnfs returned:
  //     Call("mkdir x", [&](nfs_context* nfs, Callback done, void* self) {
  //       return nfs_mkdir2_async(nfs, "x", 0750, done, self); }, [&](int result, void* data) { … });
  // Relative paths are below the directory of the URL. `on_reply` runs during the callback, where `data` is valid, and
  // only if the result is not an error. The Status carries the errno (ErrnoOf): of NFS3ERR_DQUOT EDQUOT, as it should
  // be. The data path (nfs_pread, nfs_pwrite, nfs_fsync) says EFAULT for every error of the server: use NfsFile.
  absl::Status Call(std::string_view what, absl::FunctionRef<int(nfs_context*, Callback, void*)> begin,
                    absl::FunctionRef<void(int result, void* data)> on_reply);
  absl::Status Call(std::string_view what, absl::FunctionRef<int(nfs_context*, Callback, void*)> begin);

  // The same for calls of NFSv3 itself (libnfs-raw-nfs.h). `begin` returns whether the call was queued; wrap libnfs's
  // with worker/storage/nfs_raw.h, which knows its versions. `on_reply` gets the XXX3res and returns its status (0, or
  // nfsstat3), which becomes the errno of the Status.
  absl::Status RawCall(std::string_view what, absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                       absl::FunctionRef<int(void* result)> on_reply);
  // RawCall with patience for a COMMIT.
  absl::Status RawCommit(std::string_view what,
                         absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                         absl::FunctionRef<int(void* result)> on_reply);

  // ---- many calls at once: begin them with libnfs's own functions on context() or rpc(), then turn until their
  // callbacks have come. After a loss no callback comes any more, except those that are called while it is lost or
  // destroyed, with an error: what they point to must live until then.

  nfs_context* context() const { return context_; }  // null when lost
  rpc_context* rpc() const;                          // null when lost

  // Sends what is queued and takes what has come. With `wait`, sleeps until something comes, as long as the patience
  // for a reply goes; REQUIRES then: a call is in flight. An error: the connection is lost.
  absl::Status Turn(bool wait);

 private:
  NfsConnection(std::string url, const NfsPatience& patience) : url_(std::move(url)), patience_(patience) {}
  absl::Status Mount(const std::string& path);
  void SendAtOnce();
  absl::Status GoTo(const std::string& path);
  absl::Status RawCallFor(double silence_s, std::string_view what,
                          absl::FunctionRef<bool(rpc_context*, RawCallback, void*)> begin,
                          absl::FunctionRef<int(void* result)> on_reply);
  absl::Status Poll(bool wait, double silence_s, std::string_view what);
  absl::Status Lose(absl::Status why);
  absl::Status LoseClosed(int errno_value, std::string_view what);

  const std::string url_;
  NfsPatience patience_;
  std::string server_;
  nfs_context* context_ = nullptr;
  bool is_connected_ = false;
  absl::Status lost_;
  NfsHandle directory_;
  uint32_t read_max_bytes_ = 0;
  uint32_t write_max_bytes_ = 0;
};

// errno of an nfsstat3; 0 of NFS3_OK, EIO of one that has none.
int ErrnoOfNfs(int nfsstat3);
// "NFS3ERR_NOSPC"
std::string NfsStatusName(int nfsstat3);

}  // namespace iobench

#endif  // WORKER_STORAGE_NFS_CONNECTION_H_
