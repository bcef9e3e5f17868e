// Fills file systems with files of incompressible data (--fill).
#ifndef WORKER_DATA_DIRECTORY_SPACE_FILLER_H_
#define WORKER_DATA_DIRECTORY_SPACE_FILLER_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Performs one request. Its files are named after its lanes (FillFileName), are at most 16 GiB large, and are on stable
// storage when Fill returns; they stay after an error too, for the run to remove with its other data.
class SpaceFiller {
 public:
  // Writes with one thread for each lane, which does one target after the other, and blocks until all have ended.
  // Returns the bytes written at each target. Cancelled: by Cancel. FailedPrecondition: IsHeldByAnother, or the
  // manifest cannot account for the files. Otherwise the first error of any lane, after which the others stop:
  // ResourceExhausted if the file system or a quota has no room for them. Call it once.
  absl::StatusOr<v1::SpaceFilled> Fill(const v1::FillSpace& request);

  // Any thread may call these at any time. After Cancel, each lane ends with the MiB that it is writing.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  uint64_t written_bytes() const { return written_bytes_.load(std::memory_order_relaxed); }

 private:
  struct LaneShare;
  absl::Status FillAll(const v1::FillSpace& request, LaneShare& share);
  absl::Status FillTarget(const v1::FillSpace& request, int target, LaneShare& share);
  bool must_stop() const {
    return cancelled_.load(std::memory_order_relaxed) || failed_.load(std::memory_order_relaxed);
  }

  std::atomic<bool> cancelled_{false};
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> written_bytes_{0};
};

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_SPACE_FILLER_H_
