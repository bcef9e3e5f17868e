// Opens paths that must not lead anywhere else.
#ifndef WORKER_RIGHTS_OPEN_BENEATH_H_
#define WORKER_RIGHTS_OPEN_BENEATH_H_

#include <sys/types.h>

namespace iobench {

// As openat(2) with O_CLOEXEC, by openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS: one
// system call, so there is no instant at which a directory of the path that was checked can be replaced by a link. Where
// there is no openat2 (it is of Linux 5.6, and some container runtimes deny it), step by step, as below. Returns the
// descriptor, or -1 with errno: ELOOP, a part is a symbolic link; EXDEV, the path leads out of the directory.
int OpenBeneath(int directory_fd, const char* path, int flags, mode_t mode = 0);

// Opens the directory with O_PATH, in the same way, if no part of the absolute path is a symbolic link. Returns as above.
int OpenDirectoryWithoutLinks(const char* path);

// What OpenBeneath does without openat2. Each part is opened from the directory before it, which is held, by a call that
// follows no link: a directory that is replaced by a link meanwhile is refused, too. ".." is always refused.
int OpenBeneathStepByStep(int directory_fd, const char* path, int flags, mode_t mode = 0);

}  // namespace iobench

#endif  // WORKER_RIGHTS_OPEN_BENEATH_H_
