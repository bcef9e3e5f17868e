#include "worker/client/thread_work.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

struct KnownCall {
  long number;
  const char* name;
  int descriptor_argument;  // from 0; -1: none
  int offset_argument;      // the same
  bool writes = false;
};

constexpr KnownCall kKnownCalls[] = {
    {SYS_read, "read", 0, -1},
    {SYS_write, "write", 0, -1, true},
    {SYS_pread64, "pread64", 0, 3},
    {SYS_pwrite64, "pwrite64", 0, 3, true},
    {SYS_readv, "readv", 0, -1},
    {SYS_writev, "writev", 0, -1, true},
    {SYS_preadv, "preadv", 0, 3},
    {SYS_pwritev, "pwritev", 0, 3, true},
    {SYS_preadv2, "preadv2", 0, 3},
    {SYS_pwritev2, "pwritev2", 0, 3, true},
    {SYS_fsync, "fsync", 0, -1},
    {SYS_fdatasync, "fdatasync", 0, -1},
    {SYS_close, "close", 0, -1},
    {SYS_ftruncate, "ftruncate", 0, -1},
    {SYS_fallocate, "fallocate", 0, 2},
    {SYS_fadvise64, "fadvise64", 0, 1},
    {SYS_fcntl, "fcntl", 0, -1},
    {SYS_fstat, "fstat", 0, -1},
    {SYS_fchmod, "fchmod", 0, -1},
    {SYS_flock, "flock", 0, -1},
    {SYS_getdents64, "getdents64", 0, -1},
    {SYS_fstatfs, "fstatfs", 0, -1},
    {SYS_msync, "msync", -1, -1},
    {SYS_io_uring_enter, "io_uring_enter", -1, -1},
    {SYS_openat, "openat", 0, -1},
    {SYS_openat2, "openat2", 0, -1},
    {SYS_newfstatat, "newfstatat", 0, -1},
    {SYS_statx, "statx", 0, -1},
    {SYS_faccessat, "faccessat", 0, -1},
    {SYS_faccessat2, "faccessat2", 0, -1},
    {SYS_unlinkat, "unlinkat", 0, -1},
    {SYS_mkdirat, "mkdirat", 0, -1},
    {SYS_renameat2, "renameat2", 0, -1},
    {SYS_renameat, "renameat", 0, -1},
    {SYS_linkat, "linkat", 0, -1},
    {SYS_symlinkat, "symlinkat", 1, -1},
    {SYS_fchmodat, "fchmodat", 0, -1},
    {SYS_fsetxattr, "fsetxattr", 0, -1},
    {SYS_fgetxattr, "fgetxattr", 0, -1},
    {SYS_statfs, "statfs", -1, -1},
    {SYS_umount2, "umount2", -1, -1},
    {SYS_mount, "mount", -1, -1},
    {SYS_futex, "futex", -1, -1},
};

std::string ReadAll(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return "";
  std::string text(4096, '\0');
  const ssize_t size = ::read(fd.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

// The value in a line "name: value" of a file in /proc.
uint64_t ValueOf(std::string_view text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    uint64_t value = 0;
    const std::string_view rest = line.substr(name.size() + 1);
    static_cast<void>(absl::SimpleAtoi(absl::string_view(rest.data(), rest.size()), &value));
    return value;
  }
  return 0;
}

// Relative names (openat …) are not shown: the kernel shows only their address.
std::string PathOfDescriptor(const std::string& task, int descriptor) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink(absl::StrCat(task, "/fd/", descriptor).c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : "";
}

}  // namespace

ThreadLook ThreadLookFrom(std::string_view syscall, std::string_view io, std::string_view status,
                          int64_t now_ns, int& descriptor) {
  ThreadLook look;
  descriptor = -1;
  // "17 0x3 0x7f… 0x1000 0x2000 …": the number and six arguments; "running" and "-1 …" are no call.
  const std::vector<std::string> words =
      absl::StrSplit(absl::string_view(syscall.data(), syscall.size()), absl::ByAnyChar(" \n"));
  long number = -1;
  const bool in_call = words.size() >= 7 && absl::SimpleAtoi(words[0], &number) && number >= 0;
  const auto known = std::find_if(std::begin(kKnownCalls), std::end(kKnownCalls),
                                  [number](const KnownCall& call) { return call.number == number; });
  const auto argument = [&](int index) {
    uint64_t value = 0;
    static_cast<void>(absl::SimpleHexAtoi(words[static_cast<size_t>(index) + 1], &value));
    return value;
  };
  bool writes = false;
  if (in_call && known != std::end(kKnownCalls)) {
    look.call = known->name;
    writes = known->writes;
    if (known->descriptor_argument >= 0) descriptor = static_cast<int>(argument(known->descriptor_argument));
    if (known->offset_argument >= 0) look.offset = argument(known->offset_argument);
  } else if (in_call) {
    look.call = absl::StrCat("system call ", number);
  }
  look.activity = ValueOf(io, "rchar") + ValueOf(io, "wchar") + ValueOf(io, "syscr") + ValueOf(io, "syscw");
  if (!writes) look.activity += ValueOf(status, "voluntary_ctxt_switches");
  const bool sleeps = in_call && (number == SYS_clock_nanosleep || number == SYS_nanosleep);
  if (sleeps) look.activity += static_cast<uint64_t>(now_ns);
  return look;
}

ThreadLook ReadThreadWork(pid_t thread) {
  const std::string task = absl::StrCat("/proc/self/task/", thread);
  const std::string status = ReadAll(task + "/status");
  if (status.empty()) return {};
  int descriptor = -1;
  ThreadLook look =
      ThreadLookFrom(ReadAll(task + "/syscall"), ReadAll(task + "/io"), status, MonotonicNowNs(), descriptor);
  if (descriptor >= 0) look.file = PathOfDescriptor(task, descriptor);
  return look;
}

}  // namespace iobench
