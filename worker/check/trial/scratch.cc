#include "worker/check/trial/scratch.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr int kLooksForTimestamp = 1000;  // of 5 ms
constexpr size_t kScratchReadBytes = 4096;
constexpr int kTriesToRemove = 50;  // 20 ms apart
constexpr char kClock[] = "clock";

absl::Status ScratchFailed(const char* call, const char* name) {
  return ErrnoStatus(absl::StrCat(call, " ", name), errno);
}

// Removes all that is in the directory. What cannot be removed stays.
void EmptyScratch(int directory) {
  UniqueFd again(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const stream = again.valid() ? ::fdopendir(again.get()) : nullptr;
  if (stream == nullptr) return;
  again.Release();
  std::vector<std::string> names;
  {
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(stream, ::closedir);
    while (const dirent* const entry = ::readdir(stream)) names.emplace_back(entry->d_name);
  }
  for (const std::string& name : names) {
    if (name == "." || name == ".." || ::unlinkat(directory, name.c_str(), 0) == 0) continue;
    const UniqueFd below(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (below.valid()) EmptyScratch(below.get());
    ::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

absl::StatusOr<Scratch> Scratch::In(const TrialPlace& place) {
  std::string name = place.Name("rule");
  if (::mkdirat(place.directory_fd, name.c_str(), 0755) != 0) return ScratchFailed("mkdir", name.c_str());
  UniqueFd fd(::openat(place.directory_fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return ScratchFailed("open directory", name.c_str());
  return Scratch(place.directory_fd, std::move(name), std::move(fd));
}

Scratch::~Scratch() {
  if (!fd_.valid()) return;  // moved from
  // An NFS client removes the hidden name of a file that was removed while open a little after its close.
  for (int i = 0; i < kTriesToRemove; ++i) {
    EmptyScratch(fd_.get());
    if (::unlinkat(parent_, name_.c_str(), AT_REMOVEDIR) == 0 || (errno != ENOTEMPTY && errno != EBUSY))
      return;
    const timespec sleep = {.tv_sec = 0, .tv_nsec = 20'000'000};
    ::nanosleep(&sleep, nullptr);
  }
}

absl::StatusOr<UniqueFd> Scratch::Open(const char* name, int flags, mode_t mode) const {
  UniqueFd fd(::openat(fd_.get(), name, flags | O_CLOEXEC, mode));
  if (fd.valid()) return fd;
  return ScratchFailed("open", name);
}

absl::Status Scratch::Write(const char* name, const std::string& contents) const {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, Open(name, O_WRONLY | O_CREAT | O_TRUNC));
  return ::pwrite(fd.get(), contents.data(), contents.size(), 0) == static_cast<ssize_t>(contents.size())
             ? absl::OkStatus()
             : ScratchFailed("write", name);
}

absl::Status Scratch::MakeDirectory(const char* name) const {
  return ::mkdirat(fd_.get(), name, 0755) == 0 ? absl::OkStatus() : ScratchFailed("mkdir", name);
}

absl::StatusOr<struct stat> Scratch::Look(const char* name) const {
  struct stat seen {};
  if (::fstatat(fd_.get(), name, &seen, AT_SYMLINK_NOFOLLOW) == 0) return seen;
  return ScratchFailed("stat", name);
}

absl::StatusOr<std::string> Scratch::Contents(const char* name) const {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, Open(name, O_RDONLY));
  std::string contents(kScratchReadBytes, '\0');
  const ssize_t read = ::pread(fd.get(), contents.data(), contents.size(), 0);
  if (read < 0) return ScratchFailed("read", name);
  contents.resize(static_cast<size_t>(read));
  return contents;
}

absl::Status Scratch::NextTimestamp() const {
  const auto stamp = [this]() -> absl::StatusOr<timespec> {
    IOBENCH_RETURN_IF_ERROR(Write(kClock, "tick"));
    IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, Look(kClock));
    return seen.st_mtim;
  };
  IOBENCH_ASSIGN_OR_RETURN(const timespec first, stamp());
  for (int look = 0; look < kLooksForTimestamp; ++look) {
    const timespec sleep = {.tv_sec = 0, .tv_nsec = 5'000'000};
    ::nanosleep(&sleep, nullptr);
    IOBENCH_ASSIGN_OR_RETURN(const timespec now, stamp());
    if (now.tv_sec != first.tv_sec || now.tv_nsec != first.tv_nsec) break;
  }
  return absl::OkStatus();
}

}  // namespace iobench
