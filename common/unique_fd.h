// A move-only file descriptor that closes itself on destruction.
#ifndef COMMON_UNIQUE_FD_H_
#define COMMON_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace iobench {

// Owns at most one descriptor. A moved-from or default-made object owns none. The destructor ignores the result of
// close(); where that result counts (on NFS, close() reports errors of delayed writes), take the descriptor out with
// Release() and close it. One thread at a time may use an object.
class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes over `fd`. A negative value, such as the result of a failed open(), makes an empty object; errno stays
  // untouched.
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  // Swaps: the descriptor that this object owned is closed when `other` is destroyed, for a temporary at the end of the
  // statement.
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  // Lends the descriptor, which stays open only as long as this object owns it. -1: there is none.
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Hands the descriptor to the caller, who must close it. -1: there was none.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace iobench

#endif  // COMMON_UNIQUE_FD_H_
