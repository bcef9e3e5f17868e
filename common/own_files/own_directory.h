// Directories in which this program creates files of its own, and which nobody else may turn against it.
#ifndef COMMON_OWN_FILES_OWN_DIRECTORY_H_
#define COMMON_OWN_FILES_OWN_DIRECTORY_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"

namespace iobench {

// An open directory. What is created through it is in the directory that was checked, even if its path has been exchanged
// since. Errors name path and reason.
class OwnDirectory {
 public:
  // Opens a directory. A symbolic link on the way is followed if it belongs to this user or root, as others could exchange
  // theirs at any time. PermissionDenied: it belongs to somebody else. Otherwise the status of the errno.
  static absl::StatusOr<OwnDirectory> Open(const std::string& path);
  // The same for a directory that is created, with its parents, if it is missing: mode 0750, or less by the umask. Checks it.
  static absl::StatusOr<OwnDirectory> Make(const std::string& path);

  // PermissionDenied: see JudgeDirectory. Creates and removes a file if the directory's owner and mode alone do not decide.
  absl::Status Check() const;
  // Creates a file, checks the directory, and removes the file again if that fails. `flags`: beside O_RDWR, O_CREAT, O_EXCL and
  // O_NOFOLLOW. AlreadyExists: something has this name, be it a link.
  absl::StatusOr<UniqueFd> Create(const std::string& name, mode_t mode, int flags = 0) const;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  OwnDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  absl::Status Judge(const struct stat* new_file) const;

  std::string path_;
  UniqueFd fd_;  // O_PATH
};

// Whether a file, a link, belongs to this user or root, who alone can be trusted with it.
bool BelongsToUs(const struct stat& facts);

// Whose rights this process has.
struct FileUser {
  uid_t user = 0;
  std::vector<gid_t> groups;
};
FileUser ThisFileUser();

// Whether `user` may trust a directory with files of its own. PermissionDenied, with what to do: it belongs to another user
// than this one or root, and has not been opened to a group of this user; or every user can write to it and remove the
// files of others (no sticky bit). `new_file`: one that this process has just created there, or null. Where such files get
// the directory's owner (NFS servers that map root to nobody, file systems without owners), that owner is this user; where
// they can be written by everybody whatever their mode, modes mean nothing. Pure.
absl::Status JudgeDirectory(const std::string& path, const struct stat& directory, const FileUser& user,
                            const struct stat* new_file);

}  // namespace iobench

#endif  // COMMON_OWN_FILES_OWN_DIRECTORY_H_
