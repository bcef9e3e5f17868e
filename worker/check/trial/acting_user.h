// Calls on a file system in the name of another user.
#ifndef WORKER_CHECK_TRIAL_ACTING_USER_H_
#define WORKER_CHECK_TRIAL_ACTING_USER_H_

#include <functional>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Runs `work` on a thread of its own that has the ids of `user` and no capabilities, and waits for it. Files that are
// open already stay usable. The status is that of `work`; PermissionDenied: this process is not root.
absl::Status ActAs(const v1::ActingUser& user, const std::function<absl::Status()>& work);

}  // namespace iobench

#endif  // WORKER_CHECK_TRIAL_ACTING_USER_H_
