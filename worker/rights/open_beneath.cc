#include "worker/rights/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace iobench {
namespace {

// On a busy directory, the kernel cannot prove in one go that ".." was not used for an escape, and returns EAGAIN.
// Paths with ".." never get here, so these attempts are enough against renames elsewhere.
constexpr int kMaxAttempts = 64;

int OpenAs(int directory_fd, const char* path, open_how how) {
  how.flags |= O_CLOEXEC;
  how.resolve |= RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0;; ++attempt) {
    const auto fd = static_cast<int>(::syscall(SYS_openat2, directory_fd, path, &how, sizeof(how)));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR) || attempt == kMaxAttempts) return fd;
  }
}

}  // namespace

int OpenBeneath(int directory_fd, const char* path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH;
  return OpenAs(directory_fd, path, how);
}

int OpenDirectoryWithoutLinks(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY;
  return OpenAs(AT_FDCWD, path, how);
}

}  // namespace iobench
