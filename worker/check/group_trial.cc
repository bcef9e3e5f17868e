#include "worker/check/group_trial.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/check/trial/acting_user.h"

namespace iobench {
namespace {

// AUTH_SYS has room for this many; the kernel sends those with the lowest numbers.
constexpr size_t kGroupsOfAuthSys = 16;
constexpr size_t kTrialGroupCount = 20;
constexpr gid_t kFirstTrialGroup = 61300;

std::vector<gid_t> GroupsOfThisProcess() {
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, count)));
  groups.resize(
      static_cast<size_t>(std::max(0, ::getgroups(static_cast<int>(groups.size()), groups.data()))));
  return groups;
}

// 0: the file has the group now. -1: the call succeeded, and the file has another one.
int GiveTo(gid_t group, int fd) {
  if (::fchown(fd, static_cast<uid_t>(-1), group) != 0) return errno;
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return errno;
  return seen.st_gid == group ? 0 : -1;
}

absl::Status TryOn(int directory_fd, const std::string& name, const std::string& path,
                   const TrialGroups& groups, v1::GroupsTried& tried) {
  const UniqueFd fd(
      ::openat(directory_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("create ", path), errno);
  struct stat seen {};
  absl::Status status;
  if (::fstat(fd.get(), &seen) != 0) status = ErrnoStatus(absl::StrCat("look at ", path), errno);
  tried.set_file_owner(seen.st_uid);
  for (size_t i = 0; status.ok() && i < groups.sent.size(); ++i) {
    const int error = GiveTo(groups.sent[i], fd.get());
    tried.set_groups(tried.groups() + 1);
    if (error == 0) {
      tried.set_honoured(tried.honoured() + 1);
    } else if (tried.refused_errno() == 0) {
      tried.set_first_refused(groups.sent[i]);
      tried.set_refused_errno(error);
    }
  }
  if (status.ok() && !groups.more.empty()) {
    tried.set_more_honoured(GiveTo(groups.more.back(), fd.get()) == 0);
  }
  ::unlinkat(directory_fd, name.c_str(), 0);  // otherwise it goes with the directory
  return status;
}

}  // namespace

TrialGroups TrialGroupsOf(std::vector<gid_t> groups, gid_t primary) {
  std::sort(groups.begin(), groups.end());
  TrialGroups split;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == primary) continue;
    (i < kGroupsOfAuthSys ? split.sent : split.more).push_back(groups[i]);
  }
  return split;
}

absl::Status TryGroups(int directory_fd, const std::string& name, const std::string& path,
                       v1::GroupsTried& tried) {
  if (::geteuid() != 0) {
    tried.set_user(::geteuid());
    return TryOn(directory_fd, name, path, TrialGroupsOf(GroupsOfThisProcess(), ::getegid()), tried);
  }
  tried.set_user(kTrialUser);
  tried.set_for_root(true);
  std::vector<gid_t> groups;
  for (size_t i = 0; i < kTrialGroupCount; ++i) groups.push_back(kFirstTrialGroup + static_cast<gid_t>(i));
  // Another client may have made the directory, and made it writable already; if not, creating the file fails.
  static_cast<void>(::fchmod(directory_fd, 0777));
  v1::ActingUser user;
  user.set_user(kTrialUser);
  user.set_group(kTrialUser);
  user.mutable_groups()->Assign(groups.begin(), groups.end());
  return ActAs(user,
               [&] { return TryOn(directory_fd, name, path, TrialGroupsOf(groups, kTrialUser), tried); });
}

}  // namespace iobench
