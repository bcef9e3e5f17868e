// Takes memory away from a client (--eat-memory), so that less is left for its caches.
#ifndef WORKER_CLIENT_EATEN_MEMORY_H_
#define WORKER_CLIENT_EATEN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// Memory that is in use until this object is destroyed. Movable; not thread-safe.
class EatenMemory {
 public:
  // Touches all pages, and locks them if the process may (RLIMIT_MEMLOCK, CAP_IPC_LOCK). Blocks for about 0.3 s per
  // GiB. InvalidArgument: not 1 to 95 percent. PermissionDenied: more than this worker's --max-memory.
  // ResourceExhausted: this much is not available; nothing is taken then.
  static absl::StatusOr<EatenMemory> Eat(uint32_t percent);

  // Returns the bytes to take, with the errors of Eat. `total_bytes`, `available_bytes`: of the host, or of a
  // smaller limit of the worker's control groups; `max_bytes`: of --max-memory, 0: no limit. Pure.
  static absl::StatusOr<uint64_t> BytesToEat(uint32_t percent, uint64_t total_bytes, uint64_t available_bytes,
                                             uint64_t max_bytes);

  EatenMemory(EatenMemory&& other) noexcept;
  EatenMemory& operator=(EatenMemory&& other) noexcept;
  ~EatenMemory();

  uint64_t bytes() const { return bytes_; }
  uint32_t percent() const { return percent_; }
  // Returns what was done, for display: "locked 8 GiB of 16 GiB".
  std::string ToText() const;

 private:
  EatenMemory(uint64_t bytes, uint32_t percent) : bytes_(bytes), percent_(percent) {}
  absl::Status Take();

  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
  uint32_t percent_ = 0;
  std::string not_locked_;  // why; empty: all of it is locked
};

}  // namespace iobench

#endif  // WORKER_CLIENT_EATEN_MEMORY_H_
