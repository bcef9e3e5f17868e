// Which directory a root of a worker is, so that it is not followed when another takes its place.
#ifndef WORKER_RIGHTS_ROOT_IDENTITY_H_
#define WORKER_RIGHTS_ROOT_IDENTITY_H_

#include <cstdint>
#include <optional>

#include "common/mutex.h"

namespace iobench {

// Learns what a root is from the first directory that it is asked about. Any thread may use it.
//
// Whoever may write to the directory that contains a root can put another one in its place, but only root can mount. So the
// root may become another directory by mounting (a file system that is mounted after the worker has started, an automounter,
// the worker's own remounts), and by nothing else.
class RootIdentity {
 public:
  // `fd`: what the root is now. True: it is the same directory as last time, or one of another mount, or the first.
  bool IsSame(int fd);

 private:
  struct Directory {
    uint64_t mount = 0;  // its id; the device, where the kernel does not tell (before Linux 5.8)
    uint64_t inode = 0;
    int64_t born_ns = 0;  // 0: the file system does not say; inode numbers are used again

    bool operator==(const Directory&) const = default;
  };

  static std::optional<Directory> Of(int fd);

  Mutex mutex_;
  std::optional<Directory> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // WORKER_RIGHTS_ROOT_IDENTITY_H_
