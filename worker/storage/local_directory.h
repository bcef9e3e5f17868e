// Directories and files of mounted file systems.
#ifndef WORKER_STORAGE_LOCAL_DIRECTORY_H_
#define WORKER_STORAGE_LOCAL_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "worker/storage/directory.h"

namespace iobench {

// Keeps a descriptor of the directory and makes all calls relative to it, so it stays the same directory even if its
// path changes. Usable from any thread at any time, because each call is a system call of its own. Errors are those of
// Directory.
class LocalDirectory final : public Directory {
 public:
  // Opens a path that the user or a coordinator gives, if this worker's rights allow it (AllowedPaths); without roots,
  // symbolic links in it are followed. The directory need not be readable; if it is, opening it makes an NFS client ask
  // the server whether it has changed. Errors: those of AllowedPaths::Open.
  static absl::StatusOr<std::unique_ptr<Directory>> Open(const std::string& path);

  // Takes over an open directory; `path` is for messages.
  LocalDirectory(std::string path, UniqueFd fd) : Directory(std::move(path)), fd_(std::move(fd)) {}

  int fd() const override { return fd_.get(); }
  // The number is 0 on file systems that may give a directory a new one at each lookup (FUSE, SMB, FAT, overlays).
  absl::StatusOr<DirectoryIdentity> Identity() const override;
  absl::StatusOr<v1::Space> Space() const override;
  absl::StatusOr<std::vector<std::string>> Names() const override;
  absl::StatusOr<NodeFacts> Look(const std::string& name) const override;
  absl::StatusOr<std::unique_ptr<Directory>> OpenDirectory(const std::string& name) const override;
  // New directories have mode 0755, as far as the umask permits.
  absl::Status MakeDirectory(const std::string& name) const override;
  absl::Status RemoveDirectory(const std::string& name) const override;
  absl::StatusOr<std::unique_ptr<File>> OpenFile(const std::string& name, OpenFor use) const override;
  absl::Status Remove(const std::string& name) const override;
  absl::Status Rename(const std::string& from, const std::string& to) const override;
  // Unimplemented also if the file cannot get another link (EPERM, EMLINK).
  absl::Status Link(const std::string& from, const std::string& to) const override;

 private:
  const UniqueFd fd_;
};

// Returns the space of the file system that this descriptor is on; `path` is for messages.
absl::StatusOr<v1::Space> SpaceAt(int fd, const std::string& path);

// Opens a regular file for reading by the absolute path that the user or a coordinator gave. Without roots, symbolic
// links are followed, because they are the user's own. FailedPrecondition: not a regular file; otherwise the errors of
// AllowedPaths::Open.
absl::StatusOr<std::unique_ptr<File>> OpenUsersFile(const std::string& path);

}  // namespace iobench

#endif  // WORKER_STORAGE_LOCAL_DIRECTORY_H_
