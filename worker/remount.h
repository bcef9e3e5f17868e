// Unmounts a file system and mounts it again as it was, so that its client has nothing of it cached.
#ifndef WORKER_REMOUNT_H_
#define WORKER_REMOUNT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// What Remount asks of the system; tests have one of their own. Calls give 0 or an errno.
class MountSystem {
 public:
  virtual ~MountSystem() = default;
  virtual bool IsRoot() = 0;
  virtual std::string Mountinfo() = 0;  // the text of /proc/self/mountinfo
  virtual int Unmount(const std::string& mount_point) = 0;
  virtual int Mount(const std::string& source, const std::string& mount_point, const std::string& filesystem,
                    uint64_t flags, const std::string& data) = 0;
  // The same by the system's own mount program, which knows the helpers of file systems that need one; empty: done,
  // else what it said.
  virtual std::string MountByProgram(const std::string& source, const std::string& mount_point,
                                     const std::string& filesystem, const std::string& options) = 0;
  virtual std::string UsersOf(const std::string& mount_point) = 0;  // "process 12 (bash): working directory"
  virtual int64_t NowNs() = 0;                                      // monotonic
  virtual void Sleep(int64_t ns) = 0;
};
MountSystem& RealMountSystem();

// By the source, type and options that the kernel shows. Tries for ten seconds in all where something still uses it.
// What was done, for people: "10.0.0.1:/export (nfs4) on /mnt/nfs".
// PermissionDenied: not root. InvalidArgument: nothing is mounted there, or it cannot be mounted again by what is shown
// (bind mounts, FUSE, the root), or its files would be gone (tmpfs, ramfs): nothing was done. FailedPrecondition: it is in use, and by whom; nothing was done.
// Unavailable: it is unmounted and does not come back.
absl::StatusOr<std::string> Remount(const std::string& mount_point, MountSystem& system = RealMountSystem());

// Whether Remount could begin, as far as can be seen without doing anything: its PermissionDenied and InvalidArgument,
// and FailedPrecondition where another file system is mounted below the mount point.
absl::Status CheckRemount(const std::string& mount_point, MountSystem& system = RealMountSystem());

// Mount options as the kernel shows them, for mount(2). Pure.
struct MountArguments {
  uint64_t flags = 0;
  std::string data;
};
MountArguments MountArgumentsFrom(const std::string& options);

}  // namespace iobench

#endif  // WORKER_REMOUNT_H_
