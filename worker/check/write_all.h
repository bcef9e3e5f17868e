// Writes of more bytes than one call may take.
#ifndef WORKER_CHECK_WRITE_ALL_H_
#define WORKER_CHECK_WRITE_ALL_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace iobench {

// Each function repeats its call until all bytes are written, and after EINTR. Returns 0 or the errno of the call that
// failed (EIO if it wrote nothing). Blocks as long as the file system does.
//
// pwrite(2). `written_bytes`, unless null: the bytes written, even if a later call failed.
int WriteAt(int fd, std::span<const std::byte> bytes, uint64_t offset, size_t* written_bytes = nullptr);
// write(2), to a descriptor that is open with O_APPEND.
int Append(int fd, std::span<const std::byte> bytes);

}  // namespace iobench

#endif  // WORKER_CHECK_WRITE_ALL_H_
