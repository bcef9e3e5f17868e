// Detects workers whose process answers while their work makes no progress: lanes that hang in a dead or hung mount.
#ifndef COORDINATOR_CLUSTER_STALL_WATCH_H_
#define COORDINATOR_CLUSTER_STALL_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/time.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Pure: its owner polls the workers that are being watched, notes the answers and acts on the findings. A worker makes
// progress if its ops, its bytes or, between two polls that look closely, its activity change. Workers are numbered
// from 0.
class StallWatch {
 public:
  // A worker stalls if nothing makes progress for `stall_after_ns`; 0: never. It is reported after a fifth of this.
  StallWatch(uint32_t worker_count, int64_t stall_after_ns)
      : stall_after_ns_(stall_after_ns), workers_(worker_count) {}

  // Begin: the worker has something to do from now on. End: it has finished it, or is lost.
  void Begin(uint32_t worker) {
    workers_[worker] = Worker();
    workers_[worker].watched = true;
  }
  void End(uint32_t worker, CoordTime now) {
    NoteStill(worker, now);
    workers_[worker] = Worker();
  }
  bool watches(uint32_t worker) const { return workers_[worker].watched; }

  enum class Finding { kNone, kWarn, kStalled };
  // Takes the answer to a poll. kWarn: to be reported, once until it makes progress again. kStalled: to be given up.
  // The time between two answers counts as at most kLongestStepNs: if it was longer, this process or the worker itself
  // was stopped. `stall_after_ns`: in place of the constructor's.
  static constexpr int64_t kLongestStepNs = 15 * kNanosPerSecond;
  Finding Note(uint32_t worker, const v1::Progress& progress, CoordTime now,
               std::optional<int64_t> stall_after_ns = std::nullopt);

  // The next poll must look closely, because the counters alone do not show that the worker makes progress.
  bool looks_closely(uint32_t worker) const {
    return workers_[worker].watched && workers_[worker].looks_closely;
  }
  int64_t still_ns(uint32_t worker) const { return workers_[worker].still_ns; }

  // A time without progress that is over, also because the work is. Only times of kShortestStillNs or more, in which
  // polls that looked closely agreed.
  struct Still {
    uint32_t worker = 0;
    CoordTime begin, end;  // the answers around it, so up to two polls more than it lasted
    std::string where;     // WorkText of its last answer
  };
  static constexpr int64_t kShortestStillNs = 3 * kNanosPerSecond;
  // Returns those since the last call.
  std::vector<Still> TakeStills() { return std::exchange(stills_, {}); }
  int64_t stall_after_ns() const { return stall_after_ns_; }

 private:
  struct Worker {
    bool watched = false;
    bool looks_closely = false;
    bool told = false;
    std::optional<CoordTime> noted;
    uint64_t ops = 0, bytes = 0;
    std::optional<uint64_t> activity;
    int64_t still_ns = 0;
    CoordTime still_from;
    bool confirmed = false;  // activities were compared, and were the same
    std::string where;
  };

  void NoteStill(uint32_t number, CoordTime end);

  const int64_t stall_after_ns_;
  std::vector<Worker> workers_;
  std::vector<Still> stills_;
};

// Returns "lane 3 in its ops, pwrite64 at offset 4096 of /mnt/a/lane-000003.0, after 17 ops; lane 4 …" for people: the
// threads at work, at most two. Empty: none is known.
std::string WorkText(const v1::Progress& progress);

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_STALL_WATCH_H_
