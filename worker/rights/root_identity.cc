#include "worker/rights/root_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/clock.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif

namespace iobench {

std::optional<RootIdentity::Directory> RootIdentity::Of(int fd) {
  struct statx facts {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_INO | STATX_BTIME | STATX_MNT_ID, &facts) != 0) {
    return std::nullopt;
  }
  Directory directory;
  const bool has_mount = (facts.stx_mask & STATX_MNT_ID) != 0;
  directory.mount = has_mount ? facts.stx_mnt_id : makedev(facts.stx_dev_major, facts.stx_dev_minor);
  directory.inode = facts.stx_ino;
  if ((facts.stx_mask & STATX_BTIME) != 0) {
    directory.born_ns = facts.stx_btime.tv_sec * kNanosPerSecond + facts.stx_btime.tv_nsec;
  }
  return directory;
}

bool RootIdentity::IsSame(int fd) {
  const std::optional<Directory> now = Of(fd);
  if (!now.has_value()) return false;
  MutexLock lock(mutex_);
  if (known_.has_value() && known_->mount == now->mount) return *known_ == *now;
  known_ = now;
  return true;
}

}  // namespace iobench
