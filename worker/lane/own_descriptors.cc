#include "worker/lane/own_descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace iobench {
namespace {

constexpr unsigned kFirstAfterStandard = 3;
constexpr unsigned kUnshare = 1u << 1;  // CLOSE_RANGE_UNSHARE, which may be missing in glibc's headers

bool CloseRange(unsigned first, unsigned last, unsigned flags) {
  // The thread sanitizer assumes that equal numbers are the same file.
#if defined(SYS_close_range) && !defined(IOBENCH_TSAN)
  return first > last || ::syscall(SYS_close_range, first, last, flags) == 0;
#else
  static_cast<void>(flags);
  return first > last;
#endif
}

}  // namespace

bool UnshareDescriptors(int kept_fd) {
  if (!CloseRange(UINT_MAX, UINT_MAX, kUnshare)) return false;  // closes none
  if (kept_fd < static_cast<int>(kFirstAfterStandard)) return CloseRange(kFirstAfterStandard, UINT_MAX, 0);
  const auto kept = static_cast<unsigned>(kept_fd);
  return CloseRange(kFirstAfterStandard, kept - 1, 0) && CloseRange(kept + 1, UINT_MAX, 0);
}

}  // namespace iobench
