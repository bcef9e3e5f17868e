// One file of an NFSv3 server, by its handle: reads, writes and commits as they go over the wire.
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

// How far a WRITE must have got before the server answers; the numbers of the protocol.
enum class NfsStability { kUnstable = 0, kDataSync = 1, kFileSync = 2 };

struct NfsOpen {
  bool read = false;
  bool write = false;
  bool create = false;     // with mode 0640, where it is not there
  bool exclusive = false;  // with create: AlreadyExists where it is there
};

class NfsFile;

// One READ or WRITE of at most the connection's transfer size, and what it takes to bring it to its end: an answer of
// fewer bytes than were asked for is followed by a call for the rest. Stays where it is from Begin to `done`.
struct NfsTransfer {
  uint64_t offset = 0;
  std::byte* data = nullptr;  // of a read where it goes, of a write where it is
  uint32_t length = 0;
  // Called by the connection's Turn, or while it is lost; may begin another.
  void (*done)(NfsTransfer&) = nullptr;
  void* owner = nullptr;  // for `done`

  // How it ended.
  uint32_t moved = 0;   // less than `length` and no error: the file ended
  int errno_value = 0;  // ECONNRESET: the connection is lost, and says how
  int nfs_status = 0;   // nfsstat3: what the server said

  // Of NfsFile.
  NfsFile* file = nullptr;
  bool is_write = false;
  NfsStability stability = NfsStability::kUnstable;
};

// Of one connection and its thread; the connection outlives it.
//
// The server's write verifier is looked at: where it changes between a WRITE that was answered UNSTABLE and a later
// WRITE or the COMMIT, the server has restarted and may have lost what had been written. The call that notices it
// fails (DataLoss; of a transfer EIO, and restarted() is true). Nothing is written a second time.
class NfsFile {
 public:
  // LOOKUP of `name`, which is one name, and ACCESS, as the kernel's client opens; where it is not there CREATE, if
  // that is wanted. Nothing is sent when it is destroyed: NFSv3 has no close. Errors carry the errno;
  // PermissionDenied also where ACCESS does not grant what is wanted; FailedPrecondition: a symbolic link, or no
  // regular file.
  static absl::StatusOr<std::unique_ptr<NfsFile>> Open(NfsConnection& connection, const NfsHandle& directory,
                                                       const std::string& name, const NfsOpen& how);
  NfsFile(const NfsFile&) = delete;
  NfsFile& operator=(const NfsFile&) = delete;

  const std::string& name() const { return name_; }
  const NfsHandle& handle() const { return handle_; }
  uint64_t bytes_at_open() const { return bytes_at_open_; }  // as the server said then
  NfsConnection& connection() const { return connection_; }

  // ---- one after the other, of any length, up to 8 transfers in flight

  // Bytes read; fewer than asked for at the end of the file only.
  absl::StatusOr<uint64_t> Read(uint64_t offset, std::span<std::byte> into);
  absl::Status Write(uint64_t offset, std::span<const std::byte> from,
                     NfsStability stability = NfsStability::kUnstable);
  // COMMIT of the whole file where a WRITE was answered UNSTABLE since the last; else nothing goes over the wire.
  absl::Status Commit();

  bool needs_commit() const { return needs_commit_; }
  bool restarted() const { return restarted_; }
  absl::Status RestartedError() const;  // REQUIRES: restarted

  // ---- many in flight: then Turn the connection until `done` has been called for each

  // False: it could not be sent, and `done` is not called; the transfer says why.
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
