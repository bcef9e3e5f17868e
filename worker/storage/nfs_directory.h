// Directories and files of an NFSv3 server, reached without a mount.
#ifndef WORKER_STORAGE_NFS_DIRECTORY_H_
#define WORKER_STORAGE_NFS_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/nfs_url.h"
#include "worker/storage/directory.h"
#include "worker/storage/nfs_connection.h"

namespace iobench {

// What the server says of the file system that a directory is on.
struct NfsFacts {
  uint64_t filesystem_number = 0;  // the server's own
  uint64_t free_bytes = 0;         // for this user
  bool may_make_files = false;     // in the directory
  uint32_t read_max_bytes = 0;     // of one READ and one WRITE
  uint32_t write_max_bytes = 0;
};

// Every call goes to the server, which is asked by handle and single name: it never follows a symbolic link for us, and
// nothing is remembered. Directories below it, and files, use its connection and keep it open; all are of one thread.
class NfsDirectory final : public Directory {
 public:
  // Statuses as of NfsConnection::Connect.
  static absl::StatusOr<std::unique_ptr<NfsDirectory>> Open(const NfsUrl& url);

  NfsDirectory(std::string path, std::shared_ptr<NfsConnection> connection, const NfsHandle& handle)
      : Directory(std::move(path)), connection_(std::move(connection)), handle_(handle) {}

  absl::StatusOr<NfsFacts> LookAtFilesystem() const;

  absl::StatusOr<DirectoryIdentity> Identity() const override;
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
