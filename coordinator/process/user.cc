#include "coordinator/process/user.h"

#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

struct User {
  std::string name;  // empty: this host knows only the number
  uid_t uid = 0;
  gid_t gid = 0;
};

// A name that consists of digits is a name first, as for chown.
absl::StatusOr<User> Find(const std::string& name) {
  std::vector<char> text(1 << 16);
  passwd entry{};
  passwd* found = nullptr;
  int error = getpwnam_r(name.c_str(), &entry, text.data(), text.size(), &found);
  uid_t uid = 0;
  const bool is_number = name.find_first_not_of("0123456789") == std::string::npos &&
                         absl::SimpleAtoi(name, &uid) &&
                         uid != static_cast<uid_t>(-1);  // to the kernel: leave it as it is
  if (found == nullptr && error == 0 && is_number)
    error = getpwuid_r(uid, &entry, text.data(), text.size(), &found);
  if (found != nullptr) return User{entry.pw_name, entry.pw_uid, entry.pw_gid};
  if (error != 0) return ErrnoStatus(absl::StrCat("--user ", name), error);
  if (is_number) return User{"", uid, uid};
  return absl::NotFoundError(absl::StrCat("--user ", name, ": this host has no such user"));
}

// The user's supplementary groups; without a name, none.
int SetGroups(const User& user) {
  return user.name.empty() ? setgroups(0, nullptr) : initgroups(user.name.c_str(), user.gid);
}

// True if all three user ids and group ids are the user's.
bool IsNow(const User& user) {
  uid_t real_uid = 0, effective_uid = 0, saved_uid = 0;
  gid_t real_gid = 0, effective_gid = 0, saved_gid = 0;
  if (getresuid(&real_uid, &effective_uid, &saved_uid) != 0) return false;
  if (getresgid(&real_gid, &effective_gid, &saved_gid) != 0) return false;
  return real_uid == user.uid && effective_uid == user.uid && saved_uid == user.uid && real_gid == user.gid &&
         effective_gid == user.gid && saved_gid == user.gid;
}

bool CanBeRootAgain() {
  return setresuid(0, 0, 0) == 0 || seteuid(0) == 0 || setgroups(0, nullptr) == 0;
}

}  // namespace

absl::Status BecomeUser(const std::string& name) {
  IOBENCH_ASSIGN_OR_RETURN(const User user, Find(name));
  // Bonnie++ demands -u of root, which its users answer with -u 0 or -u root.
  if (user.uid == 0 && geteuid() == 0) return absl::OkStatus();
  if (geteuid() == user.uid && IsNow(user)) return absl::OkStatus();
  if (geteuid() != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        "--user ", name, ": only root can become another user: start the program as root, or as ", name));
  }
  const std::string what = absl::StrCat("become user ", name);
  // Groups first: without root, they could no longer be changed.
  if (SetGroups(user) != 0) return ErrnoStatus(absl::StrCat(what, ": groups"), errno);
  if (setresgid(user.gid, user.gid, user.gid) != 0) return ErrnoStatus(absl::StrCat(what, ": group"), errno);
  if (setresuid(user.uid, user.uid, user.uid) != 0) return ErrnoStatus(what, errno);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return ErrnoStatus(absl::StrCat(what, ": no_new_privs"), errno);
  // The kernel has made the process's own /proc/self unreadable, where this program reads its counters.
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return ErrnoStatus(absl::StrCat(what, ": dumpable"), errno);
  if (CanBeRootAgain() || !IsNow(user)) {
    return absl::InternalError(
        absl::StrCat(what, ": the rights of root were not given up, so nothing is done"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
