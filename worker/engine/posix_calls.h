// Performs one op with plain system calls. The posix engine's loop uses it, and other engines for ops that they do not
// handle themselves.
#ifndef WORKER_ENGINE_POSIX_CALLS_H_
#define WORKER_ENGINE_POSIX_CALLS_H_

#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "common/model/op.h"
#include "worker/data/payload.h"
#include "worker/engine/file_lock.h"
#include "worker/engine/open_files.h"

namespace iobench {

static_assert(sizeof(off_t) == 8 && sizeof(long) == 8, "offsets travel in one register");

inline long ToRegister(const void* argument) {
  return reinterpret_cast<long>(argument);
}
template <std::integral T>
long ToRegister(T argument) {
  return static_cast<long>(argument);
}

template <typename... Args>
int64_t SystemCallOfGlibc(long number, Args... args) {
  const long result = ::syscall(number, args...);
  return result < 0 ? -errno : result;
}

// Makes a system call with up to six arguments. Returns its result or -errno. It is inlined, because glibc's syscall()
// costs 1 to 2 % of a cached 4 KiB read: its code and its table of addresses must return to the L1 caches, from which
// the previous call evicted them.
template <typename... Args>
[[gnu::always_inline]] inline int64_t SystemCall(long number, Args... args) {
#if defined(__x86_64__)
  // The calling convention of Linux on x86-64: syscall(2), "Architecture calling conventions".
  const std::array<long, 6> in_registers{ToRegister(args)...};
  register long fourth asm("r10") = in_registers[3];
  register long fifth asm("r8") = in_registers[4];
  register long sixth asm("r9") = in_registers[5];
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(in_registers[0]), "S"(in_registers[1]), "d"(in_registers[2]), "r"(fourth), "r"(fifth),
                 "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
#else
  return SystemCallOfGlibc(number, args...);
#endif
}

// The rare cases of CallAgainWhenInterrupted, out of its way.
template <typename... Args>
[[gnu::noinline, gnu::cold]] int64_t CallUntilNotInterrupted(long number, Args... args) {
  for (;;) {
    const int64_t result = SystemCall(number, args...);
    if (result != -EINTR) return result;
  }
}

// Repeats a system call after EINTR. Returns the call's result or -errno.
template <typename... Args>
[[gnu::always_inline]] inline int64_t CallAgainWhenInterrupted(long number, Args... args) {
  const int64_t result = SystemCall(number, args...);
  if (result == -EINTR) [[unlikely]]
    return CallUntilNotInterrupted(number, args...);
  return result;
}

// The data calls of an op, in one of two ways. Each repeats its call after EINTR, and returns its result or -errno.

// Without glibc's wrappers, which are cancellation points and cost a multi-threaded process two locked instructions per
// call (about 10 ns, 1 % of a cached 4 KiB read). A preloaded library does not see these calls.
struct DirectCalls {
  static constexpr bool kOfLibc = false;

  [[gnu::always_inline]] static int64_t Read(int fd, void* data, size_t bytes) {
    return CallAgainWhenInterrupted(SYS_read, fd, data, bytes);
  }
  [[gnu::always_inline]] static int64_t Write(int fd, const void* data, size_t bytes) {
    return CallAgainWhenInterrupted(SYS_write, fd, data, bytes);
  }
  [[gnu::always_inline]] static int64_t Pread(int fd, void* data, size_t bytes, uint64_t offset) {
    return CallAgainWhenInterrupted(SYS_pread64, fd, data, bytes, offset);
  }
  [[gnu::always_inline]] static int64_t Pwrite(int fd, const void* data, size_t bytes, uint64_t offset) {
    return CallAgainWhenInterrupted(SYS_pwrite64, fd, data, bytes, offset);
  }
  static int64_t Preadv(int fd, const iovec* records, size_t count, uint64_t offset) {
    return CallAgainWhenInterrupted(SYS_preadv, fd, records, count, offset, 0L);
  }
  static int64_t Pwritev(int fd, const iovec* records, size_t count, uint64_t offset) {
    return CallAgainWhenInterrupted(SYS_pwritev, fd, records, count, offset, 0L);
  }
};

// glibc's functions, which a library that is preloaded between the program and glibc can replace: to trace I/O, to
// serve it itself, or to inject faults (EngineOptions::libc_calls).
struct LibcCalls {
  static constexpr bool kOfLibc = true;

  static int64_t Read(int fd, void* data, size_t bytes) {
    return Again([&] { return ::read(fd, data, bytes); });
  }
  static int64_t Write(int fd, const void* data, size_t bytes) {
    return Again([&] { return ::write(fd, data, bytes); });
  }
  static int64_t Pread(int fd, void* data, size_t bytes, uint64_t offset) {
    return Again([&] { return ::pread(fd, data, bytes, static_cast<off_t>(offset)); });
  }
  static int64_t Pwrite(int fd, const void* data, size_t bytes, uint64_t offset) {
    return Again([&] { return ::pwrite(fd, data, bytes, static_cast<off_t>(offset)); });
  }
  static int64_t Preadv(int fd, const iovec* records, size_t count, uint64_t offset) {
    return Again([&] { return ::preadv(fd, records, static_cast<int>(count), static_cast<off_t>(offset)); });
  }
  static int64_t Pwritev(int fd, const iovec* records, size_t count, uint64_t offset) {
    return Again([&] { return ::pwritev(fd, records, static_cast<int>(count), static_cast<off_t>(offset)); });
  }

 private:
  template <typename MakeCall>
  static int64_t Again(MakeCall make_call) {
    for (;;) {
      const ssize_t result = make_call();
      if (result >= 0) return result;
      if (errno != EINTR) return -errno;
    }
  }
};

// Calls pread() or pwrite(), or both for an update. Returns the number of bytes transferred or -errno; fewer bytes than
// the op has are a failure for the loop, so short transfers are not continued. `files` is OpenFiles::data(). `payload`
// and `read_buffer` may be null if no op needs them.
template <typename By>
struct PositionalCalls {
  using Calls = By;
  const OpenFile* files;
  Payload* payload;
  std::byte* read_buffer;

  [[gnu::always_inline]] int64_t operator()(const Op& op) const {
    const OpenFile& file = files[op.object];
    const uint64_t offset = file.extent_offset_bytes + op.offset;
    const size_t length = op.length;
    const OpKind kind = op.kind;
    if (kind != OpKind::kWrite) {
      const int64_t moved = Calls::Pread(file.fd, read_buffer, length, offset);
      if (kind == OpKind::kRead || moved != static_cast<int64_t>(length)) return moved;
    }
    return Calls::Pwrite(file.fd, payload->Next(op), length, offset);
  }
};

// Wraps another op functor. REQUIRES: all ops are reads. The compiler then leaves out what other ops need, and keeps
// what is left in registers: 10 to 20 ns less per op where a kernel clears the processor's branch predictions at each
// system call (docs/performance.md).
template <typename DoOp>
struct OnlyReads {
  DoOp do_op;

  [[gnu::always_inline]] int64_t operator()(const Op& op) const {
    assert(op.kind == OpKind::kRead);
    if (op.kind != OpKind::kRead) __builtin_unreachable();
    return do_op(op);
  }
};

// Wraps another op functor: locks exactly the op's bytes, within the op's latency. Unlocks even if the op fails. The
// op's own error is the one returned; an error of the unlock counts only if the op succeeded.
template <typename DoOp>
struct WithRecordLock {
  DoOp do_op;
  const OpenFile* files;

  int64_t operator()(const Op& op) const {
    const OpenFile& file = files[op.object];
    const LockRange range{file.extent_offset_bytes + op.offset, op.length};
    if (const int error = WaitForLock(file.fd, LockFor(op), range); error != 0) return -error;
    const int64_t moved = do_op(op);
    const int error = Unlock(file.fd, range);
    return error != 0 && moved == static_cast<int64_t>(op.length) ? -int64_t{error} : moved;
  }
};

}  // namespace iobench

#endif  // WORKER_ENGINE_POSIX_CALLS_H_
