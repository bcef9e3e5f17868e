// One file of an NFSv3 server, by its handle: reads, writes and commits as they go over the wire.
#ifndef WORKER_STORAGE_NFS_FILE_H_
#define WORKER_STORAGE_NFS_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/storage/nfs_connection.h"

namespace iobench {

// How far a WRITE must have got before the server answers.
enum class NfsStability { kUnstable = 0, kDataSync = 1, kFileSync = 2 };

struct NfsOpen {
  bool read = false;
  bool write = false;
  bool create = false;     // CREATE, mode 0640, where it is not there
  bool exclusive = false;  // with create: AlreadyExists where it is there
};

class NfsFile;

// One READ or WRITE of at most the connection's transfer size, and what it takes to bring it to its end: an answer
// with less than was asked is followed by a call for the rest. Stays where it is from Begin to `done`.
struct NfsTransfer {
  uint64_t offset = 0;
  std::byte* data = nullptr;  // of a read where it goes, of a write where it is
  uint32_t length = 0;
  void (*done)(NfsTransfer&) = nullptr;  // called by Turn; may begin another
  void* owner = nullptr;                 // for `done`

  uint32_t moved = 0;  // less than length and no error: the file ended
  int errno_value = 0;
  int nfs_status = 0;  // what the server said
  bool is_write = false;
  NfsStability stability = NfsStability::kUnstable;
  NfsFile* file = nullptr;
};

// Of one connection and its thread; the connection outlives it. Not copied and not moved while transfers are in flight.
//
// The server's write verifier is checked: where it changes between a WRITE that was answered UNSTABLE and the COMMIT,
// the server has restarted and may have lost what was written. That is an error (EIO; `restarted()` says so) of the
// call that noticed it; nothing is written again.
class NfsFile {
 public:
  // LOOKUP (of each part of `name`, below the connection's directory) and ACCESS, as an open of the kernel's client;
  // with `create` and no such file CREATE. Errors carry the errno; PermissionDenied where ACCESS does not grant it.
  static absl::StatusOr<std::unique_ptr<NfsFile>> Open(NfsConnection& connection, const std::string& name,
                                                       const NfsOpen& how);
  NfsFile(const NfsFile&) = delete;
  NfsFile& operator=(const NfsFile&) = delete;

  // As the server said when it was opened.
  uint64_t bytes_at_open() const { return bytes_at_open_; }
  uint32_t owner_uid() const { return owner_uid_; }
  const std::string& name() const { return name_; }
  NfsConnection& connection() const { return connection_; }

  // ---- blocking, any length, up to 8 transfers in flight

  // Bytes read; less than asked at the end of the file only.
  absl::StatusOr<uint64_t> Read(uint64_t offset, std::span<std::byte> into);
  absl::Status Write(uint64_t offset, std::span<const std::byte> from,
                     NfsStability stability = NfsStability::kUnstable);
  // COMMIT of the whole file, if a WRITE was answered UNSTABLE since the last; else nothing goes over the wire.
  absl::Status Commit();
  bool needs_commit() const { return needs_commit_; }
  bool restarted() const { return restarted_; }

  // ---- many in flight; then connection().Turn() until `done` has been called for each

  // False: the connection is lost, and `done` is not called.
  bool BeginRead(NfsTransfer& transfer);
  bool BeginWrite(NfsTransfer& transfer, NfsStability stability);

 private:
  explicit NfsFile(NfsConnection& connection, std::string name)
      : connection_(connection), name_(std::move(name)) {}
  bool Send(NfsTransfer& transfer);
  static void OnRead(rpc_context* rpc, int status, void* result, void* transfer);
  static void OnWrite(rpc_context* rpc, int status, void* result, void* transfer);
  void Proceed(NfsTransfer& transfer, uint32_t moved, bool at_end);
  bool SameServer(const char* verifier);

  NfsConnection& connection_;
  const std::string name_;
  NfsHandle handle_;
  uint64_t bytes_at_open_ = 0;
  uint32_t owner_uid_ = 0;
  std::array<char, 8> verifier_{};  // of the WRITEs that need a COMMIT
  bool needs_commit_ = false;
  bool restarted_ = false;
};

}  // namespace iobench

#endif  // WORKER_STORAGE_NFS_FILE_H_
