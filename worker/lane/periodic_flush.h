// Flushes what a lane writes after every so many of its writes (--fsync-every).
#ifndef WORKER_LANE_PERIODIC_FLUSH_H_
#define WORKER_LANE_PERIODIC_FLUSH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "common/model/op.h"

namespace iobench {

// Each lane has its own, used on its thread. Does not allocate after the constructor.
class PeriodicFlush {
 public:
  // `flush` flushes one of the lane's `file_count` files, by its index. REQUIRES: every_ops > 0.
  PeriodicFlush(uint64_t every_ops, size_t file_count, std::function<absl::Status(uint32_t object)> flush);

  // If `done` is the last of every_ops writes, flushes each file that they wrote to, once.
  void After(const Op& done);

  const absl::Status& status() const { return status_; }  // of the first flush that failed

 private:
  const uint64_t every_ops_;
  const std::function<absl::Status(uint32_t object)> flush_;
  uint64_t unflushed_ops_ = 0;
  std::vector<bool> is_unflushed_;     // by file
  std::vector<uint32_t> unflushed_;    // the files that were written to since the last flush
  absl::Status status_;
};

}  // namespace iobench

#endif  // WORKER_LANE_PERIODIC_FLUSH_H_
