#include "common/process/secret.h"

#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace iobench {
namespace {

// 1 byte: less than any core file has, and the value at which the kernel does not start a handler either (core_pattern with
// a pipe), which ignores other limits, 0 included. PR_SET_DUMPABLE would give this process's files in /proc to root, so that a
// worker of another user could no longer read the counters of its NFS mounts there.
void LeaveNoCoreDump() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(1, limit.rlim_max);
  ::setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace

void Secret::Wipe(std::string& text) {
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

Secret::Secret(std::string text) : text_(std::move(text)) {
  Wipe(text);  // a short string is copied, not moved
  if (!text_.empty()) LeaveNoCoreDump();
}

Secret::Secret(Secret&& other) noexcept : text_(std::move(other.text_)) {
  Wipe(other.text_);
}

Secret& Secret::operator=(const Secret& other) {
  return *this = Secret(other);
}

Secret& Secret::operator=(Secret&& other) noexcept {
  std::swap(text_, other.text_);
  return *this;
}

}  // namespace iobench
