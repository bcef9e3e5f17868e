#include "worker/op_log/op_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/own_files/own_file.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

constexpr std::string_view kHeading = "Offset in kBytes   Latency in microseconds  Transfer size in bytes\n";
// What identifies a log. In IOzone's own, the blanks before "Transfer" differ between tests.
constexpr std::string_view kHeadingBegin = "Offset in kBytes   Latency in microseconds";
constexpr size_t kWriteAtOnceBytes = 1 << 20;

std::string About(const std::string& file) {
  return absl::StrCat("offset/latency file ", file);
}

absl::Status NotOurs(const std::string& file) {
  return absl::AlreadyExistsError(absl::StrCat(
      About(file), " (-Q) exists and is not such a file, so nothing is added to it: remove it, or ",
      "start the worker in another directory"));
}

// Returns whether the file is a log. OK also for an empty file.
absl::Status CheckIsLog(int fd, const std::string& file) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return ErrnoStatus(About(file), errno);
  if (!S_ISREG(facts.st_mode)) return NotOurs(file);
  if (facts.st_size == 0) return absl::OkStatus();
  std::string head(kHeadingBegin.size(), '\0');
  const ssize_t got = ::pread(fd, head.data(), head.size(), 0);
  if (got < 0) return ErrnoStatus(About(file), errno);
  head.resize(static_cast<size_t>(got));
  return head == kHeadingBegin ? absl::OkStatus() : NotOurs(file);
}

absl::Status About(const std::string& file, const absl::Status& status) {
  const int error = ErrnoOf(status);
  return error != 0 ? ErrnoStatus(About(file), error) : Annotate(status, About(file));
}

absl::StatusOr<UniqueFd> OpenLog(const std::string& file) {
  const absl::StatusOr<OwnFile> place = OwnFile::At(file);
  if (!place.ok()) return About(file, place.status());
  // O_NONBLOCK: a FIFO is not waited for.
  UniqueFd fd(::openat(place->directory().fd(), place->name().c_str(),
                       O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid() && errno == ELOOP) return NotOurs(file);
  if (!fd.valid()) return ErrnoStatus(About(file), errno);
  IOBENCH_RETURN_IF_ERROR(CheckIsLog(fd.get(), file));
  return fd;
}

// Another lane, or a worker on another host, may create it at the same time.
absl::StatusOr<UniqueFd> OpenOrCreateLog(const std::string& file) {
  const absl::StatusOr<OwnFile> place = OwnFile::At(file);
  if (!place.ok()) return About(file, place.status());
  absl::StatusOr<UniqueFd> created = place->CreateNew(kResultMode, O_APPEND);
  if (created.ok()) return created;
  return absl::IsAlreadyExists(created.status()) ? OpenLog(file) : About(file, created.status());
}

absl::Status WriteAll(int fd, const std::string& file, std::string& text) {
  for (size_t written = 0; written < text.size();) {
    const ssize_t moved = ::write(fd, text.data() + written, text.size() - written);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus(About(file), errno);
    written += static_cast<size_t>(moved);
  }
  text.clear();
  return absl::OkStatus();
}

}  // namespace

absl::Status OpLog::Reserve(size_t op_count) {
  try {
    ops_.reserve(op_count);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for the latencies (-Q) of ", op_count,
                                                     " ops: use a smaller -s or fewer lanes"));
  }
  return absl::OkStatus();
}

void OpLog::Before(const Op& next) {
  if (inner_ != nullptr) inner_->Before(next);
}

void OpLog::NotBegun() {
  if (inner_ != nullptr) inner_->NotBegun();
}

void OpLog::After(const Op& done, const std::byte* data, OpTimes times) {
  if (measured_) {
    const uint64_t latency_us = (scale_.DurationNs(times.end.value - times.begin.value) + 500) / 1000;
    if (ops_.size() < ops_.capacity()) {
      ops_.push_back({.offset = done.offset,
                      .length = done.length,
                      .latency_us = static_cast<uint32_t>(
                          std::min<uint64_t>(latency_us, std::numeric_limits<uint32_t>::max()))});
    } else {
      ++left_out_count_;
    }
  }
  if (inner_ != nullptr) inner_->After(done, data, times);
}

std::string OpLogPath(const std::string& name) {
  std::filesystem::path directory = RightsOfThisWorker().log_directory;
  std::error_code ignored;  // if the directory was removed: use the bare name, which cannot be opened either
  if (directory.empty()) directory = std::filesystem::current_path(ignored);
  return (directory / name).string();
}

absl::Status CheckOpLog(const std::string& name) {
  IOBENCH_RETURN_IF_ERROR(CheckAllowed(WorkerAction::kLogFiles));
  const std::string file = OpLogPath(name);
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) == 0) return OpenLog(file).status();
  if (errno != ENOENT) return ErrnoStatus(About(file), errno);
  const std::string parent = std::filesystem::path(file).parent_path().string();
  const std::string directory = parent.empty() ? std::string(1, '.') : parent;
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return ErrnoStatus(absl::StrCat(About(file), " (-Q) cannot be created: directory ", directory), errno);
  }
  const absl::StatusOr<OwnDirectory> place = OwnDirectory::Open(directory);
  return About(file, place.ok() ? place->Check() : place.status());
}

absl::Status AppendOpLog(const std::string& file, std::span<const LoggedOp> ops,
                         const std::optional<LoggedTimes>& times) {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, OpenOrCreateLog(file));
  std::string text(kHeading);
  for (const LoggedOp& op : ops) {
    absl::StrAppendFormat(&text, "%10d %10d %10d\n", op.offset / 1024, op.latency_us, op.length);
    if (text.size() >= kWriteAtOnceBytes) IOBENCH_RETURN_IF_ERROR(WriteAll(fd.get(), file, text));
  }
  if (times.has_value()) {
    absl::StrAppendFormat(&text, "\nSystem time %10.3f User time %10.3f Real %10.3f  (seconds)\n",
                          times->system_s, times->user_s, times->real_s);
  }
  IOBENCH_RETURN_IF_ERROR(WriteAll(fd.get(), file, text));
  // An NFS client reports only now that there was no space for data that it had accepted.
  if (::fsync(fd.get()) != 0) return ErrnoStatus(absl::StrCat("fsync of ", About(file)), errno);
  return absl::OkStatus();
}

}  // namespace iobench
