#include "worker/client/system_caches.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/rights/worker_rights.h"

namespace iobench {

void WriteBack(int directory_fd) {
  // The descriptor may be one of O_PATH, which syncfs refuses.
  const UniqueFd fd(::openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) ::syncfs(fd.get());
}

void WriteBackAll() {
  ::sync();
}

absl::Status CheckDropsSystemCaches() {
  if (!CheckAllowed(WorkerAction::kDropCaches).ok()) {
    return absl::PermissionDeniedError(
        "drop_caches skipped: the worker was started without --allow drop-caches");
  }
  return ::geteuid() == 0 ? absl::OkStatus() : absl::PermissionDeniedError("drop_caches skipped: not root");
}

absl::Status DropSystemCaches() {
  IOBENCH_RETURN_IF_ERROR(CheckDropsSystemCaches());
  const UniqueFd fd(::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC));
  if (fd.valid() && ::write(fd.get(), "3", 1) == 1) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("drop_caches failed: ", ErrnoName(errno)));
}

}  // namespace iobench
