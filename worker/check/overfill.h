// Writes more than there is room for, to see whether the error is reported and nothing that was acknowledged is lost.
#ifndef WORKER_CHECK_OVERFILL_H_
#define WORKER_CHECK_OVERFILL_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

inline constexpr uint64_t kMaxOverfillBytes = uint64_t{1} << 40;

// Creates the file, writes `bytes` to it through memory with an fsync after every 16 MiB, closes it, reads back what an
// fsync had acknowledged, and removes it. The first call that fails ends the writing; it is the result, not an error.
// Errors: the file cannot be created, opened again, read or removed. Cancelled: `cancelled` was set.
absl::Status Overfill(int directory_fd, const std::string& name, const std::string& path, uint64_t bytes,
                      const std::atomic<bool>& cancelled, v1::Overfilled& result);

}  // namespace iobench

#endif  // WORKER_CHECK_OVERFILL_H_
