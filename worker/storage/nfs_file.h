// One file on an NFSv3 server, accessed by its handle: reads, writes and commits.
#ifndef WORKER_STORAGE_NFS_FILE_H_
#define WORKER_STORAGE_NFS_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/storage/nfs_connection.h"

namespace iobench {

// The stability that a WRITE requests (stable_how of RFC 1813, with its numbers).
enum class NfsStability { kUnstable = 0, kDataSync = 1, kFileSync = 2 };

// How a file is opened: what ACCESS must grant, and whether CREATE may be sent.
struct NfsOpen {
  bool read = false;
  bool write = false;
  bool create = false;     // with mode 0640, if it is missing
  bool exclusive = false;  // with create: AlreadyExists if it exists
};

class NfsFile;

// One READ or WRITE of at most the connection's transfer size. If the server processes fewer bytes than requested, the
// rest is requested with another call. The object must not move from Begin until `done`.
struct NfsTransfer {
  uint64_t offset = 0;
  std::byte* data = nullptr;  // destination of a read, source of a write
  uint32_t length = 0;
  // Called by the connection's Turn, or when the connection is lost. May begin another transfer.
  void (*done)(NfsTransfer&) = nullptr;
  void* owner = nullptr;  // for use by `done`

  // NFS3ERR_JUKEBOX ("try later"): send the call again after RetryDelayNs, for the connection's patience for a reply.
  // Otherwise it is an error at once.
  bool retries_later = false;

  // The result.
  uint32_t retries = 0;  // how often a call was sent again
  uint32_t moved = 0;    // less than `length` without an error: end of file
  int errno_value = 0;   // ECONNRESET: the connection is lost; see its lost()
  int nfs_status = 0;    // nfsstat3: the server's status

  // Used by NfsFile.
  NfsFile* file = nullptr;
  int64_t give_up_ns = 0;  // with `retries` > 0
  bool is_write = false;
  NfsStability stability = NfsStability::kUnstable;
};

// Belongs to one connection and its thread. The connection must outlive it.
//
// It checks the server's write verifier. If the verifier changes between a WRITE that was answered UNSTABLE and a later
// WRITE or COMMIT, the server has restarted and may have lost written data. The call that detects this fails (DataLoss;
// a transfer gets EIO and restarted() is true). Nothing is written again.
class NfsFile {
 public:
  // Opens `name`, a single name, with LOOKUP and ACCESS as the kernel's client does, or with CREATE if it is missing
  // and `how` says so. NFSv3 has no close, so the destructor sends nothing. Errors carry the errno. PermissionDenied:
  // also if ACCESS does not grant what is requested. FailedPrecondition: a symbolic link or not a regular file.
  static absl::StatusOr<std::unique_ptr<NfsFile>> Open(NfsConnection& connection, const NfsHandle& directory,
                                                       const std::string& name, const NfsOpen& how);
  NfsFile(const NfsFile&) = delete;
  NfsFile& operator=(const NfsFile&) = delete;

  const std::string& name() const { return name_; }
  const NfsHandle& handle() const { return handle_; }
  uint64_t bytes_at_open() const { return bytes_at_open_; }  // as reported by the server
  NfsConnection& connection() const { return connection_; }

  // ---- blocking calls for any length, with up to 8 transfers in flight; deferred calls are sent again

  // Returns the number of bytes read; fewer than requested only at the end of the file.
  absl::StatusOr<uint64_t> Read(uint64_t offset, std::span<std::byte> into);
  // Writes all bytes or returns an error. With kUnstable, they are safe only after Commit.
  absl::Status Write(uint64_t offset, std::span<const std::byte> from,
                     NfsStability stability = NfsStability::kUnstable);
  // Sends a COMMIT for the whole file if a WRITE was answered UNSTABLE since the last one, otherwise nothing.
  absl::Status Commit();

  // needs_commit: a WRITE was answered UNSTABLE since the last COMMIT. restarted: the verifier has changed.
  bool needs_commit() const { return needs_commit_; }
  bool restarted() const { return restarted_; }
  absl::Status RestartedError() const;  // REQUIRES: restarted()

  // ---- many in flight: begin transfers, then call the connection's Turn until `done` was called for each

  // Return false if the call could not be sent; `done` is then not called, and the transfer has the error.
  bool BeginRead(NfsTransfer& transfer);
  bool BeginWrite(NfsTransfer& transfer, NfsStability stability);

 private:
  NfsFile(NfsConnection& connection, std::string name) : connection_(connection), name_(std::move(name)) {}
  absl::Status LookUp(const NfsHandle& directory);
  absl::Status Create(const NfsHandle& directory);
  absl::Status CheckAccess(const NfsOpen& how);
  absl::StatusOr<uint64_t> Move(uint64_t offset, std::byte* data, uint64_t bytes, bool is_write,
                                NfsStability stability);

  bool Send(NfsTransfer& transfer);
  static void OnRead(rpc_context* rpc, int status, void* result, void* transfer);
  static void OnWrite(rpc_context* rpc, int status, void* result, void* transfer);
  static void Proceed(NfsTransfer& transfer, uint32_t moved, bool at_end);
  static void EndWith(NfsTransfer& transfer, int nfs_status);
  static bool RetryLater(NfsTransfer& transfer);
  bool IsSameServer(const char* verifier);

  NfsConnection& connection_;
  const std::string name_;
  NfsHandle handle_;
  uint64_t bytes_at_open_ = 0;
  std::array<char, 8> verifier_{};  // of the WRITEs that need a COMMIT
  bool needs_commit_ = false;
  bool restarted_ = false;
};

}  // namespace iobench

#endif  // WORKER_STORAGE_NFS_FILE_H_
