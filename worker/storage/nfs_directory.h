// Directories and files of an NFSv3 server that is accessed without a mount.
#ifndef WORKER_STORAGE_NFS_DIRECTORY_H_
#define WORKER_STORAGE_NFS_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/nfs_url.h"
#include "worker/storage/directory.h"
#include "worker/storage/nfs_connection.h"

namespace iobench {

// What the server reports about the file system of a directory.
struct NfsFacts {
  uint64_t filesystem_number = 0;  // assigned by the server
  v1::Space space = {};
  bool may_make_files = false;  // this user may create files in the directory
  uint32_t read_max_bytes = 0;  // limits of one READ and one WRITE
  uint32_t write_max_bytes = 0;
};

// Every operation is sent to the server, with a handle and a single name: symbolic links are never followed and nothing
// is cached. Subdirectories and files opened through it share its connection and keep it open; one thread must use all
// of them. Once the connection is lost, every call returns Unavailable or DeadlineExceeded; open a new object then.
class NfsDirectory final : public Directory {
 public:
  // Statuses are those of NfsConnection::Connect.
  static absl::StatusOr<std::unique_ptr<NfsDirectory>> Open(const NfsUrl& url);

  // Takes over the handle of a directory on that connection; `path` is for messages.
  NfsDirectory(std::string path, std::shared_ptr<NfsConnection> connection, const NfsHandle& handle)
      : Directory(std::move(path)), connection_(std::move(connection)), handle_(handle) {}

  // Asks the server with GETATTR, FSSTAT and ACCESS; the transfer sizes were learnt when connecting. Changes nothing.
  absl::StatusOr<NfsFacts> ReadFilesystemFacts() const;

  int64_t deferred_ns() const override { return connection_->deferred_ns(); }
  absl::StatusOr<DirectoryIdentity> Identity() const override;
  absl::StatusOr<v1::Space> Space() const override;
  absl::StatusOr<std::vector<std::string>> Names() const override;
  absl::StatusOr<NodeFacts> Look(const std::string& name) const override;
  absl::StatusOr<std::unique_ptr<Directory>> OpenDirectory(const std::string& name) const override;
  absl::Status MakeDirectory(const std::string& name) const override;
  absl::Status RemoveDirectory(const std::string& name) const override;
  absl::StatusOr<std::unique_ptr<File>> OpenFile(const std::string& name, OpenFor use) const override;
  absl::Status Remove(const std::string& name) const override;
  absl::Status Rename(const std::string& from, const std::string& to) const override;
  absl::Status Link(const std::string& from, const std::string& to) const override;

 private:
  const std::shared_ptr<NfsConnection> connection_;
  const NfsHandle handle_;
};

}  // namespace iobench

#endif  // WORKER_STORAGE_NFS_DIRECTORY_H_
