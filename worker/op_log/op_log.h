// The log of a lane's ops with offset, latency and size, in the format of IOzone's -Q.
#ifndef WORKER_OP_LOG_OP_LOG_H_
#define WORKER_OP_LOG_OP_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/clock.h"
#include "worker/loop/op_hook.h"

namespace iobench {

// 16 bytes per op. Latencies are whole microseconds, as in the file; the longest is 71 minutes.
struct LoggedOp {
  uint64_t offset = 0;
  uint32_t length = 0;
  uint32_t latency_us = 0;
  bool operator==(const LoggedOp&) const = default;
};

// The op hook of a lane that logs its ops, with the latencies from which all other figures are computed. Each lane has
// its own, used on its thread. It wraps the lane's other op hook.
class OpLog final : public OpHook {
 public:
  // `inner` may be null; otherwise it must outlive the log. `scale` converts tick differences to ns.
  OpLog(OpHook* inner, const TickScale& scale) : inner_(inner), scale_(scale) {}

  // Call it before the lane's ops: reserves the memory for `op_count` of them; further ops are left out.
  // ResourceExhausted: not enough memory.
  absl::Status Reserve(size_t op_count);
  // The following ops are not measured, and not logged.
  void EndMeasured() { measured_ = false; }

  void Before(const Op& next) override;
  void NotBegun() override;
  void After(const Op& done, const std::byte* data, OpTimes times) override;

  // The ops that succeeded, in the order in which they ended.
  std::span<const LoggedOp> ops() const { return ops_; }
  uint64_t left_out_count() const { return left_out_count_; }
  // Frees the memory of the ops.
  void Clear() { ops_ = {}; }

 private:
  OpHook* const inner_;
  const TickScale scale_;
  std::vector<LoggedOp> ops_;
  uint64_t left_out_count_ = 0;
  bool measured_ = true;
};

// The last line of the log of a run's only lane.
struct LoggedTimes {
  double user_s = 0, system_s = 0;  // of the lane's thread in its timed region
  double real_s = 0;                // of the timed region
};

// Returns the path of such a file of this worker: in WorkerRights.log_directory. An absolute name stays as it is.
std::string OpLogPath(const std::string& name);

// Checks whether AppendOpLog could write OpLogPath(name), without creating or changing it. AlreadyExists: it exists and
// is not such a log, or is a link. PermissionDenied: also if this worker writes no such files (--allow log-files).
// Otherwise the status of the errno.
absl::Status CheckOpLog(const std::string& name);

// Appends the heading and a line for each op, as IOzone does for each test, creates the file if it is missing, and
// syncs it to disk. `times`: the last line; nullopt: none. Errors as above.
absl::Status AppendOpLog(const std::string& file, std::span<const LoggedOp> ops,
                         const std::optional<LoggedTimes>& times);

}  // namespace iobench

#endif  // WORKER_OP_LOG_OP_LOG_H_
