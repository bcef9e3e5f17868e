// Tests whether a user has the rights of its supplementary groups on a file system.
#ifndef WORKER_CHECK_GROUP_TRIAL_H_
#define WORKER_CHECK_GROUP_TRIAL_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Creates a file, gives it to one supplementary group after the other, which the file system permits only to a member,
// and removes it. As root, it acts on a thread of its own as a user that no account has (kTrialUser), with 20 groups,
// after making the directory writable for all, if it may; any other process acts as itself, with the groups that it
// has. `directory_fd` is a directory of validate, `name` a name in it that is free, `path` is for messages. Blocks as
// long as the file system does. Errors: the file cannot be created or inspected, or the system refuses to act as
// another user; a group that is refused is no error.
absl::Status TryGroups(int directory_fd, const std::string& name, const std::string& path,
                       v1::GroupsTried& tried);

inline constexpr uint32_t kTrialUser = 61234;

// A process's supplementary groups, in ascending order. Without the primary group, which proves nothing.
struct TrialGroups {
  std::vector<gid_t> sent;  // by AUTH_SYS, which carries the 16 with the lowest numbers
  std::vector<gid_t> more;  // for which it has no room
};

// `groups` may contain the primary group, which then takes one of the 16 places. Pure.
TrialGroups TrialGroupsOf(std::vector<gid_t> groups, gid_t primary);

}  // namespace iobench

#endif  // WORKER_CHECK_GROUP_TRIAL_H_
