#include "worker/check/overfill.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/check/write_all.h"

namespace iobench {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr uint64_t kFsyncEveryBytes = 16 << 20;

// Different at every offset, and never zeros.
void MakePiece(uint64_t offset, std::vector<uint64_t>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = (offset / sizeof(uint64_t) + i + 1) * 0x9e3779b97f4a7c15;
  }
}

void RecordFailure(const char* call, int error, v1::Overfilled& result) {
  if (!result.failed_call().empty()) return;
  result.set_failed_call(call);
  result.set_errno_value(error);
}

// Returns false after the first call that failed.
bool WriteAndFlush(int fd, uint64_t bytes, const std::atomic<bool>& cancelled, v1::Overfilled& result) {
  std::vector<uint64_t> words(kPieceBytes / sizeof(uint64_t));
  for (uint64_t offset = 0; offset < bytes && !cancelled;) {
    MakePiece(offset, words);
    const size_t length = std::min<uint64_t>(kPieceBytes, bytes - offset);
    size_t written_bytes = 0;
    const int error = WriteAt(fd, std::as_bytes(std::span(words)).first(length), offset, &written_bytes);
    result.set_written_bytes(result.written_bytes() + written_bytes);
    if (error != 0) {
      RecordFailure("write", error, result);
      return false;
    }
    offset += length;
    if (offset % kFsyncEveryBytes != 0 && offset != bytes) continue;
    if (::fsync(fd) != 0) {
      RecordFailure("fsync", errno, result);
      return false;
    }
    result.set_flushed_bytes(offset);
  }
  return true;
}

// Counts the bytes of flushed pieces that differ from what was written.
absl::Status ReadBack(int fd, const std::string& path, v1::Overfilled& result) {
  // What this client has in memory would not show what the server has.
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  std::vector<uint64_t> words(kPieceBytes / sizeof(uint64_t));
  std::vector<char> seen(kPieceBytes);
  uint64_t bad_bytes = 0;
  for (uint64_t offset = 0; offset < result.flushed_bytes(); offset += kPieceBytes) {
    MakePiece(offset, words);
    const size_t length = std::min<uint64_t>(kPieceBytes, result.flushed_bytes() - offset);
    size_t got = 0;
    while (got < length) {
      const ssize_t read = ::pread(fd, seen.data() + got, length - got, static_cast<off_t>(offset + got));
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) return ErrnoStatus(absl::StrCat("read ", path), errno);
      if (read == 0) break;
      got += static_cast<size_t>(read);
    }
    if (got < length || std::memcmp(seen.data(), words.data(), length) != 0) bad_bytes += length;
  }
  result.set_bad_bytes(bad_bytes);
  return absl::OkStatus();
}

}  // namespace

absl::Status Overfill(int directory_fd, const std::string& name, const std::string& path, uint64_t bytes,
                      const std::atomic<bool>& cancelled, v1::Overfilled& result) {
  UniqueFd fd(
      ::openat(directory_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    if (errno != EDQUOT && errno != ENOSPC) return ErrnoStatus(absl::StrCat("create ", path), errno);
    RecordFailure("open", errno, result);
    return absl::OkStatus();
  }
  const absl::Cleanup remover = [&] { ::unlinkat(directory_fd, name.c_str(), 0); };
  WriteAndFlush(fd.get(), bytes, cancelled, result);
  if (::close(fd.Release()) != 0) RecordFailure("close", errno, result);
  if (cancelled) return absl::CancelledError("ended before everything was written");
  const UniqueFd reader(::openat(directory_fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!reader.valid()) return ErrnoStatus(absl::StrCat("open ", path), errno);
  return ReadBack(reader.get(), path, result);
}

}  // namespace iobench
