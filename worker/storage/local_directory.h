// Directories and files of mounted file systems.
#ifndef WORKER_STORAGE_LOCAL_DIRECTORY_H_
#define WORKER_STORAGE_LOCAL_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "worker/storage/directory.h"

namespace iobench {

class LocalDirectory final : public Directory {
 public:
  // Opens a path given by the user. Symbolic links in it are followed. The directory need not be readable.
  static absl::StatusOr<std::unique_ptr<Directory>> Open(const std::string& path);

  LocalDirectory(std::string path, UniqueFd fd) : Directory(std::move(path)), fd_(std::move(fd)) {}

  int fd() const override { return fd_.get(); }
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
  const UniqueFd fd_;
};

// Opens a regular file for reading by the absolute path that the user gave. Symbolic links are followed.
absl::StatusOr<std::unique_ptr<File>> OpenUsersFile(const std::string& path);

}  // namespace iobench

#endif  // WORKER_STORAGE_LOCAL_DIRECTORY_H_
