// Gives up the rights of root for those of another user (--user).
#ifndef COORDINATOR_PROCESS_USER_H_
#define COORDINATOR_PROCESS_USER_H_

#include <string>

#include "absl/status/status.h"

namespace iobench {

// Makes this process the user `name`, or the one with this number, for good: user, group and the user's supplementary
// groups, no capabilities, and no way to gain rights by executing a program (PR_SET_NO_NEW_PRIVS). A number that has no
// name on this host is the group's too. Then tries to become root again, and fails unless the kernel refuses that. Call it
// before the process opens files or starts threads. Does nothing if the process already is this user, root included.
//
// NotFound: there is no such user. PermissionDenied: this process is not root. Internal: the rights could not be given up;
// the process must not go on.
absl::Status BecomeUser(const std::string& name);

}  // namespace iobench

#endif  // COORDINATOR_PROCESS_USER_H_
