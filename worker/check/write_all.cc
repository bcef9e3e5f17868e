#include "worker/check/write_all.h"

#include <unistd.h>

#include <cerrno>

#include "absl/functional/function_ref.h"

namespace iobench {
namespace {

// `write` gets what is left, and how many bytes came before it.
int RepeatUntilWritten(std::span<const std::byte> bytes, size_t* written_bytes,
                       absl::FunctionRef<ssize_t(std::span<const std::byte>, size_t)> write) {
  size_t done = 0;
  int error = 0;
  while (done < bytes.size() && error == 0) {
    const ssize_t written = write(bytes.subspan(done), done);
    if (written > 0) {
      done += static_cast<size_t>(written);
    } else if (written == 0) {
      error = EIO;
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (written_bytes != nullptr) *written_bytes = done;
  return error;
}

}  // namespace

int WriteAt(int fd, std::span<const std::byte> bytes, uint64_t offset, size_t* written_bytes) {
  return RepeatUntilWritten(bytes, written_bytes, [&](std::span<const std::byte> left, size_t done) {
    return ::pwrite(fd, left.data(), left.size(), static_cast<off_t>(offset + done));
  });
}

int Append(int fd, std::span<const std::byte> bytes) {
  return RepeatUntilWritten(bytes, nullptr, [&](std::span<const std::byte> left, size_t) {
    return ::write(fd, left.data(), left.size());
  });
}

}  // namespace iobench
