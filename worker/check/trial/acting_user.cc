#include "worker/check/trial/acting_user.h"

#include <grp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "common/process/thread.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// The system calls themselves, because the C library would change all threads.
absl::Status Become(const v1::ActingUser& user) {
  const std::vector<gid_t> groups(user.groups().begin(), user.groups().end());
  if (::syscall(SYS_setgroups, groups.size(), groups.data()) != 0 ||
      ::syscall(SYS_setresgid, user.group(), user.group(), user.group()) != 0 ||
      ::syscall(SYS_setresuid, user.user(), user.user(), user.user()) != 0) {
    return ErrnoStatus("act as another user", errno);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ActAs(const v1::ActingUser& user, const std::function<absl::Status()>& work) {
  absl::Status status;
  IOBENCH_ASSIGN_OR_RETURN(std::thread thread, StartThread([&] {
                             status = Become(user);
                             if (status.ok()) status = work();
                           }));
  thread.join();
  return status;
}

}  // namespace iobench
