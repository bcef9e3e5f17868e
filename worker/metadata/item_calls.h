// The system calls on one item, used by the engine's timed ops and for preparation. Each returns the number of data
// bytes transferred or -errno. Calls interrupted by a signal are continued.
#ifndef WORKER_METADATA_ITEM_CALLS_H_
#define WORKER_METADATA_ITEM_CALLS_H_

#include <dirent.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "worker/data/payload.h"
#include "worker/metadata/metadata_work.h"
#include "worker/rights/open_beneath.h"

namespace iobench::item {

// For every open: a symbolic link in place of an item is an error, and no descriptor leaks into a program that is
// started.
inline constexpr int kOpenFlags = O_NOFOLLOW | O_CLOEXEC;

// How the calls on open files are made. The wrappers of glibc for open, read, write and close are cancellation points,
// which cost two locked instructions each, so they are used only if a preloaded library must see the calls. Each call is
// repeated after EINTR and returns its result or -errno.
struct Calls {
  bool of_libc = false;   // EngineOptions::libc_calls
  bool confined = false;  // the worker has roots: directories of a tree are opened without following links

  int64_t Open(int root_fd, const char* path, int flags, mode_t mode = 0) const {
    return Again([&]() -> long {
      return of_libc ? ::openat(root_fd, path, flags, mode) : ::syscall(SYS_openat, root_fd, path, flags, mode);
    });
  }
  // Opens a directory of a tree for listing, by its path from the root.
  int64_t OpenDirectory(int root_fd, const char* path) const {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | kOpenFlags;
    if (!confined) return Open(root_fd, path, kFlags);
    return Again([&]() -> long { return OpenBeneath(root_fd, path, kFlags); });
  }
  int64_t Read(int fd, void* data, size_t bytes) const {
    return Again([&] { return of_libc ? ::read(fd, data, bytes) : ::syscall(SYS_read, fd, data, bytes); });
  }
  int64_t Write(int fd, const void* data, size_t bytes) const {
    return Again([&] { return of_libc ? ::write(fd, data, bytes) : ::syscall(SYS_write, fd, data, bytes); });
  }
  int64_t List(int fd, void* entries, size_t bytes) const {
    return Again([&] {
      return of_libc ? ::getdents64(fd, entries, bytes) : ::syscall(SYS_getdents64, fd, entries, bytes);
    });
  }
  // Closes `fd` and returns `moved`, or the error of close if there was none before. The descriptor is closed even if
  // close reports an error (on NFS, for the data), so close is never repeated.
  int64_t CloseAfter(int fd, int64_t moved) const {
    const long result = of_libc ? ::close(fd) : ::syscall(SYS_close, fd);
    const int64_t closed = result == 0 ? 0 : -errno;
    return moved >= 0 && closed < 0 && closed != -EINTR ? closed : moved;
  }

 private:
  template <typename MakeCall>
  static int64_t Again(MakeCall make_call) {
    for (;;) {
      const long result = make_call();
      if (result >= 0) [[likely]]
        return result;
      if (errno != EINTR) return -errno;
    }
  }
};

// Writes file data that starts at position `begin` of the lane's data (MetadataWork::DataBeginOf), in pieces of at most
// kLargestPieceBytes. Returns the bytes written, fewer than `bytes` only if the system wrote none, or -errno.
inline int64_t WriteData(const Calls& calls, int fd, uint64_t begin, uint32_t bytes, Payload& payload) {
  uint32_t done = 0;
  while (done < bytes) {
    const Op piece{.kind = OpKind::kWrite,
                   .object = 0,
                   .offset = begin + done,
                   .length = std::min(bytes - done, kLargestPieceBytes)};
    const int64_t moved = calls.Write(fd, payload.Next(piece), piece.length);
    if (moved < 0) return moved;
    if (moved == 0) break;
    done += static_cast<uint32_t>(moved);
  }
  return done;
}

// Reads `bytes` bytes, or up to the end of the file if that comes first, repeatedly into the same buffer: the data is
// not used. Returns the bytes read or -errno.
inline int64_t ReadData(const Calls& calls, int fd, uint32_t bytes, std::byte* buffer) {
  uint32_t done = 0;
  while (done < bytes) {
    const int64_t moved = calls.Read(fd, buffer, std::min(bytes - done, kLargestPieceBytes));
    if (moved < 0) return moved;
    if (moved == 0) break;
    done += static_cast<uint32_t>(moved);
  }
  return done;
}

// Creates or opens the file with mode 0640, writes its data and closes it; returns the bytes written. `payload` may be
// null if `bytes` is 0. `flags`: O_EXCL if the file must be new, O_TRUNC, and the mode's O_SYNC or O_DSYNC.
inline int64_t Create(const Calls& calls, int root_fd, const char* path, int flags, uint64_t begin,
                      uint32_t bytes, Payload* payload) {
  const int64_t fd = calls.Open(root_fd, path, O_WRONLY | O_CREAT | kOpenFlags | flags, 0640);
  if (fd < 0) return fd;
  const int64_t moved = bytes == 0 ? 0 : WriteData(calls, static_cast<int>(fd), begin, bytes, *payload);
  return calls.CloseAfter(static_cast<int>(fd), moved);
}

// As Create, but the file must exist, and the data is added at its end.
inline int64_t Append(const Calls& calls, int root_fd, const char* path, int flags, uint64_t begin,
                      uint32_t bytes, Payload* payload) {
  const int64_t fd = calls.Open(root_fd, path, O_WRONLY | O_APPEND | kOpenFlags | flags);
  if (fd < 0) return fd;
  const int64_t moved = bytes == 0 ? 0 : WriteData(calls, static_cast<int>(fd), begin, bytes, *payload);
  return calls.CloseAfter(static_cast<int>(fd), moved);
}

// Opens the file, reads up to `bytes` of its data and closes it; returns the bytes read. `buffer` may be null if
// `bytes` is 0.
inline int64_t OpenClose(const Calls& calls, int root_fd, const char* path, uint32_t bytes,
                         std::byte* buffer) {
  const int64_t fd = calls.Open(root_fd, path, O_RDONLY | kOpenFlags);
  if (fd < 0) return fd;
  const int64_t moved = bytes == 0 ? 0 : ReadData(calls, static_cast<int>(fd), bytes, buffer);
  return calls.CloseAfter(static_cast<int>(fd), moved);
}

// Opens a file that lanes lock, whichever of them comes first. Returns the descriptor, or -errno.
inline int64_t OpenToLock(const Calls& calls, int root_fd, const char* path) {
  return calls.Open(root_fd, path, O_RDWR | O_CREAT | kOpenFlags, 0640);
}

// For calls whose wrappers in glibc are not cancellation points, and 3 ns faster than syscall().
inline int64_t Result(int64_t result) {
  return result >= 0 ? result : -int64_t{errno};
}

// One system call each, for paths relative to an open directory. They return 0 or -errno. Symbolic links in the place of
// the item are not followed.
inline int64_t Stat(int root_fd, const char* path, struct stat* facts) {
  return Result(::fstatat(root_fd, path, facts, AT_SYMLINK_NOFOLLOW));
}
inline int64_t Mkdir(int root_fd, const char* path) {
  return Result(::mkdirat(root_fd, path, 0750));
}
inline int64_t Unlink(int root_fd, const char* path, int flags = 0) {
  return Result(::unlinkat(root_fd, path, flags));
}
inline int64_t Rmdir(int root_fd, const char* path) {
  return Unlink(root_fd, path, AT_REMOVEDIR);
}
inline int64_t Rename(int from_fd, const char* from, int to_fd, const char* to) {
  return Result(::renameat(from_fd, from, to_fd, to));
}
inline int64_t Link(int file_fd, const char* file, int link_fd, const char* link) {
  return Result(::linkat(file_fd, file, link_fd, link, 0));
}
inline int64_t Symlink(int root_fd, const char* target, const char* link) {
  return Result(::symlinkat(target, root_fd, link));
}

// A worker whose plan is its own user's calls fchmodat(), as every program does; it follows a symbolic link. One with roots
// must not: it calls fchmodat2(2), which came with Linux 6.6, or opens the file and changes the mode of the descriptor.
enum class ChmodCall { kFchmodat2, kByDescriptor, kFollowing };
inline constexpr long kFchmodat2Number = 452;  // on all architectures
inline ChmodCall ChooseChmod(bool confined) {
  if (!confined) return ChmodCall::kFollowing;
  // On no descriptor, so that only the absence of the call gives another error.
  const bool is_there = ::syscall(kFchmodat2Number, -1, "x", 0, AT_SYMLINK_NOFOLLOW) < 0 && errno == EBADF;
  return is_there ? ChmodCall::kFchmodat2 : ChmodCall::kByDescriptor;
}
inline int64_t Chmod(ChmodCall how, int root_fd, const char* path, mode_t mode) {
  if (how == ChmodCall::kFchmodat2) return Result(::syscall(kFchmodat2Number, root_fd, path, mode, AT_SYMLINK_NOFOLLOW));
  if (how == ChmodCall::kFollowing) return Result(::fchmodat(root_fd, path, mode, 0));
  const int fd = ::openat(root_fd, path, O_RDONLY | O_NONBLOCK | kOpenFlags);
  if (fd < 0) return -int64_t{errno};
  const int64_t result = Result(::fchmod(fd, mode));
  ::close(fd);
  return result;
}

inline int64_t Chown(int root_fd, const char* path, uid_t user, gid_t group) {
  return Result(::fchownat(root_fd, path, user, group, AT_SYMLINK_NOFOLLOW));
}
// Both times are now.
inline int64_t SetTimes(int root_fd, const char* path) {
  return Result(::utimensat(root_fd, path, nullptr, AT_SYMLINK_NOFOLLOW));
}
inline int64_t ReadLink(int root_fd, const char* path, char* target, size_t bytes) {
  const int64_t read = Result(::readlinkat(root_fd, path, target, bytes));
  return std::min<int64_t>(read, 0);
}

// Opens the file for writing, calls `call` with its descriptor, and closes it.
template <typename Call>
int64_t OnOpened(const Calls& calls, int root_fd, const char* path, int flags, Call call) {
  const int64_t fd = calls.Open(root_fd, path, kOpenFlags | flags);
  if (fd < 0) return fd;
  return calls.CloseAfter(static_cast<int>(fd), call(static_cast<int>(fd)));
}
inline int64_t Resize(const Calls& calls, int root_fd, const char* path, uint64_t bytes) {
  return OnOpened(calls, root_fd, path, O_WRONLY,
                  [bytes](int fd) { return Result(::ftruncate(fd, static_cast<off_t>(bytes))); });
}
// `mode`: of fallocate(2), for the first `bytes` of the file.
inline int64_t Allocate(const Calls& calls, int root_fd, const char* path, int mode, uint64_t bytes) {
  return OnOpened(calls, root_fd, path, O_WRONLY,
                  [=](int fd) { return Result(::fallocate(fd, mode, 0, static_cast<off_t>(bytes))); });
}
inline int64_t SeekHole(const Calls& calls, int root_fd, const char* path) {
  return OnOpened(calls, root_fd, path, O_RDONLY,
                  [](int fd) { return std::min<int64_t>(Result(::lseek(fd, 0, SEEK_HOLE)), 0); });
}

// Opens a file and creates another one, calls `call` with both descriptors, and closes them.
template <typename Call>
int64_t IntoNew(const Calls& calls, int from_fd, const char* from, int to_fd, const char* to, int flags, Call call) {
  return OnOpened(calls, from_fd, from, O_RDONLY, [&](int source) -> int64_t {
    const int64_t fd = calls.Open(to_fd, to, O_WRONLY | O_CREAT | O_TRUNC | kOpenFlags | flags, 0640);
    if (fd < 0) return fd;
    return calls.CloseAfter(static_cast<int>(fd), call(source, static_cast<int>(fd)));
  });
}
// The copies return the bytes copied, fewer than `bytes` only if the file is shorter. `buffer` has kLargestPieceBytes, or
// `bytes` if these are fewer.
inline int64_t CopyByBuffer(const Calls& calls, int source, int target, uint32_t bytes, std::byte* buffer) {
  uint32_t done = 0;
  while (done < bytes) {
    const int64_t read = calls.Read(source, buffer, std::min(bytes - done, kLargestPieceBytes));
    if (read < 0) return read;
    if (read == 0) break;
    for (int64_t written = 0; written < read;) {
      const int64_t more = calls.Write(target, buffer + written, static_cast<size_t>(read - written));
      if (more <= 0) return more < 0 ? more : -int64_t{EIO};
      written += more;
    }
    done += static_cast<uint32_t>(read);
  }
  return done;
}
inline int64_t CopyRange(int source, int target, uint32_t bytes) {
  uint32_t done = 0;
  while (done < bytes) {
    const int64_t copied = Result(::copy_file_range(source, nullptr, target, nullptr, bytes - done, 0));
    if (copied == -EINTR) continue;
    if (copied < 0) return copied;
    if (copied == 0) break;
    done += static_cast<uint32_t>(copied);
  }
  return done;
}
inline int64_t CloneInto(int source, int target) {
  return Result(::ioctl(target, FICLONE, source));
}

// Extended attributes have no calls relative to a directory, so `path` is absolute. GetXattr returns the size of the
// value; -ERANGE: it is larger than `bytes`.
inline int64_t SetXattr(const char* path, const std::byte* value, uint32_t bytes) {
  return Result(::lsetxattr(path, kXattrName, value, bytes, 0));
}
inline int64_t GetXattr(const char* path, std::byte* value, uint32_t bytes) {
  return Result(::lgetxattr(path, kXattrName, value, bytes));
}

}  // namespace iobench::item

#endif  // WORKER_METADATA_ITEM_CALLS_H_
