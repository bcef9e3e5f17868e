// Unmounts a file system and mounts it again with the same parameters, so that its client has nothing cached.
#ifndef WORKER_CLIENT_REMOUNT_H_
#define WORKER_CLIENT_REMOUNT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// The system calls of Remount, replaceable in tests. Calls return 0 or an errno.
class MountSystem {
 public:
  virtual ~MountSystem() = default;
  virtual bool IsRoot() = 0;
  virtual std::string Mountinfo() = 0;  // the text of /proc/self/mountinfo
  virtual int Unmount(const std::string& mount_point) = 0;
  virtual int Mount(const std::string& source, const std::string& mount_point, const std::string& filesystem,
                    uint64_t flags, const std::string& data) = 0;
  // The same with the system's mount program, which calls the helpers that some file systems need. Returns an empty
  // string on success, otherwise the program's output.
  virtual std::string MountByProgram(const std::string& source, const std::string& mount_point,
                                     const std::string& filesystem, const std::string& options) = 0;
  virtual std::string UsersOf(
      const std::string& mount_point) = 0;  // such as "process 12 (bash): working directory"
  virtual int64_t NowNs() = 0;              // monotonic
  virtual void Sleep(int64_t ns) = 0;
};
MountSystem& RealMountSystem();  // mount_system.cc

// Remounts with the source, type and options that the kernel reports. If the mount is in use, retries for ten seconds
// in total. Returns what was done, for display: "10.0.0.1:/export (nfs4) on /mnt/nfs".
//
// Errors for which nothing was changed: PermissionDenied: not root, or this worker's rights do not cover it.
// InvalidArgument: nothing is mounted there, the reported parameters are not sufficient to mount it again (bind mounts,
// FUSE, the root, SMB with a password, an option shown as "<hidden>"), or its files would be lost (tmpfs,
// ramfs). FailedPrecondition: in use; the message says by whom.
// Another error: Unavailable: unmounted, and mounting it again failed.
absl::StatusOr<std::string> Remount(const std::string& mount_point, MountSystem& system = RealMountSystem());

// Checks without changing anything whether Remount could begin. Returns its PermissionDenied and InvalidArgument, and
// FailedPrecondition if another file system is mounted below the mount point.
absl::Status CheckRemount(const std::string& mount_point, MountSystem& system = RealMountSystem());

// The arguments of mount(2) for mount options as the kernel reports them. Pure.
struct MountArguments {
  uint64_t flags = 0;
  std::string data;
};
MountArguments MountArgumentsFrom(const std::string& options);

}  // namespace iobench

#endif  // WORKER_CLIENT_REMOUNT_H_
