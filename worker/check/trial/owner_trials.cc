// Trials of owners, groups and modes. Several users may act on the same names, one after the other: what one makes,
// another uses. A call that succeeds is "yes", one that is refused its errno's name; "other": it succeeded, and the file
// system shows something else.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/check/trial/trial.h"
#include "worker/check/trial/trial_file.h"

namespace iobench {
namespace {

constexpr mode_t kAllModeBits = 07777;

absl::Status AnsweredWith(int error, const char* call, v1::TrialResult& result) {
  result.set_answer(error == 0 ? "yes" : ErrnoName(error));
  if (error != 0) result.set_failed_call(call);
  return absl::OkStatus();
}

absl::Status ShowsOther(std::string detail, v1::TrialResult& result) {
  result.set_answer("other");
  result.set_detail(std::move(detail));
  return absl::OkStatus();
}

std::string Octal(mode_t mode) {
  return absl::StrFormat("%04o", mode & kAllModeBits);
}

UniqueFd CreateAt(int directory_fd, const std::string& name, mode_t mode) {
  return UniqueFd(
      ::openat(directory_fd, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
}

// The first supplementary group of this thread that is not its group; for root, which has all of them, one of nobody's.
std::optional<gid_t> GroupToShare() {
  constexpr gid_t kNobodys = 61300;
  if (::geteuid() == 0) return kNobodys;
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  for (int i = 0; i < count; ++i) {
    if (groups[static_cast<size_t>(i)] != ::getegid()) return groups[static_cast<size_t>(i)];
  }
  return std::nullopt;
}

// The directory of the trials, so that users can create files there whoever made it. REQUIRES: its maker calls this.
absl::Status TryOpenToAll(const TrialPlace& place, v1::TrialResult& result) {
  struct stat seen {};
  if (::fchmod(place.directory_fd, 0777) != 0) return AnsweredWith(errno, "chmod", result);
  if (::fstat(place.directory_fd, &seen) != 0) return AnsweredWith(errno, "stat", result);
  if ((seen.st_mode & 0777) == 0777) return AnsweredWith(0, "", result);
  return ShowsOther(absl::StrCat("after chmod 0777 the mode is ", Octal(seen.st_mode)), result);
}

// Leaves the file, for TryReadFile. `number`: the user that owns it.
absl::Status TryOwnFile(const TrialPlace& place, v1::TrialResult& result) {
  const std::string name = place.Name("own");
  const UniqueFd fd = CreateAt(place.directory_fd, name, 0600);
  if (!fd.valid()) return AnsweredWith(errno, "create", result);
  struct stat seen {};
  if (::pwrite(fd.get(), "x", 1, 0) != 1 || ::fsync(fd.get()) != 0)
    return AnsweredWith(errno, "write", result);
  if (::fstat(fd.get(), &seen) != 0) return AnsweredWith(errno, "stat", result);
  result.set_number(seen.st_uid);
  if (seen.st_uid != ::geteuid()) {
    return ShowsOther(absl::StrCat("its new file belongs to ", seen.st_uid, ":", seen.st_gid), result);
  }
  return AnsweredWith(0, "", result);
}

absl::Status TryReadFile(const TrialPlace& place, v1::TrialResult& result) {
  const UniqueFd fd(
      ::openat(place.directory_fd, place.Name("own").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return AnsweredWith(errno, "open", result);
  char byte = 0;
  return AnsweredWith(::pread(fd.get(), &byte, 1, 0) >= 0 ? 0 : errno, "read", result);
}

absl::Status TryModes(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "modes"));
  for (const mode_t mode : {0640, 0751, 0604, 0444, 0000, 0600}) {
    struct stat seen {};
    if (::fchmod(file.fd(), mode) != 0) return AnsweredWith(errno, "chmod", result);
    if (::fstat(file.fd(), &seen) != 0) return AnsweredWith(errno, "stat", result);
    if ((seen.st_mode & kAllModeBits) != mode) {
      return ShowsOther(absl::StrCat("after chmod ", Octal(mode), " the mode is ", Octal(seen.st_mode)),
                        result);
    }
  }
  return AnsweredWith(0, "", result);
}

absl::Status TryNoRights(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "no-rights"));
  if (::fchmod(file.fd(), 0) != 0) return AnsweredWith(errno, "chmod", result);
  const UniqueFd again(::openat(place.directory_fd, file.name().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  return AnsweredWith(again.valid() ? 0 : errno, "open", result);
}

// To a user that is neither this one nor another that validate acts as.
absl::Status TryGiveAway(const TrialPlace& place, v1::TrialResult& result) {
  constexpr uid_t kReceiver = 61236;
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "given"));
  if (::fchown(file.fd(), kReceiver, static_cast<gid_t>(-1)) != 0)
    return AnsweredWith(errno, "chown", result);
  struct stat seen {};
  if (::fstat(file.fd(), &seen) != 0) return AnsweredWith(errno, "stat", result);
  if (seen.st_uid != kReceiver) {
    return ShowsOther(absl::StrCat("after chown to ", kReceiver, " a file belongs to ", seen.st_uid), result);
  }
  return AnsweredWith(0, "", result);
}

void CreateUnderUmask(const TrialPlace& place, v1::TrialResult& result) {
  const std::string file = place.Name("umask"), directory = place.Name("umask-directory");
  struct stat of_file {
  }, of_directory{};
  ::umask(027);
  const UniqueFd fd = CreateAt(place.directory_fd, file, 0666);
  int error = fd.valid() && ::mkdirat(place.directory_fd, directory.c_str(), 0777) == 0 ? 0 : errno;
  if (error == 0 && (::fstat(fd.get(), &of_file) != 0 || ::fstatat(place.directory_fd, directory.c_str(),
                                                                   &of_directory, AT_SYMLINK_NOFOLLOW) != 0))
    error = errno;
  if (fd.valid()) ::unlinkat(place.directory_fd, file.c_str(), 0);
  ::unlinkat(place.directory_fd, directory.c_str(), AT_REMOVEDIR);
  constexpr mode_t kRights = 0777;
  if (error != 0) {
    static_cast<void>(AnsweredWith(error, "create", result));
  } else if ((of_file.st_mode & kRights) != 0640 || (of_directory.st_mode & kRights) != 0750) {
    static_cast<void>(
        ShowsOther(absl::StrCat("with umask 0027, a new file has mode ", Octal(of_file.st_mode & kRights),
                                " and a new directory ", Octal(of_directory.st_mode & kRights)),
                   result));
  } else {
    static_cast<void>(AnsweredWith(0, "", result));
  }
}

// On a thread that shares its umask with no other.
absl::Status TryUmask(const TrialPlace& place, v1::TrialResult& result) {
  absl::Status status;
  IOBENCH_ASSIGN_OR_RETURN(std::thread thread, StartThread([&] {
                             if (::unshare(CLONE_FS) != 0) {
                               status = ErrnoStatus("have a umask of its own", errno);
                             } else {
                               CreateUnderUmask(place, result);
                             }
                           }));
  thread.join();
  return status;
}

// Leaves a directory whose new files get its group, for TryInherit. "none": this user has no other group.
absl::Status TryMakeShared(const TrialPlace& place, v1::TrialResult& result) {
  const std::string name = place.Name("shared");
  const std::optional<gid_t> group = GroupToShare();
  if (!group.has_value()) {
    result.set_answer("none");
    return absl::OkStatus();
  }
  if (::mkdirat(place.directory_fd, name.c_str(), 0755) != 0) return AnsweredWith(errno, "mkdir", result);
  const UniqueFd fd(
      ::openat(place.directory_fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return AnsweredWith(errno, "open", result);
  if (::fchown(fd.get(), static_cast<uid_t>(-1), *group) != 0) return AnsweredWith(errno, "chgrp", result);
  if (::fchmod(fd.get(), 02777) != 0) return AnsweredWith(errno, "chmod", result);
  struct stat seen {};
  if (::fstat(fd.get(), &seen) != 0) return AnsweredWith(errno, "stat", result);
  if ((seen.st_mode & kAllModeBits) != 02777 || seen.st_gid != *group) {
    return ShowsOther(absl::StrCat("a directory of group ", *group, " with mode 2777 has group ", seen.st_gid,
                                   " and mode ", Octal(seen.st_mode)),
                      result);
  }
  return AnsweredWith(0, "", result);
}

absl::Status TryInherit(const TrialPlace& place, v1::TrialResult& result) {
  const UniqueFd shared(::openat(place.directory_fd, place.Name("shared").c_str(),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!shared.valid()) return AnsweredWith(errno, "open", result);
  struct stat parent {
  }, file{}, directory{};
  const UniqueFd fd = CreateAt(shared.get(), "file", 0644);
  int error = fd.valid() && ::mkdirat(shared.get(), "directory", 0755) == 0 ? 0 : errno;
  if (error == 0 && (::fstat(shared.get(), &parent) != 0 || ::fstat(fd.get(), &file) != 0 ||
                     ::fstatat(shared.get(), "directory", &directory, AT_SYMLINK_NOFOLLOW) != 0))
    error = errno;
  ::unlinkat(shared.get(), "file", 0);
  ::unlinkat(shared.get(), "directory", AT_REMOVEDIR);
  if (error != 0) return AnsweredWith(error, "create", result);
  if (file.st_gid != parent.st_gid || directory.st_gid != parent.st_gid ||
      (directory.st_mode & S_ISGID) == 0) {
    return ShowsOther(absl::StrCat("in a setgid directory of group ", parent.st_gid,
                                   ", a new file has group ", file.st_gid, ", and a new directory has group ",
                                   directory.st_gid, " and mode ", Octal(directory.st_mode)),
                      result);
  }
  return AnsweredWith(0, "", result);
}

// Leaves a directory in which only the owner of a file may remove it, for TryLeaveInSticky.
absl::Status TryMakeSticky(const TrialPlace& place, v1::TrialResult& result) {
  const std::string name = place.Name("sticky");
  if (::mkdirat(place.directory_fd, name.c_str(), 0755) != 0) return AnsweredWith(errno, "mkdir", result);
  return AnsweredWith(::fchmodat(place.directory_fd, name.c_str(), 01777, 0) == 0 ? 0 : errno, "chmod",
                      result);
}

UniqueFd OpenSticky(const TrialPlace& place) {
  return UniqueFd(::openat(place.directory_fd, place.Name("sticky").c_str(),
                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Leaves a file for TryRemoveFromSticky.
absl::Status TryLeaveInSticky(const TrialPlace& place, v1::TrialResult& result) {
  const UniqueFd sticky = OpenSticky(place);
  if (!sticky.valid()) return AnsweredWith(errno, "open", result);
  return AnsweredWith(CreateAt(sticky.get(), "file", 0666).valid() ? 0 : errno, "create", result);
}

absl::Status TryRemoveFromSticky(const TrialPlace& place, v1::TrialResult& result) {
  const UniqueFd sticky = OpenSticky(place);
  if (!sticky.valid()) return AnsweredWith(errno, "open", result);
  return AnsweredWith(::unlinkat(sticky.get(), "file", 0) == 0 ? 0 : errno, "unlink", result);
}

// Removes what the others left. REQUIRES: called by the user that made the directories.
absl::Status TryClear(const TrialPlace& place, v1::TrialResult& result) {
  ::unlinkat(place.directory_fd, place.Name("own").c_str(), 0);
  ::unlinkat(place.directory_fd, absl::StrCat(place.Name("sticky"), "/file").c_str(), 0);
  for (const char* const directory : {"sticky", "shared"}) {
    ::unlinkat(place.directory_fd, place.Name(directory).c_str(), AT_REMOVEDIR);
  }
  return AnsweredWith(0, "", result);
}

constexpr Trial kOwnerTrials[] = {
    {"open-to-all", "let all users create files in the directory", TryOpenToAll},
    {"own-file", "create a file of mode 0600 that belongs to its creator", TryOwnFile},
    {"read-file", "read the file of own-file", TryReadFile},
    {"modes", "chmod, and see the mode that was set", TryModes},
    {"no-rights", "open a file of mode 0000", TryNoRights},
    {"give-away", "chown to another user", TryGiveAway},
    {"umask", "new names get the rights that the umask leaves", TryUmask},
    {"make-shared", "make a setgid directory of another group", TryMakeShared},
    {"inherit", "new names in that directory get its group", TryInherit},
    {"make-sticky", "make a sticky directory", TryMakeSticky},
    {"leave-in-sticky", "create a file in that directory", TryLeaveInSticky},
    {"remove-from-sticky", "remove that file", TryRemoveFromSticky},
    {"clear-owners", "remove what these have left", TryClear},
};

}  // namespace

std::span<const Trial> OwnerTrials() {
  return kOwnerTrials;
}

}  // namespace iobench
