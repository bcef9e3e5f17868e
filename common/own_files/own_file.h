// Files that this program writes for its user: results, reports, logs, token files. Nothing else creates one: the table of
// tests/structure/test_own_files.py says why where something else does.
#ifndef COMMON_OWN_FILES_OWN_FILE_H_
#define COMMON_OWN_FILES_OWN_FILE_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/own_files/own_directory.h"
#include "common/unique_fd.h"

namespace iobench {

// The suffix of a file while it is being written. The next write replaces a partial file left by a crash.
inline constexpr char kPartialSuffix[] = ".partial";

// Who may read a new file, if the umask does not take more away.
inline constexpr mode_t kResultMode = 0640;
inline constexpr mode_t kSecretMode = 0600;

// The place of a file, in a directory that is held open. Errors name the file and the reason, with the errno's code;
// PermissionDenied also if the directory is somebody else's (JudgeDirectory).
class OwnFile {
 public:
  static absl::StatusOr<OwnFile> At(const std::string& path);

  // Creates the file, for reading and writing. Fails if anything, even a symbolic link, has this name.
  absl::StatusOr<UniqueFd> CreateNew(mode_t mode = kResultMode, int flags = 0) const;
  // Creates the file under the name that it has until Publish renames it, in place of what is there.
  absl::StatusOr<UniqueFd> CreatePartial(mode_t mode = kResultMode, int flags = 0) const;
  // REQUIRES: CreatePartial. Replaces what has the file's name; a link is not followed.
  absl::Status Publish() const;
  void RemovePartial() const;
  // OK also if there is nothing.
  absl::Status Remove() const;

  const std::string& path() const { return path_; }
  const OwnDirectory& directory() const { return directory_; }
  const std::string& name() const { return name_; }  // in directory()

 private:
  OwnFile(std::string path, std::string name, OwnDirectory directory)
      : path_(std::move(path)), name_(std::move(name)), directory_(std::move(directory)) {}
  absl::StatusOr<UniqueFd> Create(const std::string& suffix, mode_t mode, int flags) const;

  std::string path_, name_;
  OwnDirectory directory_;
};

}  // namespace iobench

#endif  // COMMON_OWN_FILES_OWN_FILE_H_
