#include "worker/client/system_caches.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/rights/worker_rights.h"

namespace iobench {

absl::Status DropSystemCaches() {
  if (!CheckAllowed(WorkerAction::kDropCaches).ok()) {
    return absl::PermissionDeniedError(
        "drop_caches skipped: the worker was started without --allow drop-caches");
  }
  if (::geteuid() != 0) return absl::PermissionDeniedError("drop_caches skipped: not root");
  const UniqueFd fd(::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC));
  if (fd.valid() && ::write(fd.get(), "3", 1) == 1) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("drop_caches failed: ", ErrnoName(errno)));
}

}  // namespace iobench
